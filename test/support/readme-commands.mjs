/**
 * The README as a newcomer reads it: its commands in their order, and its lock. Plain JavaScript without packages, because a
 * container that has nothing but Node.js, npm and git runs it, too.
 */

/** What stands for the repository's address. */
export const ADDRESS = 'REPOSITORY_URL';

/**
 * @typedef {{ command: string, section: string }} ReadmeCommand `section` is the heading above it
 * @param {string} readme
 * @returns {ReadmeCommand[]} each line of each block that is marked `sh`
 */
export function commandsOf(readme) {
  return blocksOf(readme, 'sh').flatMap(({ text, section }) =>
    text
      .split('\n')
      .map((line) => line.replace(/\s+#.*$/, '').trim())
      .filter((line) => line !== '')
      .map((command) => ({ command, section })),
  );
}

/** The text of the lock that the README shows. Throws where there is none, or more than one. */
export function lockOf(readme) {
  const [lock, ...more] = blocksOf(readme, 'ts').filter(({ text }) => text.includes('defineLock('));
  if (lock === undefined || more.length > 0) throw new Error('README.md must show one lock');
  return lock.text;
}

/** The words of `docker run …` that the README names for macOS, up to the image and its command. */
export function dockerCommandOf(readme) {
  const [found, ...more] = [...readme.matchAll(/`(docker run [^`]+)`/g)].map(([, command]) => command);
  if (found === undefined || more.length > 0) throw new Error('README.md must name one docker command');
  return found.split(' ');
}

/** Fenced blocks in one language, with the heading that each stands below. */
function blocksOf(text, language) {
  const blocks = [];
  let section = '';
  let block;
  for (const line of text.split('\n')) {
    if (block === undefined) {
      const [, heading] = /^#+ (.*)$/.exec(line) ?? [];
      if (heading !== undefined) section = heading;
      const [, opened] = /^```(\w*)$/.exec(line) ?? [];
      if (opened !== undefined) block = { language: opened, section, lines: [] };
    } else if (line === '```') {
      if (block.language === language) blocks.push({ text: `${block.lines.join('\n')}\n`, section: block.section });
      block = undefined;
    } else {
      block.lines.push(line);
    }
  }
  return blocks;
}

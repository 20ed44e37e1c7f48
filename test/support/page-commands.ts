/** The commands that the pages name: in blocks that are indented or marked `sh`, and in the text. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgsStringToArgv } from 'string-argv';
import { ROOT } from './torture.js';

export interface PageCommand {
  page: string;
  /** As it stands there, without what is said of it. */
  text: string;
  words: string[];
}

const FOLDERS = ['', 'docs', 'lock-impl/external'];
/** What is typed begins with one of these. */
const PROGRAMS = /^(npx|npm|node|git|go|docker|podman|kubectl|cp|cd|echo|chmod|python3?|mvn|cargo) /;
/** In the text, what is no whole command is a name. */
const IN_TEXT = /`((?:npx lock-torture|npm run|docker (?:run|image)|go build)\s[^`]+)`/g;

export function pageCommands(): PageCommand[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
      .map((name) => join(folder, name)),
  ).flatMap((page) =>
    commandsIn(readFileSync(join(ROOT, page), 'utf8')).map((text) => ({ page, text, words: wordsOf(text) })),
  );
}

export function commandsIn(markdown: string): string[] {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    const [, language] = /^ *```(\w*)/.exec(line) ?? [];
    if (language !== undefined) fence = fence === undefined ? language : undefined;
    else if (fence === 'sh' || (fence === undefined && line.startsWith('    '))) lines.push(line.trim());
  }
  const blocks = lines
    .join('\n')
    .replace(/ *\\\n */g, ' ')
    .split('\n')
    // What is said of it is apart.
    .map((line) => line.replace(/\s{2,}.*$|\s+# .*$/, ''));
  const prose = markdown.replace(/^ *```[\s\S]*?^ *```$/gm, '').replace(/^ {4}.*$/gm, '');
  const inText = [...prose.matchAll(IN_TEXT)].map(([, command]) => command!.replace(/\s+/g, ' '));
  return [...blocks, ...inText].flatMap((line) => line.split(' && ')).filter((command) => PROGRAMS.test(command));
}

/** Of the tool itself: what follows its name; undefined: another program's. */
export function wordsForTool({ words }: PageCommand): string[] | undefined {
  const [program, ...rest] = words;
  if (program === 'npx' && rest[0] === 'lock-torture') return rest.slice(1);
  if (program === 'npm' && rest[0] === 'run' && rest[1] === 'torture') return rest.slice(rest[2] === '--' ? 3 : 2);
  return undefined;
}

function wordsOf(command: string): string[] {
  return parseArgsStringToArgv(command);
}

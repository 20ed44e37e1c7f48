/** The README and the pages beside it: short, in the promised order, true to what they are made from, and with links that lead somewhere. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readmePage } from '../../../cli/docs/readme-page.js';
import { ADDRESS, commandsOf, dockerCommandOf, lockOf } from '../../support/readme-commands.mjs';
import { ROOT } from '../../support/torture.js';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const README = read('README.md');
const PICTURE = 'docs/report.png';

describe('README.md', () => {
  it('has at most 1,000 words', () => {
    expect(README.match(/\S+/g)!.length).toBeLessThanOrEqual(1_000);
  });

  it('begins with a sentence, seven lines of a verdict and a picture; then come the sections in their order', () => {
    const [title, question] = README.split('\n\n');
    expect(title).toBe('# lock-torture');
    expect(question).toMatch(/^[A-Z][^.?\n]*\?$/);
    const [, between, verdict] = /\?\n\n([^`]*)\n\n```\n([\s\S]*?)\n```\n/.exec(README)!;
    expect(between).toBe('<!-- a verdict -->');
    expect(verdict!.split('\n')).toHaveLength(7);
    const marks = ['```', `](${PICTURE})`, '## '].map((mark) => README.indexOf(mark));
    expect(marks).toEqual([...marks].sort((a, b) => a - b));
    expect([...README.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)).toEqual([
      ...['Try it', 'Your lock', 'Whose mistake', 'In CI, every night', 'Why believe it', 'Limits', 'Tests', 'More'],
    ]);
  });

  it("has today's verdict of the run that it shows; if not, run: npm run docs", async () => {
    expect(await readmePage(join(ROOT, 'README.md'))).toBe(README);
  });

  it('has a small picture of a report', () => {
    const png = readFileSync(join(ROOT, PICTURE));
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect(statSync(join(ROOT, PICTURE)).size).toBeLessThan(150_000);
  });

  it('says once where the repository is, and once that npm does not have it', () => {
    expect(README.split(ADDRESS)).toHaveLength(2);
    expect(README.match(/\bnpm yet\b/g)).toHaveLength(1);
  });

  it('clones first, and has nothing typed that another page would have to explain', () => {
    const [clone, ...others] = commandsOf(README).map(({ command }) => command);
    expect(clone).toBe(`git clone ${ADDRESS} lock-torture && cd lock-torture`);
    expect(others.length).toBeGreaterThan(4);
    for (const command of others) expect(command).toMatch(/^npm (test|run [\w]+)\b/);
  });

  it('adds no privilege to the container that it names', () => {
    expect(dockerCommandOf(README)).toEqual(['docker', 'run', '--rm', '-it', 'node:24', 'bash']);
  });

  it('shows a lock of twelve lines', () => {
    const [, lock] = lockOf(README).split('\n\n');
    expect(lock!.trim().split('\n')).toHaveLength(12);
  });
});

it('CHANGELOG.md tells 0.1.0 in at most 40 bullets', () => {
  const [, first] = read('CHANGELOG.md').split(/^## 0\.1\.0$/m);
  const bullets = first!.match(/^- /gm)!.length;
  expect(bullets).toBeGreaterThan(20);
  expect(bullets).toBeLessThanOrEqual(40);
});

it('.nvmrc names a Node that is taken', () => {
  const { engines } = JSON.parse(read('package.json'));
  expect(`>=${read('.nvmrc').trim()}`).toBe(engines.node);
});

/** Without code, tables and what is generated; one item or paragraph after the other. */
function sentencesOf(markdown: string): string[] {
  const prose = markdown
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/^<!-- (?!end)[\s\S]*?<!-- end of .*$/gm, '')
    .replace(/^(?: {4}|\||#|!\[).*$/gm, '')
    .replace(/\]\([^)]*\)/g, ']');
  return prose
    .split(/\n\s*\n|^- /m)
    .flatMap((paragraph) => paragraph.replace(/\s+/g, ' ').split(/(?<=[.?!:]\)?)\s+(?=[`*(["A-Z])/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\w/.test(sentence) && !sentence.includes(' · '));
}
const wordsOf = (sentence: string) => sentence.match(/[\w`'/-]+/g)?.length ?? 0;

const SHORT = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...['install', 'running', 'results', 'ci'].map((n) => `docs/${n}.md`),
];
it.each(SHORT)('%s has short sentences', (page) => {
  const lengths = sentencesOf(read(page))
    .map(wordsOf)
    .sort((a, b) => a - b);
  expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(18);
  expect(sentencesOf(read(page)).filter((sentence) => wordsOf(sentence) > 40)).toEqual([]);
});

/** As GitHub makes it of a heading. */
function slugOf(heading: string): string {
  return heading
    .replace(/`|\*\*|\[|\]\([^)]*\)/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

const anchors = new Map<string, Set<string>>();
function anchorsOf(page: string): Set<string> {
  const known = anchors.get(page);
  if (known) return known;
  const text = read(page).replace(/^```[\s\S]*?^```$/gm, '');
  const made = new Set([
    ...[...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => slugOf(heading!)),
    ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!),
  ]);
  anchors.set(page, made);
  return made;
}

const PAGES = ['', 'docs', 'lock-impl/external'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);
it.each(PAGES)('the links of %s lead somewhere', (page) => {
  const text = read(page).replace(/^```[\s\S]*?^```$/gm, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^[a-z]+:/.test(link));
  const broken = links.filter((link) => {
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? page : relative(ROOT, join(ROOT, dirname(page), file));
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor);
  });
  expect(broken).toEqual([]);
});

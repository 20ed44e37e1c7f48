/** What `docs/style.md` asks for, measured in the texts that it holds for by now. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adapterFor } from '../../../cli/init/adapter.js';
import { findLock } from '../../../cli/init/find-lock.js';
import { readModule } from '../../../cli/init/read-source.js';
import { EXAMPLE, filesFor } from '../../../cli/init/templates.js';
import { toolCommands } from '../../../cli/main.js';
import { TERMS } from '../../../reports/page/terms.js';
import { BANNED, measured, sentencesIn, sentencesOfMarkdown, wordsIn } from '../../support/prose.js';
import { ROOT } from '../../support/torture.js';

/** A page that is written or rewritten is added here. */
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/causes.md',
  'docs/install.md',
  'docs/style.md',
  'docs/results.md',
  'docs/running.md',
  'docs/write-your-own-lock.md',
];
const MEDIAN_MAX = 18;
const PERCENTILE_95_MAX = 40;

const textOf = (page: string) => readFileSync(join(ROOT, page), 'utf8');
const commands = toolCommands([], () => {}).commands;
const TEXTS: Record<string, () => string[]> = {
  ...Object.fromEntries(PAGES.map((page) => [page, () => sentencesOfMarkdown(textOf(page))])),
  'words explained in reports': () => Object.values(TERMS).flatMap(({ text }) => sentencesIn(text)),
  '--help': () =>
    commands
      .flatMap((command) => [command.description(), ...command.options.map(({ description }) => description)])
      .flatMap(sentencesIn),
  'what init writes': () => writtenByInit().flatMap(commentsIn).flatMap(sentencesIn),
};

/** For one lock on each deployment, and what is to be checked in it. */
function writtenByInit(): string[] {
  const project = {
    ...({ typescript: true, esm: true, runner: 'vitest', manager: 'npm', locked: true, inRepository: '' } as const),
    ...{ packages: [], packageJson: '{}', gitignore: '' },
  };
  const own = 'class L { acquire(key) { return client.set(key); } release(key, token) {} }\nmodule.exports = { L };';
  const lock = findLock(readModule(own.replace('{ acquire', '{ constructor(clients, logger) {} acquire')))!;
  return ['single', 'redlock', 'sentinel'].flatMap((topology) => {
    const options = {
      lock,
      file: 'lock.js',
      importedAs: './lock.js',
      topology,
      client: 'ioredis',
      environment: [],
    } as const;
    const { text, checks } = adapterFor({ ...options, typescript: true, redlockMajor: 5 });
    const loses = topology === 'sentinel' ? 'Redis answers before its replicas know.' : undefined;
    const files = filesFor(project, { adapter: { name: 'lock', text }, topology, loses, leaseMs: 2_000 });
    return [...files.map((file) => file.text), EXAMPLE, `// ${checks.join(' ')}`];
  });
}

/** Of one text; lines that follow each other are one. */
function commentsIn(text: string): string[] {
  const lines = text.split('\n').map((line) => /^ *(?:\/\/|#|\/\*\*) (.*?)(?: \*\/)?$/.exec(line)?.[1] ?? '');
  return lines.join('\n').split(/\n\n+/);
}

it.each(Object.entries(TEXTS))('%s is written as docs/style.md asks', (_, sentences) => {
  const { sentences: count, median, percentile95, banned } = measured(sentences());
  expect(banned).toEqual([]);
  expect(median).toBeLessThanOrEqual(MEDIAN_MAX);
  expect(percentile95).toBeLessThanOrEqual(PERCENTILE_95_MAX);
  // It has read the text.
  expect(count).toBeGreaterThan(5);
});

describe('the measure', () => {
  it('counts the words of sentences, and none of code, tables, headings and links', () => {
    const page = `# A heading with words

A sentence of \`npm run torture -- --topology sentinel\` and a [link](https://example.org/a/b). Another one!

\`\`\`sh
npm run nothing. Of this. Counts.
\`\`\`

| one | two |
| --- | --- |

- The first item
  goes on here
- the second: It has two sentences
`;
    const sentences = sentencesOfMarkdown(page);
    expect(sentences.map(wordsIn)).toEqual([7, 2, 6, 2, 4]);
  });

  it('finds each banned pattern', () => {
    const examples = [
      'What was stored is gone.',
      'Free is a key when every hold was over.',
      'It is granted, be it lost or not.',
      'Memoizes once for a history, say, of a run.',
      'It is not unlike the other.',
      'The check goes by the record.',
      'The finding is told as unexplained.',
      'A server that has it answers.',
      'The run comes to three findings.',
      'The key stays for ever.',
    ];
    const found = BANNED.map(({ pattern }) => examples.filter((example) => pattern.test(example)));
    expect(found).toEqual(examples.map((example) => [example]));
    expect(measured(['What is a lease?', 'The lease ends after 2 s.']).banned).toEqual([]);
  });
});

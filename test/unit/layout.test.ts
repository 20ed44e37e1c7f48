/** The import rules and house rules that the layout promises (docs/ARCHITECTURE.md): broken ones are found here. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDERS = [
  'harness',
  'workloads',
  'nemesis',
  'checkers',
  'lock-impl',
  'reports',
  'docker',
  'selftest',
  'scenarios',
  'matrix',
];

/** What a folder may import beside itself: files, without their ending. `harness/cli` wires everything. */
const MAY_IMPORT: Record<string, string[]> = {
  harness: [],
  workloads: ['harness/vocabulary/api'],
  nemesis: ['harness/vocabulary/api'],
  checkers: ['harness/vocabulary/api', 'harness/record/history-table'],
  'lock-impl': ['harness/vocabulary/api'],
  reports: ['harness/vocabulary/api', 'harness/record/history-table'],
  selftest: ['harness/vocabulary/api'],
  scenarios: ['harness/vocabulary/api'],
  matrix: ['harness/vocabulary/api'],
  docker: ['harness/vocabulary/api'],
};

interface Source {
  path: string;
  text: string;
}

function sources(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: relative(ROOT, path), text: readFileSync(path, 'utf8') }));
}

function forbiddenImports({ path, text }: Source): string[] {
  const folder = path.split('/')[0]!;
  if (path.startsWith('harness/cli/')) return [];
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
    .map((match) => relative(ROOT, resolve(ROOT, dirname(path), match[1]!)).replace(/\.js$/, ''))
    .filter((target) => !target.startsWith(`${folder}/`) && !MAY_IMPORT[folder]!.includes(target))
    .map((target) => `${path} imports ${target}`);
}

/** Code without comments and strings, roughly: enough to look for calls. */
function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '');
}

describe('import rules', () => {
  test.each(FOLDERS)('%s imports only what it may', (folder) => {
    expect(sources(folder).flatMap(forbiddenImports)).toEqual([]);
  });

  test('a forbidden import would be found', () => {
    const text = "import { x } from '../nemesis/index.js';";
    expect(forbiddenImports({ path: 'checkers/some.ts', text })).toEqual(['checkers/some.ts imports nemesis/index']);
  });
});

test('what is compiled is every folder: set-up looks for changes nowhere else', () => {
  const { include } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as { include: string[] };
  expect(include.toSorted()).toEqual([...FOLDERS, 'bench'].toSorted());
});

describe('time and randomness are parameters', () => {
  const READS_TIME =
    /\b(setTimeout|setInterval|Date\.now|new Date\(\)|Math\.random|performance\.now|process\.hrtime)\b/;
  /** Where the machine's clocks are read: the runtimes, the lock client's own clock, and what runs outside of any run. */
  const MAY = [
    'harness/runtimes/',
    'docker/',
    'harness/runtimes/process-time.ts',
    'harness/cli/',
    'harness/setup/',
    'harness/machine/doctor.ts',
    'harness/exclusive.ts',
    'harness/machine/redis-binary.ts',
    'harness/machine/clock-shim.ts',
    // Runs in a reader's browser, long after.
    'reports/browser/',
  ];

  test('nobody else reads a clock or draws a number', () => {
    const found = FOLDERS.flatMap(sources)
      .filter(({ path }) => !MAY.some((allowed) => path.startsWith(allowed)))
      .filter(({ text }) => READS_TIME.test(code(text)))
      .map(({ path }) => path);
    expect(found).toEqual([]);
  });
});

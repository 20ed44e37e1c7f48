/** The import rules and house rules that the layout promises (docs/ARCHITECTURE.md): broken ones are found here. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LONGEST } from '../support/longest.js';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Every room of the project, from foundation to roof: a file imports from its own room and from rooms above its own in this
 * list, type imports included. A file belongs to the room with the longest matching path.
 */
const ROOMS = [
  'harness/vocabulary',
  'harness/record/schemas',
  'harness/record',
  'harness/record/import',
  'harness/record/facts',
  'harness/machine',
  'harness/runtimes',
  'harness/topologies',
  'harness/resource',
  'harness/client',
  'harness/run',
  'lock-impl',
  'workloads',
  'nemesis/levers',
  'nemesis/striking',
  'nemesis/faults',
  'nemesis',
  'scenarios',
  'selftest',
  'matrix',
  'checkers/linearizability',
  'checkers/worth',
  'checkers/causes',
  'checkers/measures',
  'checkers/exclusion',
  'checkers/liveness',
  'checkers/harm',
  'checkers/adapter',
  'checkers',
  'reports',
  'docker',
  'cli/common',
  'cli/live',
  'cli/judge',
  'cli/run',
  'cli/hunt',
  'cli/replay',
  'cli/batches',
  'cli/campaign',
  'cli/conform',
  'cli/docs',
  'cli/api',
  'cli/init',
  'cli',
];

const FOLDERS = [...new Set(ROOMS.map((room) => room.split('/')[0]!))];

/** Folders that look at nothing but the vocabulary, or the record too: what is above them in the list is not theirs to know. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'lock-impl': ['harness/vocabulary'],
  workloads: ['harness/vocabulary'],
  nemesis: ['harness/vocabulary', 'harness/record'],
  scenarios: ['harness/vocabulary'],
  selftest: ['harness/vocabulary'],
  matrix: ['harness/vocabulary'],
  checkers: ['harness/vocabulary', 'harness/record'],
  reports: ['harness/vocabulary', 'harness/record'],
  docker: ['harness/vocabulary', 'harness/runtimes', 'harness/machine'],
};

/**
 * What the sweep over holds and the linearizability checker both stand on: what is wrong here, neither sees of the other. Each that
 * decides anything has tests that use neither (test/unit/harness/record/facts/, shared-facts.test.ts first).
 */
const SHARED: readonly string[] = [
  // What a client's own stamps are worth, how much of a lease is certain, and what is known of an acquire that was given up.
  'harness/record/facts/operations.ts',
  'harness/record/facts/margin.ts',
  'harness/record/facts/lease-kind.ts',
  'harness/record/facts/given-up.ts',
  // The record in columns, read and sorted.
  'harness/record/history-columns.ts',
  'harness/record/history-table.ts',
  'harness/record/column-table.ts',
  'harness/record/columns.ts',
  'harness/record/schemas/other-services.ts',
  'harness/record/facts/by-key.ts',
  'harness/record/facts/first-index.ts',
  'harness/record/facts/nearly-sorted.ts',
  'harness/record/facts/once.ts',
  'harness/record/facts/words.ts',
];

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

const roomOf = (path: string): string | undefined =>
  ROOMS.filter((room) => path.startsWith(`${room}/`)).sort((a, b) => b.length - a.length)[0];

/** What a file imports of the project, as paths from its root. */
function importsOf({ path, text }: Source): string[] {
  return [...text.matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)].map((match) =>
    relative(ROOT, resolve(ROOT, dirname(path), match[1]!)).replace(/\.js$/, '.ts'),
  );
}

function forbiddenImports(source: Source): string[] {
  const folder = source.path.split('/')[0]!;
  const rank = (path: string) => ROOMS.indexOf(roomOf(path) ?? '');
  return importsOf(source)
    .filter((target) => {
      if (roomOf(target) === undefined || rank(target) > rank(source.path)) return true;
      const may = MAY_IMPORT[folder];
      return may !== undefined && ![folder, ...may].some((allowed) => target.startsWith(`${allowed}/`));
    })
    .map((target) => `${source.path} imports ${target}`);
}

/** Circles of imports, each told once as the path that closes it. */
function circles(all: readonly Source[]): string[] {
  const imports = new Map(all.map((source) => [source.path, importsOf(source)]));
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, above: readonly string[]): void => {
    const at = above.indexOf(path);
    if (at >= 0) found.push([...above.slice(at), path].join(' -> '));
    if (at >= 0 || done.has(path)) return;
    for (const next of imports.get(path) ?? []) visit(next, [...above, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return found;
}

/** Code without comments and strings, roughly: enough to look for calls. */
function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '');
}

describe('import rules', () => {
  test.each(ROOMS)('%s imports only what stands above it in the list', (room) => {
    const mine = sources(room).filter(({ path }) => roomOf(path) === room);
    expect(mine.length).toBeGreaterThan(0);
    expect(mine.flatMap(forbiddenImports)).toEqual([]);
  });

  test('every source file belongs to a room', () => {
    expect(FOLDERS.flatMap(sources).filter(({ path }) => roomOf(path) === undefined)).toEqual([]);
  });

  test('no import is circular', () => {
    expect(circles(FOLDERS.flatMap(sources))).toEqual([]);
  });

  test('a forbidden import and a circle would be found', () => {
    const text = "import type { X } from '../nemesis/index.js';";
    expect(forbiddenImports({ path: 'checkers/some.ts', text })).toEqual(['checkers/some.ts imports nemesis/index.ts']);
    const up = "import { x } from '../../cli/main.js';";
    expect(forbiddenImports({ path: 'harness/run/some.ts', text: up })).toEqual([
      'harness/run/some.ts imports cli/main.ts',
    ]);
    const a = { path: 'reports/a.ts', text: "import type { B } from './b.js';" };
    const b = { path: 'reports/b.ts', text: "import { a } from './a.js';" };
    expect(circles([a, b])).toEqual(['reports/a.ts -> reports/b.ts -> reports/a.ts']);
  });

  test('the vocabulary is types only', () => {
    const values = /^(?:export\s+)?(?:const|let|function|class|enum)\b|^import (?!type)/m;
    expect(sources('harness/vocabulary').filter(({ text }) => values.test(code(text)))).toEqual([]);
  });
});

describe('names', () => {
  const EXPORTED =
    /^export\s+(?:declare\s+|async\s+|abstract\s+)*(?:const|let|function\*?|class|interface|type|enum)\s+([\w$]+)/gm;
  const RENAMED = /^(?:import|export)\b[^;]*?\b(\w+ as \w+)[^;]*? from '\.[^;]*;/gm;
  /** Names with one meaning that stand in several files, and why they must. */
  const SEVERAL: Record<string, string> = {
    DEVICE: 'the one network device of a host; topologies and faults may not import each other',
  };

  /** Exported names and the files that declare them, of names that several files declare. */
  function severalMeanings(all: readonly Source[]): string[] {
    const files = new Map<string, string[]>();
    for (const { path, text } of all)
      for (const [, name] of text.matchAll(EXPORTED))
        files.set(name!, [...new Set([...(files.get(name!) ?? []), path])]);
    return [...files]
      .filter(([name, paths]) => paths.length > 1 && SEVERAL[name] === undefined)
      .map(([name, paths]) => `${name}: ${paths.join(', ')}`);
  }

  test('an exported name stands in one file', () => {
    expect(severalMeanings([...FOLDERS, 'bench'].flatMap(sources))).toEqual([]);
  });

  test('what is imported or exported again keeps its name', () => {
    const renamed = [...FOLDERS, 'bench']
      .flatMap(sources)
      .flatMap(({ path, text }) => [...text.matchAll(RENAMED)].map((match) => `${path}: ${match[1]}`));
    expect(renamed).toEqual([]);
  });

  test('a name with two meanings would be found', () => {
    const a = { path: 'reports/a.ts', text: 'export interface Row {}' };
    const b = { path: 'cli/b.ts', text: 'export async function Row() {}' };
    expect(severalMeanings([a, b])).toEqual(['Row: reports/a.ts, cli/b.ts']);
  });
});

describe('the two procedures that decide exclusion', () => {
  /** All that a file imports, itself or through others. */
  const reached = (path: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(path) || path.startsWith('harness/vocabulary/')) return seen;
    seen.add(path);
    for (const next of importsOf({ path, text: readFileSync(join(ROOT, path), 'utf8') })) reached(next, seen);
    return seen;
  };
  const bySweep = new Set(
    ['harness/record/facts/holds.ts', 'harness/record/facts/overlaps.ts'].flatMap((path) => [...reached(path)]),
  );
  const byLinearizability = reached('checkers/linearizability/decide-held.ts');

  test('share nothing that is listed nowhere', () => {
    expect([...byLinearizability].filter((path) => bySweep.has(path)).sort()).toEqual([...SHARED].sort());
  });

  test('are not of each other', () => {
    const sweeps = ['holds', 'overlaps', 'renewals'].map((name) => `harness/record/facts/${name}.ts`);
    expect(sweeps.filter((path) => !bySweep.has(path))).toEqual([]);
    expect(sweeps.filter((path) => byLinearizability.has(path))).toEqual([]);
    expect([...bySweep].filter((path) => path.startsWith('checkers/'))).toEqual([]);
  });
});

test('no file is longer than 350 lines without a reason in its header', () => {
  const tooLong = FOLDERS.flatMap(sources).filter(
    ({ text }) => text.trimEnd().split('\n').length > 350 && !/^\/\*\*[\s\S]*?\blong because\b[\s\S]*?\*\//.test(text),
  );
  expect(tooLong.map(({ path }) => path)).toEqual([]);
});

test('what may be left behind is made where the next start finds it: by `private-folder.ts`', () => {
  const places = ['bench', 'packages', 'test'];
  const makes = FOLDERS.flatMap(sources).filter(
    ({ path, text }) => !places.includes(path.split('/')[0]!) && /\bmkdtemp(Sync)?\(/.test(code(text)),
  );
  // The second is renamed in the next moment, beside its runs.
  expect(makes.map(({ path }) => path).sort()).toEqual([
    'harness/machine/private-folder.ts',
    'harness/record/store.ts',
  ]);
});

test('what is said to take long is there', () => {
  expect(LONGEST.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

describe('workers keep modules for all their files', () => {
  const files = (readdirSync(join(ROOT, 'test/unit'), { recursive: true, encoding: 'utf8' }) as string[])
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, text: code(readFileSync(join(ROOT, 'test/unit', path), 'utf8')) }));

  test('a test that puts a false module in place has modules loaded anew before it and after it', () => {
    const mocking = files.filter(({ text }) => /^\s*vi\.(?:mock|doMock)\(/m.test(text));
    expect(mocking.length).toBeGreaterThan(2);
    const left = mocking.filter(
      ({ text }) =>
        !text.includes('vi.hoisted(() => vi.resetModules());') ||
        !text.includes('afterAll(() => void vi.resetModules());'),
    );
    expect(left.map(({ path }) => path)).toEqual([]);
  });

  test('what tests share has no hooks: they would be called for the first file that loads it only', () => {
    const shared = files.filter(({ path }) => !path.endsWith('.test.ts'));
    expect(shared.length).toBeGreaterThan(10);
    const hooked = shared.filter(({ text }) => /^(?:before|after)(?:All|Each)\(/m.test(text));
    expect(hooked.map(({ path }) => path)).toEqual([]);
  });
});

test('what is compiled is every folder: set-up looks for changes nowhere else', () => {
  const { include } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as { include: string[] };
  expect(include.toSorted()).toEqual([...FOLDERS, 'bench'].toSorted());
});

test('what runs inside hosts loads no schemas, no files of the project, and no packages but what is bundled: containers have none', () => {
  const byPath = new Map(FOLDERS.flatMap(sources).map((source) => [source.path, source]));
  const reachedFrom = (mains: readonly string[]): string[] => {
    const reached = new Set<string>();
    const visit = (path: string): void => {
      const source = byPath.get(path);
      if (reached.has(path) || !source) return;
      reached.add(path);
      for (const next of importsOf({ path, text: source.text.replace(/^import type .*$/gm, '') })) visit(next);
    };
    mains.forEach(visit);
    return [...reached];
  };
  const bundled: string[] = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).bundledPrograms.inOneFile.map(
    (path: string) => path.replace(/\.js$/, '.ts'),
  );
  const locks = [...byPath.keys()].filter((path) => path.startsWith('lock-impl/'));
  const alone = ['harness/resource/main.ts', 'docker/agent/main.ts', ...locks];
  for (const main of [...bundled, ...alone]) expect(byPath.has(main)).toBe(true);
  // Where it runs there may be no project around it.
  expect(reachedFrom([...bundled, ...alone])).not.toContain('harness/machine/project-files.ts');
  const withZod = reachedFrom([...bundled, ...alone]).filter((path) => /from 'zod'/.test(byPath.get(path)!.text));
  expect(withZod).toEqual([]);
  expect([...byPath.values()].some(({ text }) => /from 'zod'/.test(text))).toBe(true);

  const bare = reachedFrom(alone)
    .flatMap((path) => [...byPath.get(path)!.text.matchAll(/^import (?!type)[^;]*? from '([^.'][^']*)'/gm)])
    .map((match) => match[1]!)
    .filter((name) => !name.startsWith('node:') && name !== 'lock-torture');
  expect(bare).toEqual([]);
});

describe('time and randomness are parameters', () => {
  const READS_TIME =
    /\b(setTimeout|setInterval|setImmediate|Date\.now|new Date\(\)|Math\.random|performance\.now|process\.hrtime|randomBytes|randomInt|randomUUID|getRandomValues)\b/;
  /**
   * Where the machine's own clocks, timers and randomness are read: runtimes, what a lock client is given of them, and what
   * runs outside of any run (set-up, the terminal, pages in a reader's browser).
   */
  const MAY = [
    'harness/runtimes/',
    'harness/client/topology-access.ts',
    'harness/machine/',
    'docker/',
    'cli/',
    'reports/browser/',
  ];

  test('all code that plans, runs or judges a run takes them from outside', () => {
    const found = FOLDERS.flatMap(sources)
      .filter(({ path }) => !MAY.some((allowed) => path.startsWith(allowed)))
      .filter(({ text }) => READS_TIME.test(code(text)))
      .map(({ path }) => path);
    expect(found).toEqual([]);
  });

  test('every exemption is a place that exists', () => {
    for (const place of MAY) expect(FOLDERS.flatMap(sources).some(({ path }) => path.startsWith(place))).toBe(true);
  });
});

/** The files that `init` writes, for the project that it found: pure, so that each kind of project is one case of a test. */
import type { Manager } from '../common/package-source.js';
import type { Project } from './project.js';

export interface NewFile {
  /** Relative to the project. */
  path: string;
  text: string;
  /** It is there, and only these lines are added. */
  added?: string;
}

/** What is tortured. */
export interface Subject {
  /** The adapter's file, without its extension; undefined: the user's file is a lock of ours by itself. */
  adapter?: { name: string; text: string };
  /** That file of the user's, from the project. */
  file?: string;
  topology: string;
  /** Why no lock is safe on that deployment; undefined: it loses no grant by itself. */
  loses: string | undefined;
  /** The lease that the lock's own code fixes, milliseconds. */
  leaseMs: number | undefined;
}

const FOLDER = 'lock-torture';

/** Lock, config, test, workflow, and what is added to package.json and .gitignore; each runs as it is. */
export function filesFor(project: Project, subject: Subject): NewFile[] {
  const { runner, inRepository } = project;
  const extension = extensionFor(project);
  const { adapter } = subject;
  const lock = adapter ? `${FOLDER}/${adapter.name}.${extension}` : subject.file!;
  const toRoot = inRepository === '' ? '' : inRepository.replace(/[^/]+/g, '..').concat('/');
  const workflow = inRepository === '' ? 'lock-torture' : `lock-torture-${inRepository.replaceAll('/', '-')}`;
  const name = adapter?.name ?? 'lock';
  return [
    ...(adapter ? [{ path: lock, text: adapter.text }] : []),
    { path: `lock-torture.config.${extension}`, text: configFor(`./${lock}`, subject) },
    ...testsFor(runner, name, `../${lock}`.replace(`../${FOLDER}/`, './'), extension, subject),
    { path: `${toRoot}.github/workflows/${workflow}.yml`, text: workflowFor(project) },
    ...packageFile(project, name),
    ...ignoreFile(project),
  ];
}

/** What is no ES module by its package is one by its name: the API is one, and `import.meta` is to be had in no other. */
function extensionFor({ typescript, esm }: Project): string {
  return typescript ? (esm ? 'ts' : 'mts') : esm ? 'js' : 'mjs';
}

function testsFor(
  runner: Project['runner'],
  name: string,
  lock: string,
  extension: string,
  subject: Subject,
): NewFile[] {
  const base = `${FOLDER}/${name}`;
  if (runner === 'vitest') return [{ path: `${base}.test.${extension}`, text: vitestFor(lock, extension, subject) }];
  // Node 20 runs no TypeScript by itself.
  if (runner === 'node') return [{ path: `${base}.test.mjs`, text: nodeTestFor(lock, subject) }];
  // By a name that jest takes for no test unless this config is named: it loads ES modules only where it is told to.
  return [
    { path: JEST_CONFIG, text: "export default { testMatch: ['**/*.torture.mjs'] };\n" },
    { path: `${base}.torture.mjs`, text: jestFor(lock, subject) },
  ];
}

const JEST_CONFIG = `${FOLDER}/jest.config.mjs`;

/** By its name in package.json. */
export const SCRIPTS = { run: 'torture', test: 'test:torture' } as const;

function scriptsFor({ runner }: Project, name: string): Record<string, string> {
  const test = {
    vitest: `vitest run ${FOLDER}`,
    jest: `NODE_OPTIONS=--experimental-vm-modules jest --config ${JEST_CONFIG}`,
    // The file, for since Node 22 a folder is taken for a module.
    node: `node --test ${FOLDER}/${name}.test.mjs`,
  };
  return { [SCRIPTS.run]: 'lock-torture', [SCRIPTS.test]: test[runner] };
}

/** Its scripts beside those that are there; none is replaced. */
function packageFile(project: Project, name: string): NewFile[] {
  const path = 'package.json';
  const scripts = scriptsFor(project, name);
  const { packageJson } = project;
  if (packageJson === undefined) return [{ path, text: `${JSON.stringify({ private: true, scripts }, null, 2)}\n` }];
  const own = JSON.parse(packageJson);
  const missing = Object.keys(scripts).filter((script) => own.scripts?.[script] === undefined);
  if (missing.length === 0) return [];
  const [, indent = '  '] = /^\{\r?\n([ \t]+)/.exec(packageJson) ?? [];
  const all = { ...own.scripts, ...pick(scripts, missing) };
  const text = JSON.stringify({ ...own, scripts: all }, null, indent);
  return [{ path, text: packageJson.endsWith('\n') ? `${text}\n` : text, added: `scripts ${missing.join(' and ')}` }];
}

function pick(scripts: Record<string, string>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, scripts[name]!]));
}

/** What runs and hunts leave. */
const LEFT = ['runs/', 'hunts/'];

function ignoreFile({ gitignore }: Project): NewFile[] {
  const path = '.gitignore';
  const lines = (gitignore ?? '').split(/\r?\n/).map((line) => line.trim().replace(/^\//, ''));
  const missing = LEFT.filter((one) => !lines.includes(one) && !lines.includes(one.slice(0, -1)));
  if (missing.length === 0) return [];
  const before =
    gitignore === undefined || gitignore === '' || gitignore.endsWith('\n') ? (gitignore ?? '') : `${gitignore}\n`;
  const text = `${before}${missing.join('\n')}\n`;
  return [{ path, text, ...(gitignore !== undefined && { added: missing.join(' and ') }) }];
}

/** What runs a script of package.json; `--` before its own flags only where the manager wants it. */
const RUN: Readonly<Record<Manager, string>> = { npm: 'npm run', pnpm: 'pnpm run', yarn: 'yarn run' };

/** The commands that show what was written, in the order in which to try them. */
export function commandsFor({ manager }: Project): string[] {
  return Object.values(SCRIPTS).map((script) => `${RUN[manager]} ${script}`);
}

/** The steps that install the project's packages. */
function installSteps({ manager }: Project): string {
  const corepack = '      - run: corepack enable\n';
  if (manager === 'pnpm') return `${corepack}      - run: pnpm install --frozen-lockfile\n`;
  if (manager === 'yarn') return `${corepack}      - run: yarn install\n`;
  return '      - run: npm ci\n';
}

/** Actions by their hashes, as this project's own workflows take them. */
function workflowFor(project: Project): string {
  const { inRepository, manager } = project;
  const place = inRepository === '' ? '' : `${inRepository}/`;
  // A string of JSON is one of YAML.
  const there =
    place === '' ? '' : `    defaults:\n      run:\n        working-directory: ${JSON.stringify(inRepository)}\n`;
  const flags = manager === 'npm' ? '-- ' : '';
  return `# Tortures the lock for every change, and each night with another seed. docs/ci.md of lock-torture has more.
name: lock-torture
on:
  push:
  pull_request:
  schedule:
    - cron: '41 3 * * *'
permissions:
  contents: read
jobs:
  lock:
    runs-on: ubuntu-24.04
    timeout-minutes: 15
${there}    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      - uses: actions/setup-node@820762786026740c76f36085b0efc47a31fe5020 # v7.0.0
        with:
          node-version: 24
      # Wants a lockfile, and in packed/ the tarballs of lock-torture that it names.
${installSteps(project)}      # Hosts of a run live in user namespaces, which this machine keeps from ordinary users.
      - run: |
          echo "USERNS=$(sysctl -n kernel.apparmor_restrict_unprivileged_userns)" >> "$GITHUB_ENV"
          sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
      # The lock, its deployment and the faults stand in lock-torture.config.
      - run: ${RUN[manager]} ${SCRIPTS.run} ${flags}--runtime netns --time-limit 60s
      - run: ${RUN[manager]} ${SCRIPTS.test}
      # A machine that is kept is left as it was.
      - if: always() && env.USERNS != ''
        run: sudo sysctl -w "kernel.apparmor_restrict_unprivileged_userns=$USERNS"
      - if: always()
        uses: actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f # v7.0.0
        with:
          name: lock-torture
          path: ${JSON.stringify(`${place}runs/`)}
          if-no-files-found: warn
`;
}

/** The deliberately wrong lock. */
export const EXAMPLE = `import { defineLock } from 'lock-torture';

// A lock that is wrong on purpose: the test beside it says how. Each client of a run is a process of its own that loads this file and
// calls \`connect\` once.
export default defineLock({
  name: 'my-lock',
  async connect(topology) {
    // An ioredis client of whatever is tortured; on the topology redlock, \`topology.nodes()\`.
    const redis = await topology.redis();
    return {
      // Returns a hold, or null where the lock is certainly not held. It throws where it cannot tell.
      async acquire(key, { leaseMs }) {
        const owner = topology.randomValue();
        if ((await redis.set(key, owner, 'PX', leaseMs, 'NX')) === null) return null;
        return {
          release: async () => {
            // The mistake: after its lease this deletes what is somebody else's by now. Mended it is
            //   const RELEASE = \`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0\`;
            //   return (await redis.eval(RELEASE, 1, key, owner)) === 1;
            await redis.del(key);
          },
        };
      },
    };
  },
});
`;

/** Faults that a sound lock survives on deployments that keep what they granted, with the reason why others are left out. */
const SURVIVED: Readonly<Record<string, { nemesis: string[]; why: string }>> = {
  single: {
    nemesis: ['kill', 'partition', 'reset:primary', 'slow:primary', 'kill:client', 'partition:client'],
    why: 'A clock that jumps and a client that sleeps through its lease break every lock with a lease.',
  },
  redlock: {
    nemesis: ['kill:one', 'partition:minority', 'slow:one', 'kill:client', 'partition:client'],
    why: 'Nodes that forget, clocks that jump and clients that sleep through their lease break every Redlock.',
  },
};

/** Its runs fail only for what somebody has to mend. */
function configFor(lock: string, { topology, loses, leaseMs }: Subject): string {
  const settings = [
    `  lock: '${lock}',`,
    `  topology: '${topology}',`,
    "  timeLimit: '15s',",
    ...(leaseMs === undefined ? [] : ['  // The one that the lock uses: it takes none.', `  lease: '${leaseMs}ms',`]),
    ...(loses === undefined ? survived(topology) : lettingThrough(topology, loses)),
  ];
  return `import { defineConfig } from 'lock-torture';

// A run begins with these settings, which are the flags of \`npx lock-torture run --help\`. A flag that is typed comes first.
export default defineConfig({
${settings.join('\n')}
});
`;
}

function survived(topology: string): string[] {
  const { nemesis, why } = SURVIVED[topology]!;
  return [
    '  // A server that is killed has on its disk what it granted.',
    "  persistence: 'aof-always',",
    `  // ${why}`,
    '  // They are left out here: `--nemesis default` adds them, and the verdict then says whose mistake it was.',
    `  nemesis: [${nemesis.map((fault) => `'${fault}'`).join(', ')}],`,
  ];
}

function lettingThrough(topology: string, loses: string): string[] {
  return [
    `  // ${loses}`,
    `  // Only mistakes of the lock itself fail. This lets through: grants that ${topology} loses in a failover, and clients that`,
    '  // sleep through their lease. Both are still counted and shown; without this line they fail, too.',
    "  failOn: 'lock',",
  ];
}

function settingsFor({ leaseMs }: Subject): string {
  const lease = leaseMs === undefined ? '1s' : `${leaseMs}ms`;
  const limitMs = Math.max(8_000, 4 * (leaseMs ?? 0));
  return `// Work that outlives its lease: its client comes late to release what another one may have been granted since. In virtual time,
// where nothing that this machine does besides can change the result.
const late = {
  runtime: 'sim',
  nemesis: 'none',
  careless: true,
  lease: '${lease}',
  hold: '0.5x..1.5x',
  timeLimit: '${limitMs / 1_000}s',
}`;
}

const TITLE = 'the lock gives back only what is its own';

const vitestFor = (lock: string, extension: string, subject: Subject) => `import { torture } from 'lock-torture';
import { expect, test } from 'vitest';
// The matchers; and time for runs, which take longer than vitest's five seconds.
import 'lock-torture/vitest';

${settingsFor(subject)}${extension.endsWith('ts') ? ' as const' : ''};

test('${TITLE}', async ({ signal }) => {
  const lock = new URL('${lock}', import.meta.url);
  expect(await torture({ ...late, lock, signal })).toHaveNoLockMistakes();
});
`;

const jestFor = (lock: string, subject: Subject) => `import { expect, jest, test } from '@jest/globals';
import { torture } from 'lock-torture';
import { matchers } from 'lock-torture/jest';

expect.extend(matchers);
// A run takes its time limit and some seconds; jest gives a test five.
jest.setTimeout(300_000);

${settingsFor(subject)};

test('${TITLE}', async () => {
  const lock = new URL('${lock}', import.meta.url);
  expect(await torture({ ...late, lock })).toHaveNoLockMistakes();
});
`;

const nodeTestFor = (lock: string, subject: Subject) => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { story, torture } from 'lock-torture';

${settingsFor(subject)};

test('${TITLE}', { timeout: 300_000 }, async ({ signal }) => {
  const lock = new URL('${lock}', import.meta.url);
  const result = await torture({ ...late, lock, signal });
  assert.equal(result.ownMistakes, 'none', story(result));
});
`;

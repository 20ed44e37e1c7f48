/** The files that `init` writes, for the project that it found: pure, so that each kind of project is one case of a test. */

import type { Manager } from '../common/package-source.js';
import type { Project } from './project.js';

export interface NewFile {
  /** Relative to the project. */
  path: string;
  text: string;
}

const FOLDER = 'lock-torture';

/** Lock, config, test and workflow; each runs as it is. */
export function filesFor(project: Project): NewFile[] {
  const { typescript, esm, runner, inRepository } = project;
  // What is no ES module by its package is one by its name: the API is one, and `import.meta` is to be had in no other.
  const extension = typescript ? (esm ? 'ts' : 'mts') : esm ? 'js' : 'mjs';
  const lock = `my-lock.${extension}`;
  const toRoot = inRepository === '' ? '' : inRepository.replace(/[^/]+/g, '..').concat('/');
  const workflow = inRepository === '' ? 'lock-torture' : `lock-torture-${inRepository.replaceAll('/', '-')}`;
  return [
    { path: `${FOLDER}/${lock}`, text: LOCK },
    { path: `lock-torture.config.${extension}`, text: configFor(lock) },
    ...testsFor(runner, lock, extension),
    { path: `${toRoot}.github/workflows/${workflow}.yml`, text: workflowFor(project) },
  ];
}

function testsFor(runner: Project['runner'], lock: string, extension: string): NewFile[] {
  if (runner === 'vitest') return [{ path: `${FOLDER}/my-lock.test.${extension}`, text: vitestFor(lock) }];
  if (runner === 'node') return [{ path: NODE_TEST, text: nodeTestFor(lock) }];
  // By a name that jest takes for no test unless this config is named: it loads ES modules only where it is told to.
  return [
    { path: JEST_CONFIG, text: "export default { testMatch: ['**/*.torture.mjs'] };\n" },
    { path: `${FOLDER}/my-lock.torture.mjs`, text: jestFor(lock) },
  ];
}

// Node 20 runs no TypeScript by itself.
const NODE_TEST = `${FOLDER}/my-lock.test.mjs`;
const JEST_CONFIG = `${FOLDER}/jest.config.mjs`;

/** The commands that show what was written, in the order in which to try them. */
export function commandsFor({ runner, manager }: Project): string[] {
  const run = RUN[manager];
  const test = {
    vitest: `${run} vitest run ${FOLDER}`,
    jest: `NODE_OPTIONS=--experimental-vm-modules ${run} jest --config ${JEST_CONFIG}`,
    // The file, for since Node 22 a folder is taken for a module.
    node: `${manager === 'yarn' ? 'yarn node' : 'node'} --test ${NODE_TEST}`,
  };
  return [`${run} lock-torture`, test[runner]];
}

/** What runs a program of a package that is installed. */
const RUN: Readonly<Record<Manager, string>> = { npm: 'npx', pnpm: 'pnpm exec', yarn: 'yarn' };

/** The steps that install the project's packages. */
function installSteps({ manager, locked }: Project): string {
  const corepack = '      - run: corepack enable\n';
  if (manager === 'pnpm') return `${corepack}      - run: pnpm install --frozen-lockfile\n`;
  if (manager === 'yarn') return `${corepack}      - run: yarn install\n`;
  return locked ? '      - run: npm ci\n' : '      # npm ci, once there is a lockfile.\n      - run: npm install\n';
}

/** Actions by their hashes, as this project's own workflows take them. */
function workflowFor(project: Project): string {
  const { inRepository, manager } = project;
  const place = inRepository === '' ? '' : `${inRepository}/`;
  // A string of JSON is one of YAML.
  const there =
    place === '' ? '' : `    defaults:\n      run:\n        working-directory: ${JSON.stringify(inRepository)}\n`;
  return `# A lock is tortured for every change, and each night with another seed; docs/ci.md of lock-torture has more.
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
${installSteps(project)}      # Hosts of a run live in user namespaces, which this machine keeps from ordinary users.
      - run: |
          echo "USERNS=$(sysctl -n kernel.apparmor_restrict_unprivileged_userns)" >> "$GITHUB_ENV"
          sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
      # What is to be tortured stands in the config; --fail-on lock asks for the lock's own mistakes only.
      - run: ${RUN[manager]} lock-torture --runtime netns --fail-on lock --time-limit 60s
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

const LOCK = `import { defineLock } from 'lock-torture';

// A lock to begin with, and one that is wrong: the test beside it says how. To torture a lock that you have, import it here
// and call it. Each client of a run is a process of its own that loads this file and calls \`connect\` once.
export default defineLock({
  name: 'my-lock',
  async connect(topology) {
    // An ioredis client of whatever is tortured; on the topology redlock, \`topology.nodes()\`.
    const redis = await topology.redis();
    return {
      // Returns a hold, or null where it is certain that the lock is not held. Whoever cannot tell throws.
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

const configFor = (lock: string) => `import { defineConfig } from 'lock-torture';

// What \`npx lock-torture\` begins with: the flags of \`npx lock-torture run --help\` by their names. What is typed comes first.
export default defineConfig({
  lock: './${FOLDER}/${lock}',
  topology: 'single',
  timeLimit: '15s',
  // What every lock with a lease has to live with (a client that sleeps through it) does not fail a run.
  failOn: 'lock',
});
`;

const SETTINGS = `// Work that outlives its lease: its client comes late to release what another one may have been granted since.
const late = { nemesis: 'none', careless: true, lease: '1s', hold: '0.5x..1.5x', timeLimit: '8s' }`;

const vitestFor = (lock: string) => `import { torture } from 'lock-torture';
import { expect, test } from 'vitest';
// The matchers; and time for runs, which take longer than vitest's five seconds.
import 'lock-torture/vitest';

${SETTINGS}${lock.endsWith('ts') ? ' as const' : ''};

test('my lock gives back only what is its own', async ({ signal }) => {
  const lock = new URL('./${lock}', import.meta.url);
  expect(await torture({ ...late, lock, signal })).toHaveNoLockMistakes();
});
`;

const jestFor = (lock: string) => `import { expect, jest, test } from '@jest/globals';
import { torture } from 'lock-torture';
import { matchers } from 'lock-torture/jest';

expect.extend(matchers);
// A run takes its time limit and some seconds; jest gives a test five.
jest.setTimeout(300_000);

${SETTINGS};

test('my lock gives back only what is its own', async () => {
  const lock = new URL('./${lock}', import.meta.url);
  expect(await torture({ ...late, lock })).toHaveNoLockMistakes();
});
`;

const nodeTestFor = (lock: string) => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { story, torture } from 'lock-torture';

${SETTINGS};

test('my lock gives back only what is its own', { timeout: 300_000 }, async ({ signal }) => {
  const lock = new URL('./${lock}', import.meta.url);
  const result = await torture({ ...late, lock, signal });
  assert.equal(result.ownMistakes, 'none', story(result));
});
`;

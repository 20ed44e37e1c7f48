/** Every malformed flag, plan and lock file: one clear line, exit status 3, nothing started. What a run must start to find: test/runs/sharing/handshake.test.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freshFolder, start, torture } from '../../support/torture.js';
import { tortureHere } from '../../support/torture-here.js';

const folder = freshFolder();
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const plan = (steps: unknown) => file(`plan-${Math.random()}.json`, JSON.stringify({ version: 1, seed: 1, steps }));
const step = { atMs: 100, forMs: 500, fault: 'pause', target: 'primary' };

const BAD: [what: string, args: () => string[], says: RegExp][] = [
  ['an unknown flag', () => ['--frobnicate'], /unknown option.*--frobnicate/],
  ['an unknown command', () => ['tortoise'], /"tortoise" is no command; there are run, replay, check, /],
  [
    'a lock where a command stands',
    () => ['./my-lock.ts'],
    /"\.\/my-lock\.ts" is no command; a lock is named by --lock \.\/my-lock\.ts\n/,
  ],
  [
    'a config that ends the process as if all were well',
    () => ['--config', file('exits.mjs', 'process.exit(0); export default {};')],
    /exits\.mjs: the program ended while this was loaded/,
  ],
  [
    'a config that waits for nothing',
    () => ['--config', file('waits.mjs', 'await new Promise(() => {}); export default {};')],
    /waits\.mjs: the program ended while this was loaded/,
  ],
  [
    'an unknown topology',
    () => ['--topology', 'ring'],
    /"ring" is not known; there are single, replica, sentinel, cluster, redlock, redlock-sentinel\./,
  ],
  ['a duration without unit', () => ['--time-limit', '20'], /"20" is not a duration; write 20ms, 20s or 20m/],
  ['a time limit that is no time', () => ['--time-limit', '1s'], /at least 2000 ms/],
  ['a count that is none', () => ['--clients', 'six'], /"six" is not a whole number from 1 to 200/],
  ['no clients', () => ['--clients', '0'], /from 1 to 200/],
  ['a hold without x', () => ['--hold', '0.5'], /write 0\.5x/],
  ['a seed that is none', () => ['--seed', '-1'], /--seed/],
  ['an unknown persistence', () => ['--persistence', 'tape'], /none, rdb, aof-everysec, aof-always/],
  ['a directive without value', () => ['--redis-conf', 'maxmemory'], /KEY=VALUE/],
  ['a class that is none', () => ['--fail-on', 'everything'], /exclusion, harm, stale, liveness/],
  ['an unknown runtime', () => ['--runtime', 'cloud'], /there are auto, netns, docker/],
  ['an unknown workload', () => ['--workload', 'sleep'], /no workload "sleep"; there are mutex/],
  [
    'nodes without redlock',
    () => ['--topology', 'single', '--nodes', '3'],
    /--nodes is for the redlock or redlock-sentinel topology, not for single/,
  ],
  ['a plan and a nemesis', () => ['--plan', plan([step]), '--nemesis', 'kill'], /leave out --nemesis/],
  [
    'a lock for another topology',
    () => ['--lock', 'redlock', '--topology', 'sentinel'],
    /redlock makes no sense on topology sentinel/,
  ],
];

/** What is looked at when it is known that a run can be had here, and by which powers. */
const BAD_FOR_A_RUN: typeof BAD = [
  ['an unknown fault', () => ['--nemesis', 'meteor'], /meteor/],
  ['a target that makes no sense', () => ['--topology', 'redlock', '--nemesis', 'kill:primary'], /primary/],
  ['a fault that makes no sense here', () => ['--topology', 'single', '--nemesis', 'failover'], /failover/],
  ['a plan that is missing', () => ['--plan', '/nowhere/plan.json'], /cannot read \/nowhere\/plan\.json/],
  ['a plan that is no JSON', () => ['--plan', file('a.json', '{')], /a\.json/],
  ['a plan that is no plan', () => ['--plan', file('b.json', '[]')], /b\.json/],
  [
    'an unknown fault in a plan',
    () => ['--plan', plan([{ ...step, fault: 'meteor' }])],
    /steps\[0\]\.fault: "meteor" is not a fault; 'list faults' shows all/,
  ],
  [
    'a time that is none',
    () => ['--plan', plan([{ ...step, atMs: -5 }])],
    /steps\[0\]\.atMs: expected a number from 0, got -5/,
  ],
  [
    'a target that is unknown',
    () => ['--plan', plan([step, { ...step, target: 'moon' }])],
    /steps\[1\]\.target: expected one of primary, .* or an object, got "moon"/,
  ],
  ['a node that is unknown', () => ['--plan', plan([{ ...step, target: { names: ['r9'] } }])], /r9/],
  ['a field that is unknown', () => ['--plan', plan([{ ...step, color: 'red' }])], /color/],
  ['an unknown lock', () => ['--lock', 'set-nx-xp'], /set-nx-xp.*set-nx-px/],
  ['a lock file that is missing', () => ['--lock', './nowhere.ts'], /nowhere\.ts/],
  ['a lock file with an error', () => ['--lock', file('syntax.ts', 'const = 1')], /syntax\.ts:1:/],
  ['a lock file without default export', () => ['--lock', file('nothing.ts', 'export const x = 1')], /default/],
  ['a lock file that throws', () => ['--lock', file('throws.ts', 'throw new Error("no config")')], /no config/],
  ['a program that is missing', () => ['--lock', 'cmd:./nowhere'], /nowhere/],
  ['a program that cannot be run', () => ['--lock', `cmd:${file('plain.txt', 'x')}`], /plain\.txt/],
  ['no program', () => ['--lock', 'cmd:'], /cmd/],
  ['a redis that is missing', () => ['--redis', '/nowhere/redis-server'], /\/nowhere\/redis-server/],
  ['a redis that is none', () => ['--redis', '/bin/true'], /\/bin\/true/],
];

/** The same of other commands. */
const OF_OTHERS: [what: string, command: string, args: () => string[], says: RegExp][] = [
  [
    'a matrix whose runs have no time',
    'matrix',
    () => ['--faults', 'client-paused', '--locks', 'set-nx-px', '--time-limit', '1s', '--out', folder],
    /--time-limit must be at least 2000 ms/,
  ],
  [
    'two groups of cells',
    'matrix',
    () => ['--services', '--locks', 'external', '--out', folder],
    /--services and --locks external each name a group of cells: leave out one of them/,
  ],
  [
    'one server for the cells of several services',
    'matrix',
    () => ['--services', '--server', 'etcd@3.5', '--out', folder],
    /etcd@3\.5 is no server of all of redis, etcd, zookeeper, postgres, mariadb, mysql, mongodb: leave it out, or name the --topologies of one/,
  ],
  [
    'nothing to merge',
    'merge',
    () => ['/nowhere', '--out', join(folder, 'merged')],
    /\/nowhere: there is no such folder/,
  ],
  [
    'what nobody can merge',
    'merge',
    () => [folder, '--out', join(folder, 'merged')],
    /nothing to merge: neither a campaign's folder nor one of a series, scenarios, a matrix or a self-test/,
  ],
];

/** As a user starts it: of each kind of mistake one, and what would end the test's own process. */
const AS_A_PROCESS = [
  'an unknown flag',
  'a lock where a command stands',
  'a config that ends the process as if all were well',
  'a config that waits for nothing',
  'an unknown fault in a plan',
  'a lock file without default export',
  'a lock file that throws',
  'a program that is missing',
  'a redis that is none',
];

function expectOneLine({ status, errors }: { status: number | null; errors: string }, says: RegExp): void {
  const lines = errors.trim().split('\n');
  expect(errors).toMatch(says);
  expect(errors).not.toMatch(/\n\s+at /);
  expect(lines.filter((line) => !line.startsWith('(--help'))).toHaveLength(1);
  expect(status).toBe(3);
}

describe('bad input', () => {
  refuses(BAD);

  test.each(OF_OTHERS)('%s', async (_, name, args, says) => {
    const { ended, errors } = start(args(), { command: name });
    expectOneLine({ status: (await ended).code, errors: errors() }, says);
  });

  test('every kind that is tried as a process is there', () => {
    const all = [...BAD, ...BAD_FOR_A_RUN].map(([what]) => what);
    expect(AS_A_PROCESS.filter((what) => !all.includes(what))).toEqual([]);
  });
});

describe('bad input of a run that could be had', { tags: ['namespaces'] }, () => refuses(BAD_FOR_A_RUN));

function refuses(bad: typeof BAD): void {
  test.each(bad.filter(([what]) => AS_A_PROCESS.includes(what)))('%s, given to a process', async (_, args, says) => {
    expectOneLine(await torture(args()), says);
  });

  test.each(bad.filter(([what]) => !AS_A_PROCESS.includes(what)))('%s', async (_, args, says) => {
    expectOneLine(await tortureHere(args()), says);
  });
}

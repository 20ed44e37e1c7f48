/** A lock that cannot work is told at once, with its author's path and line; one that meets a mistake here and there is tortured on. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { torture as tortureByProgram } from '../../../cli/api/torture.js';
import { freshFolder, ROOT, start, torture } from '../../support/torture.js';

const LOCKS = 'test/fixtures/locks';
const of = (name: string, ...flags: string[]) => [
  ...['--lock', `${LOCKS}/${name}`, '--topology', 'single', '--clients', '2', '--keys', '1'],
  ...flags,
];
/** What a run records, of which it makes no verdict. */
const phases = (folder: string) =>
  [...readFileSync(join(folder, 'history.jsonl'), 'utf8').matchAll(/"phase":"([\w-]+)"/g)].map(([, name]) => name);

test('a mistake that every client meets ends the first of many runs: exit 3, how often, what, and where', async () => {
  const run = await torture(of('typo.ts', '--times', '20', '--seed', '1'));
  expect(run.errors).toMatch(
    /^lock-torture: your lock threw in (\d+) of \1 acquires: TypeError: redis\.sett is not a function \(test\/fixtures\/locks\/typo\.ts:14:21\)\n$/,
  );
  expect(run.status).toBe(3);
  // Its record stays, without a verdict.
  expect(phases(run.folder)).toEqual(['warm-up']);
  expect(run.results).toBeUndefined();
  const runs = readdirSync(join(run.folder, '..')).filter((name) => name.includes('-single-'));
  expect(runs).toHaveLength(1);
});

test('a script that does not compile, and a process that ends by itself, with its last words', async () => {
  const script = await torture(of('bad-script.mjs', '--nemesis', 'none'));
  expect(script.errors).toMatch(/your lock threw in (\d+) of \1 acquires: ERR Error compiling script .*user_script:1/);
  expect(script.status).toBe(3);
  const crashed = await torture(of('crashes.mjs', '--nemesis', 'none'));
  expect(crashed.errors).toMatch(
    /your lock failed in (\d+) of \1 acquires: its process ended by itself, with exit status 1; its last words: TypeError: Cannot read properties of undefined .*logs\/c\d\.log\)\n$/,
  );
  expect(crashed.status).toBe(3);
});

test.each([
  ['class.mjs', /test\/fixtures\/locks\/class\.mjs:10:1: the default export is the class Lock, not a lock; /],
  ['no-default.mjs', /test\/fixtures\/locks\/no-default\.mjs: there is no default export, only lock; /],
  [
    'throws-while-loading.mjs',
    /test\/fixtures\/locks\/throws-while-loading\.mjs cannot be loaded: cannot even load \(test\/fixtures\/locks\/throws-while-loading\.mjs:1:7\)/,
  ],
])('%s: exit 3 before anything of a run is there', async (name, says) => {
  const run = await torture(of(name));
  expect(run.errors).toMatch(says);
  expect(run.status).toBe(3);
  expect(existsSync(run.folder)).toBe(false);
});

test('connect that throws: told by the first client', async () => {
  const run = await torture(of('typo-in-connect.mjs'));
  expect(run.errors).toMatch(
    /its connect\(\) threw TypeError: topology\.rediss is not a function \(test\/fixtures\/locks\/typo-in-connect\.mjs:4:34\)\n$/,
  );
  expect(run.status).toBe(3);
});

test('a lock that connects to its own host instead of the run’s servers, in which nobody answers', async () => {
  const run = await torture(of('elsewhere.mjs', '--time-limit', '10m'));
  expect(run.errors).toMatch(
    /^lock-torture: your lock failed in (\d+) of \1 acquires: it connects to 127\.0\.0\.1:6379, where no server of the run is: take the client of topology\.redis\(\), .*\n$/,
  );
  expect(run.status).toBe(3);
});

test('a lock that grants nobody anything is violated at once, with what it answered; no fault strikes', async () => {
  const run = await torture(of('never-grants.mjs', '--time-limit', '10m'));
  expect(run.status).toBe(1);
  const [violation] = run.results.violations;
  expect(violation).toMatchObject({ class: 'liveness', kind: 'deadlock', cause: { name: 'granted-nobody' } });
  expect(violation!.cause.sentence).toMatch(
    /^acquire returned null in (\d+) of \1 calls and no client ever held the lock;/,
  );
  expect(run.output).toMatch(/no client has been granted the lock, and no fault is in force: acquire returned null in/);
  expect(readFileSync(join(run.folder, 'history.jsonl'), 'utf8')).not.toContain('"state":"strike"');
});

test('a mistake that only who loses meets: the run goes on to its end', async () => {
  const run = await torture(of('typo-for-losers.mjs', '--nemesis', 'none', '--time-limit', '3s'));
  expect(run.status).not.toBe(3);
  expect(phases(run.folder).at(-1)).toBe('end');
});

test('a hunt says the same instead of playing on', async () => {
  const hunt = start(['--lock', `${LOCKS}/typo.ts`, '--topology', 'single', '--runs', '1000', '--out', freshFolder()], {
    command: 'hunt',
  });
  expect((await hunt.ended).code).toBe(3);
  expect(hunt.errors()).toMatch(
    /your lock threw in \d+ of \d+ acquires: TypeError: redis\.sett is not a function \(test\/fixtures\/locks\/typo\.ts:14:21\)\n$/,
  );
});

test('torture() rejects with it', async () => {
  const settings = { lock: `./${LOCKS}/typo.ts`, topology: 'single', out: freshFolder(), cwd: ROOT } as const;
  await expect(tortureByProgram({ ...settings, runtime: 'netns', config: false })).rejects.toThrow(
    /^your lock threw in \d+ of \d+ acquires: TypeError: redis\.sett is not a function \(test/,
  );
});

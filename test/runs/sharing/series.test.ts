/** Several runs by one command, and runs that repeat an earlier one: what is counted, where it ends, what is left. */
import { cpSync, existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { RunConfig } from '../../../harness/vocabulary/run.js';
import {
  endAll,
  freshFolder,
  historyOf,
  processesOf,
  start,
  type Torture,
  torture,
  until,
} from '../../support/torture.js';

const user = freshFolder();
const LOCK_FILE = join(user, 'my-lock.ts');
const writeLock = (release: string) =>
  writeFileSync(
    LOCK_FILE,
    `import { defineLock } from 'lock-torture';
export default defineLock({
  name: 'my-lock',
  async connect(topology) {
    const redis = await topology.redis();
    return {
      async acquire(key, { leaseMs }) {
        const owner = topology.randomValue();
        if ((await redis.set(key, owner, 'PX', leaseMs, 'NX')) === null) return null;
        return { release: async () => { ${release} } };
      },
    };
  },
});
`,
  );

// Careless holders outlive their lease and delete what is somebody else's by then: violated in every run.
const VIOLATED = ['--careless', '--hold', '0.5x..1.5x', '--lease', '300ms', '--nemesis', 'none', '--time-limit', '4s'];
const HELD = ['--nemesis', 'none', '--hold', '0.01x..0.05x'];

const runs: Torture[] = [];
const begin = (...args: Parameters<typeof start>) => {
  const run = start(...args);
  runs.push(run);
  return run;
};
afterEach(() => runs.splice(0).forEach(endAll));

// biome-ignore lint/suspicious/noExplicitAny: whatever shape the file has, the assertions say what it should be
const json = (...path: string[]): any => JSON.parse(readFileSync(join(...path), 'utf8'));
const folders = (out: string, kind: string) => readdirSync(out).filter((name) => name.includes(`-${kind}-`));
const seriesOf = (out: string) => join(out, folders(out, 'series')[0]!);

/** Made once by the first test, replayed by the others. */
let original = '';

describe('--times', () => {
  test('a run for each seed with the lock as it was at first, a line for each, and a summary', async () => {
    writeLock('await redis.del(key);');
    const run = begin(['--lock', './my-lock.ts', ...VIOLATED, '--times', '2', '--seed', '41'], { cwd: user });
    await until('the first', () => run.output().includes('run 1 of 2'), 100_000);
    expect(run.output()).toContain('run 1 of 2, seed 41: VIOLATED by the lock');
    writeLock('this is no TypeScript');
    expect((await run.ended).code, run.output() + run.errors()).toBe(1);

    expect(run.output()).toMatch(/run 2 of 2, seed 42: VIOLATED by the lock, exclusion × \d+ \(.*released-by-other/);
    expect(run.output()).toMatch(/^41 +VIOLATED by the lock .* 1 +\S+-single-\S+\n42 +VIOLATED by the lock /m);
    expect(run.output()).toContain('2 of 2 runs violated.\nExit status 1');
    const summary = json(seriesOf(run.out), 'summary.json');
    expect(summary).toMatchObject({ ended: 'complete', planned: 2, exitStatus: 1, counts: { violated: 2 } });
    for (const [n, row] of summary.runs.entries()) {
      const config: RunConfig = json(row.folder, 'config.json');
      expect([config.seed, row.seed, row.n]).toEqual([41 + n, 41 + n, n + 1]);
      expect(config.reproduce).toMatch(new RegExp(`--lease 300ms .*--seed ${41 + n}$`));
      expect(config.reproduce).not.toContain('--times');
      expect(config.clientArgv.at(-1)).toBe(join(row.folder, 'lock.mjs'));
    }
    expect(readFileSync(join(seriesOf(run.out), 'summary.md'), 'utf8')).toContain('| 42 | VIOLATED by the lock |');
    original = summary.runs[0].folder;
    expect(readlinkSync(join(run.out, 'latest'))).toBe(summary.runs[0].runId);
  });
});

describe('replay', () => {
  test('the same seed, options and plan; k of n reproduced it, and the first is enough', async () => {
    // Still wrong, by other code: of comments alone nothing is told.
    writeLock('const gone = await redis.del(key); void gone;');
    const out = freshFolder();
    const args = [original, '--times', '3', '--until-violation', '--json', '--out', out];
    const run = await torture(args, { command: 'replay' });
    expect(run.status, run.output + run.errors).toBe(1);
    const lines = run.output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const summary = lines.at(-1);
    expect(summary).toMatchObject({ type: 'summary', ended: 'found', planned: 3, exitStatus: 1 });
    expect(summary.reproduction).toMatchObject({ by: 'findings', originalVerdict: 'violated', k: 1, n: 1 });
    expect(summary.reproduction.findings.find((one: { counts: boolean }) => one.counts)).toMatchObject({
      class: 'exclusion',
      replays: 1,
    });
    expect(lines.filter(({ type }) => type === 'run')).toMatchObject(summary.runs);
    expect(lines.some(({ line }) => /my-lock\.ts has changed/.test(line))).toBe(true);
    expect(folders(out, 'single')).toHaveLength(1);

    const before: RunConfig = json(original, 'config.json');
    const after: RunConfig = json(out, 'latest', 'config.json');
    const own = ['runId', 'startedAt', 'reproduce', 'clientArgv', 'replayOf'] as const;
    for (const name of own) delete (after as Partial<RunConfig>)[name];
    expect(before).toMatchObject(after);
    expect(json(out, 'latest', 'plan.json')).toEqual(json(original, 'plan.json'));
    expect(summary.runs[0].reproduce).toContain(`replay ${original}`);
    expect(json(summary.runs[0].folder, 'config.json').replayOf).toBe(before.runId);
  });

  test('a lock that was mended meanwhile: not reproduced', async () => {
    // In one step: between a GET and a DEL the key can change hands, and now and then a run finds that.
    writeLock(
      `await redis.eval("if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end", 1, key, owner);`,
    );
    const out = freshFolder();
    const run = await torture([original, '--out', out], { command: 'replay' });
    expect(run.output).toMatch(/0 of 1 replay of \S+ found exclusion broken again for the same cause\./);
    expect(json(out, 'latest', 'results.json').found.exclusion).toBeUndefined();
    expect(folders(out, 'series')).toEqual([]);
  });

  const edit = (change: (config: Record<string, unknown>) => void) => () => {
    const copy = join(freshFolder(), 'run');
    cpSync(original, copy, { recursive: true });
    const config = json(copy, 'config.json');
    change(config);
    writeFileSync(join(copy, 'config.json'), JSON.stringify(config));
    return copy;
  };
  test.each<[string, () => string, RegExp]>([
    [
      'of another version',
      edit((config) => Object.assign(config, { version: 3 })),
      /config\.json: version: expected 2, got 3/,
    ],
    [
      'with more than is known',
      edit((config) => Object.assign(config, { quorum: 3 })),
      /config\.json: unknown field "quorum"/,
    ],
    [
      'damaged',
      edit((config) => delete config.clients),
      /config\.json: clients: missing, expected a whole number from 1/,
    ],
    ['whose lock is gone', edit((config) => Object.assign(config, { lock: './gone.ts' })), /gone\.ts does not exist/],
    ['that is not there', () => './nowhere', /no run at \.\/nowhere/],
  ])('a run %s: one clear line, nothing made', async (_, make, says) => {
    const out = join(freshFolder(), 'runs');
    const run = await torture([make(), '--out', out], { command: 'replay' });
    expect(run.errors).toMatch(says);
    // What is slow on a busy machine shows that it goes on.
    const lines = run.errors.split('\n').filter((line) => !/^[.\d]*$/.test(line));
    expect(lines, run.errors).toHaveLength(1);
    expect(run.status).toBe(3);
    expect(existsSync(out) ? readdirSync(out).filter((name) => name !== 'latest') : []).toEqual([]);
  });
});

describe('--until-violation', () => {
  test('ends after the first that is violated; one plan for all', async () => {
    const plan = join(user, 'plan.json');
    writeFileSync(plan, JSON.stringify({ version: 1, seed: 9, steps: [] }));
    const flags = VIOLATED.filter((flag, n) => flag !== '--nemesis' && VIOLATED[n - 1] !== '--nemesis');
    const run = await torture(['--lock', 'broken/blind-del', ...flags, '--plan', plan, '--until-violation']);
    expect(run.status, run.output + run.errors).toBe(1);
    expect(run.output).toContain('every run carries out the same plan');
    expect(run.output).toMatch(/^run 1, seed \d+: VIOLATED by the lock/m);
    expect(run.output).not.toMatch(/^run 2,/m);
    expect(run.output).toMatch(/^First violated, seed \d+: .*\nReport: .*report\.html$/m);
    expect(json(run.folder, 'plan.json').seed).toBe(9);
  });
});

describe('Ctrl-C in a series', () => {
  const inSecondRun = async (timeLimit: string): Promise<Torture> => {
    const run = begin([...HELD, '--time-limit', timeLimit, '--times', '4']);
    await until('the second run', () => run.output().includes('run 1 of 4') && inTorture(run), 100_000);
    return run;
  };
  const inTorture = (run: Torture) =>
    historyOf(run).some((event) => event.type === 'phase' && event.phase === 'torture') &&
    !historyOf(run).some((event) => event.type === 'phase' && event.phase === 'end');

  test('once: the current run is judged, no other follows, and there is a summary', async () => {
    const run = await inSecondRun('4s');
    process.kill(run.child.pid!, 'SIGINT');
    const { code } = await run.ended;
    expect(run.output()).toMatch(/run 2 of 4, seed \d+: [A-Z].* \(cut short\)/);
    expect(run.output()).toContain('Ended by the user before all 4 were made');
    expect(folders(run.out, 'single')).toHaveLength(2);
    const summary = json(seriesOf(run.out), 'summary.json');
    expect(summary).toMatchObject({ ended: 'interrupted', runs: [{ cutShort: false }, { cutShort: true }] });
    expect(code).toBe(summary.exitStatus);
    expect(processesOf(run.mark)).toEqual([]);
  });

  test('twice: everything ends at once, and the runs that had ended are written down', async () => {
    const run = await inSecondRun('2s');
    process.kill(run.child.pid!, 'SIGINT');
    await until('the first to be heard', () => run.errors().includes('once more'));
    process.kill(run.child.pid!, 'SIGINT');
    expect((await run.ended).code).toBe(3);
    await until('nothing left', () => processesOf(run.mark).length === 0, 10_000);
    const { ended, runs } = json(seriesOf(run.out), 'summary.json');
    expect(ended).toBe('running');
    expect(runs[0]).toMatchObject({ n: 1, cutShort: false });
  });
});

describe('a series that cannot be set up', () => {
  test('ends at the first, and leaves nothing', async () => {
    const run = await torture(['--lock', './nowhere.ts', '--times', '3']);
    expect(run.status).toBe(3);
    expect(run.errors.trim().split('\n')).toHaveLength(1);
    expect(run.output).not.toContain('Exit status');
    expect(existsSync(run.folder)).toBe(false);
  });
});

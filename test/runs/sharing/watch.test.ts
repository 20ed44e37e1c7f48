/** `--watch`: again after each change of what the lock is made of, first with the seed, or the scenarios, that failed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { endAll, freshFolder, historyOf, QUIET, start, type Torture, torture, until } from '../../support/torture.js';

const LOCK = `import { defineLock } from 'lock-torture';
import { ONLY_NEW } from './only-new.js';

export default defineLock({
  name: 'mine',
  async connect(topology) {
    const redis = await topology.redis();
    return {
      async acquire(key, { leaseMs }) {
        const owner = topology.randomValue();
        if ((await redis.call('SET', key, owner, 'PX', leaseMs, ...ONLY_NEW)) === null) return null;
        return { release: async () => (await redis.del(key)) === 1 };
      },
    };
  },
});
`;

/** As few clients as can collide, and no longer than a run may be. */
const SMALL = [...QUIET, '--clients', '2', '--keys', '1', '--hold', '0.002x..0.01x', '--time-limit', '4s'];

const begun: Torture[] = [];
afterAll(() => begun.forEach(endAll));
const begin = (...args: Parameters<typeof start>) => {
  const run = start(...args);
  begun.push(run);
  return run;
};

// Side by side: each mostly waits.
describe.concurrent('--watch', () => {
  test('a mistake is mended in a file that the lock imports: the seed that found it, then another; Ctrl-C ends it', async ({
    expect,
  }) => {
    const folder = freshFolder();
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    write('lock.ts', LOCK);
    write('only-new.ts', 'export const ONLY_NEW: string[] = [];\n');
    const flags = ['--lock', join(folder, 'lock.ts'), '--watch', '--stop-at-first'];
    const run = begin([...SMALL, ...flags], { cwd: folder });
    const { output, errors, ended } = run;
    const seeds = () => [...output().matchAll(/, seed (\d+), /g)].map(([, seed]) => seed);
    const waits = () => output().match(/^watching .*; Ctrl-C ends$/gm)?.length ?? 0;
    await until('the first run', () => waits() === 1);
    expect(output()).toContain('VIOLATED');
    expect(output()).toMatch(/^watching .*(lock|only-new)\.ts and 1 more; Ctrl-C ends$/m);
    // What repeats a run is that run alone.
    expect(output()).toMatch(/^Reproduce: (?!.*--watch).*--seed \d+$/m);

    write('only-new.ts', 'export const ONLY_NEW: string[] = [;\n');
    await until('what is wrong with it', () => waits() === 2);
    expect(errors()).toMatch(/^lock-torture: .*only-new\.ts:1:\d+: Unexpected ";"$/m);

    write('only-new.ts', "export const ONLY_NEW: string[] = ['NX'];\n");
    await until('two runs in which it holds', () => waits() === 3);
    // At the head of what each prints, and in its last lines.
    expect(output().match(/^HELD\b.*\(exit status 0\)$/gm)).toHaveLength(2);
    const [first, again, other] = seeds();
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect(output()).toContain(`seed ${first} finds nothing any more: on with another\n`);

    run.child.kill('SIGINT');
    expect(await ended).toEqual({ code: 0, signal: null });
  });

  test('of scenarios that which failed is played first, then the others; Ctrl-C ends it', async () => {
    const folder = freshFolder();
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    // It waits, as plays ask it to.
    const waiting = LOCK.replace('{ leaseMs }', '{ leaseMs, waitMs }')
      .replace('if ((await', 'const endNs = topology.nowNs() + waitMs * 1e6;\n        while ((await')
      .replace('return null;', '{ if (topology.nowNs() > endNs) return null; await topology.sleep(10); }');
    write(
      'lock.ts',
      waiting.replace('redis.del(key)', 'release(redis, key, owner)').replace('ONLY_NEW }', 'ONLY_NEW, release }'),
    );
    const release = (how: string) =>
      write(
        'only-new.ts',
        `export const ONLY_NEW = ['NX'];\nexport const release = (redis: any, key: string, owner: string) => ${how};\n`,
      );
    release('redis.del(key)');
    const plays = ['only-one-holds', 'only-the-owner-releases'];
    const run = begin([...plays, '--lock', './lock.ts', '--watch', '--jobs', '1'], {
      cwd: folder,
      command: 'scenario',
    });
    const { output, ended } = run;
    const waits = () => output().match(/^watching .*; Ctrl-C ends$/gm)?.length ?? 0;
    await until('the first round', () => waits() === 1);
    expect(output()).toContain('violated in 1 of 2, held in 1 of 2');

    release(
      `redis.eval("return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1]) or 0", 1, key, owner)`,
    );
    await until('a round in which both hold', () => waits() === 2);
    const since = output().slice(output().indexOf('changed\n'));
    expect(since).toMatch(/^changed\nfirst what failed: only-the-owner-releases\n/);
    expect([...since.matchAll(/^\d\/\d +(\S+) +held: /gm)].map(([, name]) => name)).toEqual([...plays].reverse());

    run.child.kill('SIGINT');
    expect(await ended).toEqual({ code: 0, signal: null });
  });

  test('Ctrl-C during a run ends that run and the watching', async () => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'lock.ts'), LOCK.replace('...ONLY_NEW', "'NX'").replace(/import { ONLY_NEW.*\n/, ''));
    const run = begin([...SMALL, '--lock', join(folder, 'lock.ts'), '--watch', '--time-limit', '60s'], { cwd: folder });
    await until('grants', () => historyOf(run).some(({ type }) => type === 'ok'));
    run.child.kill('SIGINT');
    expect((await run.ended).code).not.toBe(3);
    expect(run.output()).not.toContain('Ctrl-C ends');
  });

  test.each([
    [['--watch'], /^lock-torture: --watch waits for changes of a lock of yours: /],
    [
      ['--watch', '--times', '3'],
      /^lock-torture: --watch makes one run after each change, for reading: leave out --times/,
    ],
    [['--watch', '--lock', './none.ts'], /^lock-torture: --lock \.\/none\.ts: .*none\.ts does not exist$/],
  ])('%j is refused in one line', async (flags, line) => {
    const { status, errors } = await torture([...QUIET, ...flags]);
    expect(status).toBe(3);
    expect(errors.trim()).toMatch(line);
  });
});

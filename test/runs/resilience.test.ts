/**
 * Whatever goes wrong around a run (disk, clients, servers, clock): it ends by itself, and says what happened.
 *
 * @module-tag namespaces
 */
import { chmodSync, closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, describe, expect, test } from 'vitest';
import { encodeSkew } from '../../harness/machine/clock-shim.js';
import { cacheFolder, findRedis } from '../../harness/machine/redis-binary.js';
import { readHistory } from '../../harness/record/history.js';
import { monotonicNs } from '../../harness/runtimes/real-clock.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import { inMountNamespace } from '../support/needs.js';
import {
  type Ended,
  endAll,
  freshFolder,
  historyOf,
  processesOf,
  ROOT,
  start,
  type Torture,
  torture,
  until,
} from '../support/torture.js';

const TORTURE = join(ROOT, 'bin/torture.mjs');
const BUSY = ['--nemesis', 'none', '--hold', '0x..0.001x', '--wait', '0ms'];

/** For the length of one start: a run's processes inherit it. */
function withEnvironment<T>(variables: Record<string, string>, run: () => T): T {
  Object.assign(process.env, variables);
  try {
    return run();
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
}

const ended: Torture[] = [];
afterEach(() => {
  for (const run of ended.splice(0)) endAll(run);
});
function startWith(variables: Record<string, string>, args: readonly string[]): Torture {
  const run = withEnvironment(variables, () => start(args));
  ended.push(run);
  return run;
}
const innerOf = (run: Torture) =>
  processesOf(run.mark).find(({ command }) => /^\S*node .*inside-main\.js/.test(command));
const resultsOf = (run: Torture): Ended['results'] =>
  JSON.parse(readFileSync(join(run.out, 'latest/results.json'), 'utf8'));

/** In a mount namespace of its own runs `script` with `$DISK` and, as its arguments, a run that writes to that folder. */
function onDisk(disk: string, script: string, variables: Record<string, string> = {}, args: readonly string[] = []) {
  const [unshare, ...inside] = inMountNamespace;
  const run = [process.execPath, TORTURE, '--runtime', 'netns', '--out', disk, ...BUSY, ...args];
  const env = { DISK: disk, ...variables };
  return execa(unshare!, [...inside, 'sh', '-c', script, 'sh', ...run], { reject: false, env, stdin: 'ignore' });
}

describe('a disk that fills up', { tags: ['mounts'] }, () => {
  /** Runs on a disk of its own, keeps a copy of what is on it at the end, fills what is left and judges once more. */
  async function onTinyDisk(args: readonly string[]) {
    const [disk, copy] = [freshFolder(), freshFolder()];
    const script = `
      mount -t tmpfs -o size=3m tmpfs "$DISK" || exit 99
      "$@"; status=$?
      cp -a "$DISK"/. "$COPY"
      head -c 9m /dev/zero > "$DISK/filler" 2>/dev/null
      "$NODE" "$TORTURE" check "$DISK/latest" > "$COPY/check.out" 2> "$COPY/check.err"
      echo $? > "$COPY/check.status"
      exit $status`;
    const { exitCode, stdout, stderr } = await onDisk(
      disk,
      script,
      { COPY: copy, NODE: process.execPath, TORTURE },
      args,
    );
    const text = (name: string) => readFileSync(join(copy, name), 'utf8');
    const check = { status: Number(text('check.status')), output: text('check.out'), errors: text('check.err') };
    return { status: exitCode, output: stdout, errors: stderr, folder: join(copy, 'latest'), check };
  }

  test('the run ends early, healed and complete, with "cannot tell"; so does one whose results cannot be written', async () => {
    const run = await onTinyDisk([
      '--clients',
      '8',
      '--keys',
      '8',
      '--time-limit',
      '60s',
      '--persistence',
      'aof-always',
    ]);
    const { rare, torn } = await readHistory(join(run.folder, 'history.jsonl'));
    expect(torn).toBe(false);
    expect(rare.findLast(({ type }) => type === 'phase')).toMatchObject({ phase: 'end' });
    expect(rare.at(-1)!.atNs).toBeLessThan(50e9);
    expect(run.output).toMatch(
      /^Cannot tell: the disk was full at \d+\.\d+ s, .*free some space, or give --out on another disk/m,
    );
    expect(run.errors).not.toMatch(/\n\s+at /);
    expect(run.status).toBe(2);
    for (const file of ['results.json', 'report.html', 'junit.xml']) expect(readdirSync(run.folder)).toContain(file);
    expect(readdirSync(run.folder)).not.toContain('reserve');

    expect(run.check.status).toBe(2);
    expect(run.check.output).toMatch(/^Cannot tell: the disk was full/m);
    // After the dots, if judging took that long.
    expect(run.check.errors.trim()).toMatch(/^(?:\.[.\d]*\n)?lock-torture: could not write .*report\.html.*ENOSPC.*$/);
  });

  test('a violation that was recorded before outranks it', async () => {
    const run = await onTinyDisk([
      '--clients',
      '8',
      '--keys',
      '1',
      '--time-limit',
      '60s',
      '--lock',
      'broken/shared-owner',
    ]);
    expect(run.output).toMatch(/^Note: the disk was full/m);
    expect(run.status).toBe(1);
    expect(run.check.status).toBe(1);
  });
});

describe('a place that cannot be written', () => {
  test.each([
    ['a folder that cannot be made', () => '/proc/nowhere/runs'],
    [
      'a file',
      () => {
        const file = join(freshFolder(), 'file');
        writeFileSync(file, '');
        return file;
      },
    ],
  ])('%s: exit 3 and one line', async (_, out) => {
    const where = out();
    const run = await torture(['--out', where, ...BUSY]);
    expect(run.errors.trim()).toMatch(new RegExp(`^lock-torture: cannot create ${where}`));
    expect(run.errors.trim().split('\n')).toHaveLength(1);
    expect(run.status).toBe(3);
  });

  test('a disk without room for a run: exit 3 and one line', { tags: ['mounts'] }, async () => {
    const disk = freshFolder();
    const script = 'mount -t tmpfs -o size=200k tmpfs "$DISK" && exec "$@"';
    const run = await onDisk(disk, script);
    expect(run.stderr).toMatch(/^lock-torture: the disk was full \(ENOSPC.*--out on another disk$/);
    expect(run.exitCode).toBe(3);
  });
});

describe('clients that do not behave', () => {
  const lock = ['--lock', join(ROOT, 'test/fixtures/locks/rogue.mjs')];
  const acquired = (events: readonly HistoryEvent[], client: string) =>
    events.filter((event) => event.type === 'ok' && event.op === 'acquire' && event.client === client).length;

  test('floods on any output are cut off; the other clients work on, and memory does not grow', async () => {
    const rogues = { c1: 'steps', c2: 'answers', c3: 'one line', c4: 'errors' };
    const args = [...lock, ...BUSY, '--clients', '7', '--keys', '7', '--time-limit', '7s'];
    const run = startWith({ ROGUES: JSON.stringify(rogues) }, args);
    let mostKb = 0;
    const inner = await until('the inner process', () => innerOf(run));
    const sampling = setInterval(() => {
      try {
        const [, kb] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${inner.pid}/status`, 'utf8')) ?? [];
        mostKb = Math.max(mostKb, Number(kb ?? 0)); // one that has just ended has no memory any more
      } catch {
        // it has ended
      }
    }, 100);
    const { code } = await run.ended;
    clearInterval(sampling);
    const events = historyOf(run);
    for (const client of ['c1', 'c2', 'c3']) {
      const down = events.find((event) => event.type === 'client-down' && event.client === client);
      expect(down, client).toMatchObject({ reason: expect.stringMatching(/^protocol: /) });
    }
    for (const client of ['c5', 'c6', 'c7']) expect(acquired(events, client), client).toBeGreaterThanOrEqual(5);
    expect(statSync(join(run.out, 'latest/logs/c4.log')).size).toBeGreaterThan(1e6);
    expect(statSync(join(run.out, 'latest/logs/c4.log')).size).toBeLessThan(9e6);
    expect(statSync(join(run.out, 'latest/history.jsonl')).size).toBeLessThan(20e6);
    expect(mostKb).toBeLessThan(300_000);
    expect(resultsOf(run).violations).toEqual([]);
    expect([0, 2]).toContain(code);
    expect(processesOf(run.mark)).toEqual([]);
  });

  test('no answer to an acquire or a release, deaf to the end, stopped by itself: the run ends all the same', async () => {
    const rogues = { c1: 'acquire', c2: 'release', c3: 'ears closed', c4: 'stops itself' };
    const args = [...lock, ...BUSY, '--clients', '6', '--keys', '3', '--time-limit', '10s', '--lease', '4s'];
    const run = startWith({ ROGUES: JSON.stringify(rogues) }, args);
    const { code } = await run.ended;
    const events = historyOf(run);
    const unknown = (client: string, op: string) =>
      events.some((event) => event.type === 'info' && event.op === op && event.client === client);
    expect(unknown('c1', 'acquire')).toBe(true);
    expect(unknown('c2', 'release')).toBe(true);
    expect(unknown('c4', 'acquire')).toBe(true);
    for (const client of ['c3', 'c5', 'c6']) expect(acquired(events, client), client).toBeGreaterThanOrEqual(5);
    expect(events.findLast(({ type }) => type === 'phase')).toMatchObject({ phase: 'end' });
    expect(run.output()).toContain('not everything could be healed (c4 is still stopped)');
    // The one that never answers an acquire overstays; nothing else is found.
    const { violations } = resultsOf(run);
    expect(new Set(violations.map(({ kind }) => kind))).toEqual(new Set(['overstayed']));
    for (const { proof } of violations) expect(proof).toMatch(/^c1[. ]/);
    expect(code).toBe(1);
    expect(processesOf(run.mark)).toEqual([]);
  });
});

describe('servers that do not stay', () => {
  /** A redis-server that does something before it becomes the real one. */
  async function redisThat(first: string): Promise<string> {
    const { path, env } = await findRedis({ cacheFolder: cacheFolder(), say: () => {} });
    const file = join(freshFolder(), 'redis-server');
    const variables = Object.entries(env).map(([name, value]) => `export ${name}='${value}'`);
    const real = `'${path}'`;
    const version = `case "$1" in --version|-v) exec ${real} "$@";; esac`;
    writeFileSync(
      file,
      ['#!/bin/sh', ...variables, version, first.replaceAll('REDIS', real), `exec ${real} "$@"`].join('\n'),
    );
    chmodSync(file, 0o755);
    return file;
  }
  /** Redis writes its title over its environment, so it is found by whose child it is. */
  function aServerOf(run: Torture): number {
    const inner = innerOf(run)!;
    const server = readdirSync('/proc').find((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        return /^Name:\s+redis-server$/m.test(status) && new RegExp(`^PPid:\\s+${inner.pid}$`, 'm').test(status);
      } catch {
        return false; // no process, or gone while we looked
      }
    });
    if (!server) throw new Error('no redis-server among the children of the inner process');
    return Number(server);
  }
  const oneLine = (run: Ended) => {
    expect(run.errors.trim().split('\n')).toHaveLength(1);
    expect(run.status).toBe(3);
    return run.errors.trim();
  };

  // One that Redis does not know: sharing/handshake.test.ts.
  test("a port that is taken: Redis's own message, in one line", async () => {
    // The first process gets the port; no other can be in the node's namespace before its Redis. On the machine itself, where the
    // tool tries what a Redis can do, it must not be begun: it would stay there.
    const first =
      'REDIS --port 6379 --bind 0.0.0.0 --save "" --dir /tmp > /dev/null & until grep -q :18EB /proc/net/tcp; do sleep 0.05; done';
    const redis = await redisThat(`case "$(uname -n)" in r1) ${first};; esac`);
    const run = await torture([...BUSY, '--redis', redis]);
    expect(oneLine(run)).toMatch(/^lock-torture: r1: .*Address already in use/);
  });

  test('one that is killed from outside: reported when it happens and in the verdict, and the lock is not blamed', async () => {
    const run = startWith({}, [
      '--topology',
      'redlock',
      '--nemesis',
      'none',
      '--hold',
      '0.01x..0.05x',
      '--time-limit',
      '6s',
    ]);
    await until('the torture phase', () =>
      historyOf(run).some((event) => event.type === 'phase' && event.phase === 'torture'),
    );
    process.kill(aServerOf(run), 'SIGKILL');
    await until('the news', () => /failed\s+server r\d/.test(run.output()));
    const { code } = await run.ended;
    expect(run.output()).toMatch(
      /^Cannot tell: at \d+\.\d+ s r\d ended by itself: killed by something outside of the run/m,
    );
    expect(resultsOf(run).violations).toEqual([]);
    expect(code).toBe(2);
  });
});

describe("a step of the machine's own clock", { tags: ['compiler'] }, () => {
  /** The project's shim under another variable: below it, so that the run's own skews come on top, as in life. */
  async function machineClock() {
    const folder = freshFolder();
    const source = readFileSync(join(ROOT, 'harness/native/clock-shim.c'), 'utf8');
    writeFileSync(join(folder, 'machine.c'), source.replaceAll('LOCK_TORTURE_CLOCK', 'MACHINE_CLOCK'));
    const library = join(folder, 'machine.so');
    await execa('cc', ['-O2', '-shared', '-fPIC', '-o', library, join(folder, 'machine.c')]);
    const file = join(folder, 'clock');
    const fd = openSync(file, 'w+');
    const set = (offsetMs: number) =>
      writeSync(fd, encodeSkew({ offsetMs, ratePpm: 0 }, monotonicNs()), 0, undefined, 0);
    set(0);
    return { env: { LD_PRELOAD: library, MACHINE_CLOCK: file }, set, [Symbol.dispose]: () => closeSync(fd) };
  }

  test.each([
    [
      'forward',
      60_000,
      /need not be the lock's doing: .* certainly held .* the machine's own clock was stepped by (60000|59999|60001) ms/,
    ],
    [
      'back',
      -60_000,
      /an overlap may be hidden: leases were counted by the machine's own clock, which was stepped by -(60000|59999|60001) ms/,
    ],
  ])('%s: whatever came of it is not laid at the door of the lock', async (_, stepMs, says) => {
    using clock = await machineClock();
    const args = [
      '--nemesis',
      'none',
      '--clients',
      '5',
      '--keys',
      '3',
      '--hold',
      '0.4x..0.8x',
      '--lease',
      '4s',
      '--time-limit',
      '10s',
    ];
    const run = startWith(clock.env, args);
    // All keys have been held for a little while, so that their holders work on when the keys are gone.
    const held = await until('locks that are held', () => {
      const granted = historyOf(run).flatMap((event) =>
        event.type === 'ok' && event.op === 'acquire' ? [event.key] : [],
      );
      return new Set(granted).size === 3;
    });
    expect(held).toBe(true);
    clock.set(stepMs);
    const { code } = await run.ended;
    expect(
      historyOf(run).filter((event) => event.type === 'disturbance' && event.disturbance === 'wall-clock-step'),
    ).toHaveLength(1);
    expect(resultsOf(run).violations).toEqual([]);
    expect(resultsOf(run).reasons.join('\n')).toMatch(says);
    expect(code).toBe(2);
  });
});

// Fifty programs take their time to start where others want the processor, too.
test('fifty clients: all come up, none is accused, all are gone soon', async () => {
  const run = startWith({}, ['--clients', '50', '--nemesis', 'none', '--time-limit', '6s', '--hold', '0.01x..0.05x']);
  const { code } = await run.ended;
  expect(run.output()).toMatch(/^50 clients of lock/m);
  expect(resultsOf(run).violations).toEqual([]);
  // A machine that has other things to do makes the harness stand still, and then it cannot tell.
  const stalled = historyOf(run).some((event) => event.type === 'disturbance');
  expect(stalled ? [0, 2] : [0], run.output()).toContain(code);
  expect(processesOf(run.mark)).toEqual([]);
}, 300_000);

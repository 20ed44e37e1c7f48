/**
 * The clock shim in the three programs that matter, each already running when its clock is moved: a real redis-server
 * (with the allocator it was built with), Node and Python.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildClockShim, clockEnv, encodeSkew, tryClockShim } from '../../../../harness/machine/clock-shim.js';
import { cacheFolder, findRedis } from '../../../../harness/machine/redis-binary.js';
import type { ClockSkew } from '../../../../harness/vocabulary/host.js';

const HOUR_MS = 3_600_000;
const YEARS_MS = 20 * 365 * 24 * HOUR_MS;

let folder: string;
let shimPath: string;
const said: string[] = [];
const say = (line: string) => said.push(line);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clock-shim-test-'));
  const shim = await buildClockShim({ cacheFolder: join(folder, 'cache'), say });
  if ('unavailable' in shim) throw new Error(shim.unavailable);
  shimPath = shim.path;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A running program that tells its clocks. */
interface Program {
  wallMs(): Promise<number>;
  /** Absent where the program has no command for it. */
  monotonicNs?(): Promise<number>;
  stderr(): string;
}

let clockFile: string;
let clockFd: number;
let children: ChildProcess[];
let closers: (() => void)[];

beforeEach(() => {
  clockFile = join(folder, `clock-${process.hrtime.bigint()}`);
  clockFd = openSync(clockFile, 'w+');
  setClock({ offsetMs: 0, ratePpm: 0 });
  children = [];
  closers = [];
});

afterEach(() => {
  for (const close of closers) close();
  for (const child of children) child.kill('SIGKILL');
  closeSync(clockFd);
});

const monotonicNowNs = () => Number(process.hrtime.bigint());

function setClock(skew: ClockSkew, sinceNs = monotonicNowNs()): void {
  writeSync(clockFd, encodeSkew(skew, sinceNs), 0, undefined, 0);
}

function launch(argv: string[], env: Record<string, string> = {}): { child: ChildProcess; stderr: () => string } {
  const [command, ...args] = argv;
  const child = spawn(command!, args, { env: { ...process.env, ...clockEnv(shimPath, clockFile), ...env } });
  children.push(child);
  let stderr = '';
  child.stderr!.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  return { child, stderr: () => stderr };
}

/** A program that answers every line with a line: wall ms and monotonic ns. */
function answering(argv: string[]): Program {
  const { child, stderr } = launch(argv);
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  const ask = async () => {
    child.stdin!.write('?\n');
    const { value, done } = await lines.next();
    if (done) throw new Error(`${argv[0]} ended: ${stderr()}`);
    return value.split(' ').map(Number);
  };
  return { wallMs: async () => (await ask())[0]!, monotonicNs: async () => (await ask())[1]!, stderr };
}

const programs: Record<string, () => Promise<Program>> = {
  node: async () =>
    answering([
      process.execPath,
      '-e',
      "require('readline').createInterface(process.stdin).on('line', () => console.log(Date.now() + ' ' + process.hrtime.bigint()))",
    ]),
  'python: time.time': async () =>
    answering([
      'python3',
      '-uc',
      'import sys, time\nfor line in sys.stdin: print(time.time() * 1000, time.monotonic_ns())',
    ]),
  'python: datetime': async () =>
    answering([
      'python3',
      '-uc',
      'import sys, time, datetime\nfor line in sys.stdin: print(datetime.datetime.now().timestamp() * 1000, time.monotonic_ns())',
    ]),
  'redis-server': async () => {
    const redis = await redisServer();
    const wallMs = async () => {
      const [seconds, micros] = await redis.client.time();
      return Number(seconds) * 1000 + Number(micros) / 1000;
    };
    return { wallMs, stderr: redis.stderr };
  },
};

async function redisServer(): Promise<{ client: Redis; stderr: () => string }> {
  const { path, env } = await findRedis({ cacheFolder: cacheFolder(), say });
  const socket = `${clockFile}.sock`;
  const { stderr } = launch([path, '--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder], env);
  const client = new Redis({ path: socket, retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on('error', () => {}); // until it listens; a server that never does shows as a test that times out
  closers.push(() => client.disconnect());
  await client.ping();
  return { client, stderr };
}

/** The program's wall clock minus the machine's; exact but for the time between two readings of the machine's. */
async function skewMs(program: Program): Promise<{ atLeast: number; atMost: number }> {
  const before = Date.now();
  const told = await program.wallMs();
  const after = Date.now() + 1; // both cut off their last part of a millisecond
  return { atLeast: told - after, atMost: told + 1 - before };
}

async function expectSkew(program: Program, expectedMs: number, toleranceMs = 0): Promise<void> {
  const { atLeast, atMost } = await skewMs(program);
  expect(atLeast).toBeLessThanOrEqual(expectedMs + toleranceMs);
  expect(atMost).toBeGreaterThanOrEqual(expectedMs - toleranceMs);
}

const isPython = (name: string) => name.startsWith('python');
const programsOf = (whose: 'machine' | 'python') =>
  Object.entries(programs).filter(([name]) => isPython(name) === (whose === 'python'));

describe('the clock shim', { tags: ['native'] }, () => {
  describe.each(programsOf('machine'))('%s', (_, startProgram) => followsTheFile(startProgram));

  describe.each(programsOf('python'))('%s', { tags: ['python'] }, (_, startProgram) => followsTheFile(startProgram));

  function followsTheFile(startProgram: () => Promise<Program>): void {
    it("has the machine's clock until it is moved, and follows every move with its next reading", async () => {
      const program = await startProgram();
      await expectSkew(program, 0);
      // Almost a second, so that the seconds carry.
      for (const offsetMs of [HOUR_MS, -HOUR_MS, 999.5, -999.5, YEARS_MS + 1.5, -YEARS_MS - 0.75, 0]) {
        setClock({ offsetMs, ratePpm: 0 });
        await expectSkew(program, offsetMs);
      }
      expect(program.stderr()).toBe('');
    });

    it('starts with a clock that was moved before', async () => {
      setClock({ offsetMs: -HOUR_MS, ratePpm: 0 });
      await expectSkew(await startProgram(), -HOUR_MS);
    });

    it('drifts from where the drift began', async () => {
      const program = await startProgram();
      setClock({ offsetMs: HOUR_MS, ratePpm: 1000 });
      await expectSkew(program, HOUR_MS, 1);
      const tenSecondsAgo = monotonicNowNs() - 10e9;
      setClock({ offsetMs: 0, ratePpm: 100_000 }, tenSecondsAgo);
      await expectSkew(program, 1000, 0.1 * ((monotonicNowNs() - tenSecondsAgo) / 1e6 - 10_000) + 100);
      setClock({ offsetMs: 0, ratePpm: -100_000 }, tenSecondsAgo);
      await expectSkew(program, -1000, 0.1 * ((monotonicNowNs() - tenSecondsAgo) / 1e6 - 10_000) + 100);
    });
  }

  it('node keeps its monotonic clock', () => keepsMonotonicClock('node'));

  it('python: time.time keeps its monotonic clock', { tags: ['python'] }, () =>
    keepsMonotonicClock('python: time.time'),
  );

  async function keepsMonotonicClock(name: string): Promise<void> {
    const { monotonicNs } = await programs[name]!();
    for (const skew of [
      { offsetMs: HOUR_MS, ratePpm: 0 },
      { offsetMs: -HOUR_MS, ratePpm: 500_000 },
    ]) {
      setClock(skew);
      const before = monotonicNowNs();
      const told = await monotonicNs!();
      const after = monotonicNowNs();
      expect(told).toBeGreaterThanOrEqual(before);
      expect(told).toBeLessThanOrEqual(after);
    }
  }

  describe('a skewed Redis', () => {
    it('expires a key when its clock jumps past the expiry, and not before', async () => {
      const { client } = await redisServer();
      await client.set('lock', 'mine', 'PX', HOUR_MS);
      setClock({ offsetMs: HOUR_MS / 2, ratePpm: 0 });
      expect(await client.get('lock')).toBe('mine');
      setClock({ offsetMs: HOUR_MS + 1, ratePpm: 0 });
      expect(await client.get('lock')).toBeNull();
    });
  });

  describe('a clock that changes while it is read', () => {
    it('is not read while its writer is held up between two fields', { tags: ['python'] }, async () => {
      const program = await programs['python: time.time']!();
      const whole = encodeSkew({ offsetMs: HOUR_MS, ratePpm: 1000 }, monotonicNowNs());
      writeSync(clockFd, whole, 0, 8, 0);
      const told = program.wallMs();
      const first = await Promise.race([
        told.then(() => 'told'),
        new Promise((done) => setTimeout(done, 200, 'not yet')),
      ]);
      writeSync(clockFd, whole, 0, undefined, 0);
      expect(first).toBe('not yet');
      expect(Math.abs((await told) - Date.now() - HOUR_MS)).toBeLessThan(HOUR_MS / 2);
    });

    it('is the old one or the new one, never a mixture', async () => {
      const old = { skew: { offsetMs: HOUR_MS, ratePpm: 0 }, since: 0 };
      const drifting = { skew: { offsetMs: 0, ratePpm: 1_000_000 }, since: monotonicNowNs() };
      setClock(old.skew, old.since);
      // A mixture has the new rate since the old time: off by as long as the machine has been up.
      const reader = `
      const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
      const sinceMs = ${drifting.since} / 1e6;
      // The machine's wall clock less its monotonic one, from a reading that nothing interrupted.
      let machineMs, tookMs;
      do {
        const before = nowMs();
        machineMs = Date.now() - ${HOUR_MS} - before;
        tookMs = nowMs() - before;
      } while (tookMs > 1);
      process.stdout.write('reading\\n');
      let mixtures = [], olds = 0, news = 0;
      for (let i = 0; i < 3000000; i++) {
        const before = nowMs(), told = Date.now() - machineMs, after = nowMs();
        const within = (from, to) => from - 5 < told && told < to + 5;
        if (within(before + ${HOUR_MS}, after + ${HOUR_MS})) olds++;
        else if (within(2 * before - sinceMs, 2 * after - sinceMs)) news++;
        else mixtures.push({ before, told, after });
      }
      process.stdout.write(JSON.stringify({ mixtures, switched: olds > 0 && news > 0 }) + '\\n');`;
      const { child } = launch([process.execPath, '-e', reader]);
      const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
      expect((await lines.next()).value).toBe('reading');
      let result: string | undefined;
      const finished = lines.next().then(({ value }) => {
        result = value;
      });
      while (result === undefined) {
        for (let i = 0; i < 2000; i++) {
          setClock(drifting.skew, drifting.since);
          setClock(old.skew, old.since);
        }
        await new Promise(setImmediate);
      }
      await finished;
      expect(JSON.parse(result)).toEqual({ mixtures: [], switched: true });
    });
  });

  describe('a process without a clock file', () => {
    it("has the machine's clock and says so", async () => {
      const before = Date.now();
      const { child, stderr } = launch([process.execPath, '-p', 'Date.now()'], {
        LOCK_TORTURE_CLOCK: join(folder, 'no-such-file'),
      });
      let stdout = '';
      child.stdout!.setEncoding('utf8').on('data', (text) => {
        stdout += text;
      });
      await new Promise((resolve) => child.on('close', resolve));
      expect(Number(stdout)).toBeGreaterThanOrEqual(before);
      expect(Number(stdout)).toBeLessThanOrEqual(Date.now());
      expect(stderr()).toContain('LOCK_TORTURE_CLOCK cannot be mapped');
    });
  });

  describe('compiling', { tags: ['compiler'] }, () => {
    /** It has no prebuilt one. */
    const compile = (cache: string, toSay = say) =>
      buildClockShim({ cacheFolder: cache, prebuiltFolder: join(folder, 'none'), say: toSay });

    it('happens once, and says so', async () => {
      const cache = join(folder, 'once');
      const lines: string[] = [];
      const build = () => compile(cache, (line) => lines.push(line));
      const first = await build();
      expect(lines).toEqual(['compiling the clock shim (first run)…']);
      expect(await build()).toEqual(first);
      expect(lines).toHaveLength(1);
      expect(readdirSync(join(cache, 'clock-shim'))).toHaveLength(1);
    });

    it('may happen twice at once', async () => {
      const cache = join(folder, 'twice');
      const [one, other] = await Promise.all([1, 2].map(() => compile(cache)));
      expect(one).toEqual({ path: expect.stringContaining(cache) });
      expect(other).toEqual(one);
      expect(readdirSync(join(cache, 'clock-shim'))).toHaveLength(1);
    });

    it.each([
      [
        'no compiler',
        () => ({ PATH: '/nonexistent' }),
        () => join(folder, 'none'),
        /none of cc, gcc, clang \(the prebuilt clock-shim cannot be read .*\): install a C compiler/,
      ],
      [
        'a compiler without headers',
        brokenCompiler,
        () => join(folder, 'broken'),
        /does not compile \(cc: .*dlfcn\.h: No such file.*\): install a C compiler/,
      ],
      [
        'a cache that cannot be written',
        () => ({}),
        () => '/dev/null/cache',
        /cannot be kept in .*ENOTDIR.*: set LOCK_TORTURE_CACHE/,
      ],
      [
        'a path that the loader would split',
        () => ({}),
        () => join(folder, 'a b'),
        /cannot preload from .*: set LOCK_TORTURE_CACHE/,
      ],
    ])('with %s says why there is none, and what to do', async (_, env, cache, message) => {
      const path = process.env.PATH;
      Object.assign(process.env, env());
      try {
        const shim = await compile(cache());
        expect(shim).toEqual({
          unavailable: expect.stringMatching(message),
          problem: expect.any(String),
          remedy: expect.any(String),
        });
      } finally {
        process.env.PATH = path;
      }
    });

    function brokenCompiler(): Record<string, string> {
      const tools = join(folder, 'tools');
      mkdirSync(tools, { recursive: true });
      const fd = openSync(join(tools, 'cc'), 'w', 0o755);
      writeSync(fd, '#!/bin/sh\necho "shim.c:24:10: fatal error: dlfcn.h: No such file or directory" >&2\nexit 1\n');
      closeSync(fd);
      return { PATH: `${tools}:${process.env.PATH}` };
    }
  });

  describe('tryClockShim', () => {
    it('finds a working shim to be one', async () => {
      expect(existsSync(shimPath)).toBe(true);
      expect(await tryClockShim(shimPath, folder)).toBeUndefined();
    });

    it('detects one that has no effect', async () => {
      expect(await tryClockShim(join(folder, 'no-shim.so'), folder)).toMatch(
        /has no effect.*an hour ahead.*cannot be preloaded/,
      );
    });
  });
});

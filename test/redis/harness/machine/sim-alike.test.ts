/**
 * A server in virtual time answers as the same program does without the shim: random commands such as locks are made of, sent to
 * both, each at the instant at which the other got it.
 *
 * Excludes what chance or the machine decides in both: what SPOP takes, in which order a set is listed, INFO.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { privateFolder } from '../../../../harness/machine/private-folder.js';
import { cacheFolder, findRedis } from '../../../../harness/machine/redis-binary.js';
import { buildSimShim } from '../../../../harness/machine/sim-shim.js';
import { RespReader, type RespValue } from '../../../../harness/record/facts/resp.js';
import { PipePool, type Said } from '../../../../harness/runtimes/sim/shim-channel.js';
import { WarmServers } from '../../../../harness/runtimes/sim/warm-servers.js';
import type { RedisBinary } from '../../../../harness/vocabulary/topology.js';
import { drawn } from '../../../support/drawn.js';
import { namedServerHere } from '../../../support/named-server.js';
import { startRedis } from '../../../support/redis-server.js';
import { type Argv, type Known, type Step, steps } from '../record/facts/commands/arbitrary.js';

const SEQUENCES = 60;
/** The wall clock of a world begins here (`sim-shim.c`). */
const EPOCH_NS = 1_700_000_000e9;
const BEGIN_NS = 1e12;
const CLIENT = 2 ** 31;
/** Many looks at what has expired, so that a short wait holds one. */
const SETTINGS = ['--hz', '100', '--dynamic-hz', 'no', '--enable-debug-command', 'yes'];
/** Of the shortest leases that are drawn (5 ms) nothing is left then. */
const EXPIRED_AFTER_MS = 25;
/** Remaining times that are drawn are no shorter, and other numbers no longer, or far longer. */
const TIMES_MS = [500_000, 1e14] as const;

/** All that the server has under the keys, and what time it is. */
const LOOK = `
local all = {redis.call('time')}
for _, db in ipairs({0, 1}) do
  redis.call('select', db)
  for _, key in ipairs({'k1', 'k2', 'k3'}) do
    local kind = redis.call('type', key).ok
    local one = {kind, redis.call('pttl', key)}
    if kind == 'string' then one[3] = redis.call('get', key)
    elseif kind == 'hash' then one[3] = redis.call('hgetall', key)
    elseif kind == 'set' then local members = redis.call('smembers', key) table.sort(members) one[3] = members
    elseif kind == 'zset' then one[3] = redis.call('zrange', key, 0, -1, 'withscores')
    elseif kind == 'list' then one[3] = redis.call('lrange', key, 0, -1)
    end
    all[#all + 1] = one
  end
end
return all`;
const CALL = `for _, argv in ipairs(cjson.decode(ARGV[1])) do redis.call(unpack(argv)) end`;
const PCALL = `for _, argv in ipairs(cjson.decode(ARGV[1])) do redis.pcall(unpack(argv)) end`;

const SCRIPTS = [
  `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end`,
  `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], 1000000) end return 0`,
  `if redis.call('exists', KEYS[1]) == 0 then
     redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], 1000000) return nil
   end
   return redis.call('pttl', KEYS[1])`,
  `redis.call('zremrangebyscore', KEYS[1], '-inf', redis.call('time')[1] - 5)
   redis.call('zadd', KEYS[1], redis.call('time')[1], ARGV[1]) return redis.call('zcard', KEYS[1])`,
  `return {math.random(1000), math.random(1000), tostring(1 / 3), redis.sha1hex(ARGV[1])}`,
  `return redis.call('incr', KEYS[1]) .. nothing`,
];
const key = fc.constantFrom('k1', 'k2', 'k3');
const owner = fc.constantFrom('a', 'b', '5');
const sha = (script: string) => createHash('sha1').update(script).digest('hex');
const script = fc.tuple(fc.constantFrom(...SCRIPTS), key, owner, fc.constantFrom('EVAL', 'EVALSHA'));
const fixed: readonly Argv[] = [
  ...SCRIPTS.map((one) => ['SCRIPT', 'LOAD', one]),
  ['SCRIPT', 'EXISTS', ...SCRIPTS.map(sha)],
  ['SCRIPT', 'FLUSH'],
  ['WAIT', '1', '5'],
  ['SUBSCRIBE', 'k1'],
  ['PING', 'x'],
  ['DBSIZE'],
  ['SET', 'k1'],
  ['NO-SUCH-COMMAND', 'k1'],
  ['CLIENT', 'SETNAME', 'c1'],
  ['CLIENT', 'GETNAME'],
  ['CLIENT', 'NO-EVICT', 'x'],
];
/** Beside what `steps` draws: reads, scripts as locks have them, waits that end by a clock. */
const ofLocks: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(key, owner).map(([one, by]): Step => [['SET', one, by, 'NX', 'PX', '1000000']]),
  {
    weight: 3,
    arbitrary: script.map(([text, one, by, how]): Step => [[how, how === 'EVAL' ? text : sha(text), '1', one, by]]),
  },
  fc.tuple(fc.constantFrom('BLPOP', 'BRPOP', 'BZPOPMIN'), key).map(([how, one]): Step => [[how, one, '0.01']]),
  fc
    .tuple(fc.constantFrom('TTL', 'TYPE', 'STRLEN', 'HLEN', 'LLEN', 'ZCARD', 'SCARD', 'HGETALL'), key)
    .map((argv): Step => [argv]),
  fc.tuple(fc.constantFrom('ENCODING', 'REFCOUNT'), key).map(([what, one]): Step => [['OBJECT', what, one]]),
  fc
    .constantFrom(...fixed)
    .map((argv): Step => (argv[0] === 'SUBSCRIBE' ? [argv, ['PING'], ['UNSUBSCRIBE', 'k1']] : [argv])),
);

interface Asked {
  argv: readonly string[];
  /** On this process's monotonic clock. */
  atMs: number;
  /** Until the answer: the server carried it out within this. */
  tookMs: number;
  reply: RespValue;
}

/** Answers what it is asked, one question after the other. */
type Ask = (argv: readonly string[]) => Promise<Asked>;

function sent(argv: readonly string[]): readonly string[] {
  const [, how, commands] = argv;
  return argv[0] === 'CALL' ? ['EVAL', how === 'call' ? CALL : PCALL, '0', commands!] : argv;
}

function bytesOf(argv: readonly string[]): Buffer {
  const words = argv.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return Buffer.from(`*${argv.length}\r\n${words.join('')}`);
}

async function plainServer(program: RedisBinary) {
  const server = await startRedis('r1', SETTINGS, undefined, undefined, Promise.resolve(program));
  const stream = createConnection(server.endpoint.port, server.endpoint.host).setNoDelay();
  const reader = new RespReader();
  const replies: RespValue[] = [];
  let arrived = () => {};
  stream.on('data', (bytes: Buffer) => {
    replies.push(...reader.read(bytes.toString('latin1')));
    arrived();
  });
  const ask: Ask = async (argv) => {
    const atMs = performance.now();
    stream.write(bytesOf(argv));
    while (replies.length === 0)
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    return { argv, atMs, tookMs: performance.now() - atMs, reply: replies.shift()! };
  };
  const close = async () => {
    stream.destroy();
    await server[Symbol.asyncDispose]();
  };
  return { ask, close };
}

/** The same program in virtual time. */
function simServer({ path, loader = [], env }: RedisBinary, shim: string, folder: string) {
  const cwd = join(folder, 'host');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'redis.conf'), 'port 6379\nbind 10.77.0.2\nprotected-mode no\nsave ""\n');
  const argv = [...loader, path, 'redis.conf', ...SETTINGS];
  const own = { LD_PRELOAD: shim, SIM_SEED: '1', SIM_ADDRESS: '10.77.0.2', SIM_HOST: 'r1' };
  const channel = new WarmServers(new PipePool(folder)).startAlone({
    argv,
    env: { ...env, ...own },
    cwd,
    log: join(folder, 'log'),
    nowNs: BEGIN_NS,
  });
  const reader = new RespReader();
  const replies: RespValue[] = [];
  let nowNs = BEGIN_NS;
  const did = (said: Said[] | undefined): Said[] => {
    if (!said) throw new Error(`the server in virtual time ended: see ${join(folder, 'log')}`);
    for (const one of said) if (one.kind === 'send') replies.push(...reader.read(one.bytes.toString('latin1')));
    return said;
  };
  const heard = [...did(channel.first())];
  const listening = () => heard.find((one) => one.kind === 'listen');
  while (!listening() && channel.untilNs !== undefined) {
    nowNs = Math.max(nowNs, channel.untilNs);
    heard.push(...did(channel.step(nowNs, [])));
  }
  const listens = listening()!;
  did(channel.step(nowNs, [{ kind: 'accepted', id: listens.id, connection: CLIENT, address: '10.77.0.3', port: 1 }]));
  let since = { nowNs, atMs: 0 };
  /** From now on its time goes on from the instant that this process's clocks showed, whatever was played before. */
  const begin = (atMs: number, wallMs: number) => {
    since = { nowNs, atMs };
    did(channel.step(nowNs, [{ kind: 'clock', offsetNs: wallMs * 1e6 - EPOCH_NS - nowNs, ratePpb: 0, baseNs: nowNs }]));
  };
  /** Lets it do what its own timers ask for until then. */
  const advance = (toNs: number, isEnough = () => false) => {
    while (!isEnough() && channel.untilNs !== undefined && channel.untilNs <= toNs) {
      nowNs = Math.max(nowNs, channel.untilNs);
      did(channel.step(nowNs, []));
    }
    if (!isEnough()) nowNs = Math.max(nowNs, toNs);
  };
  const ask = (command: readonly string[], atMs: number): RespValue => {
    advance(since.nowNs + Math.round((atMs - since.atMs) * 1e6));
    did(channel.step(nowNs, [{ kind: 'data', id: CLIENT, bytes: bytesOf(command) }]));
    advance(nowNs + 10e9, () => replies.length > 0);
    const reply = replies.shift();
    if (!reply || replies.length > 0) throw new Error(`${command}: ${reply ? 'more than one answer' : 'no answer'}`);
    return reply;
  };
  return { begin, ask, close: () => channel.kill() };
}

/** Asks all of it, and after each step for the server's whole state. */
async function play(sequence: readonly Step[], ask: Ask): Promise<Asked[]> {
  const all: Asked[] = [];
  const asks = async (argv: readonly string[]) => void all.push(await ask(argv));
  await asks(['FLUSHALL']);
  await asks(['SCRIPT', 'FLUSH']);
  await asks(['CLIENT', 'SETNAME', '']);
  for (const step of sequence) {
    for (const argv of step) await asks(sent(argv));
    if (/\b(PX|PSETEX|H?PEXPIRE)\b/i.test(step.flat().join(' '))) {
      await new Promise((resolve) => setTimeout(resolve, EXPIRED_AFTER_MS));
      // What is due on a server that slept is done between two commands.
      await asks(['PING']);
    }
    await asks(['EVAL', LOOK, '0']);
  }
  return all;
}

/** `slackMs`: how far the clocks of the two may be from each other. */
function alike(one: RespValue, other: RespValue, slackMs: number): boolean {
  if (one.type === 'list' && other.type === 'list')
    return (
      one.items.length === other.items.length && one.items.every((item, n) => alike(item, other.items[n]!, slackMs))
    );
  if (one.type !== 'number' || other.type !== 'number') return JSON.stringify(one) === JSON.stringify(other);
  const [left, right] = [Number(one.text), Number(other.text)];
  const areTimes = [left, right].every((value) => value >= TIMES_MS[0] && value <= TIMES_MS[1]);
  return one.text === other.text || (areTimes && Math.abs(left - right) <= slackMs);
}

/** The time apart from the rest; compared in milliseconds. */
function readable(argv: readonly string[], reply: RespValue): RespValue {
  if (argv[1] !== LOOK || reply.type !== 'list') return reply;
  const [time, ...rest] = reply.items;
  const [seconds, micros] = time!.type === 'list' ? time!.items.map((one) => Number('text' in one ? one.text : 0)) : [];
  return { type: 'list', items: [{ type: 'number', text: `${seconds! * 1e3 + micros! / 1e3}` }, ...rest] };
}

async function knownTo(ask: Ask): Promise<Known> {
  const { reply } = await ask(['COMMAND']);
  if (reply.type !== 'list') throw new Error(JSON.stringify(reply));
  const names = reply.items.flatMap((one) =>
    one.type === 'list' && 'text' in one.items[0]! ? [one.items[0].text] : [],
  );
  const compares: string[] = [];
  for (const condition of ['IFEQ', 'IFNE'])
    if ((await ask(['SET', 'k1', 'v', condition, 'w'])).reply.type !== 'error') compares.push(condition);
  return { commands: new Set(names.map((name) => name.toUpperCase())), compares, functions: false };
}

/** Of a command that took longer it is not known what had expired by then: such an answer proves nothing. */
const KNOWN_WITHIN_MS = 4;
const PLAYS = 20;

/** The server that is here, or those whose names (`--server`) are in LOCK_TORTURE_TEST_SERVERS, with commas. */
const SERVERS = (process.env.LOCK_TORTURE_TEST_SERVERS ?? '').split(',');

test.for(SERVERS)(
  'it answers as without the shim, %s',
  { timeout: 3_600_000, tags: ['native'] },
  async (named, { skip }) => {
    const program =
      named === ''
        ? await findRedis({ cacheFolder: cacheFolder(), say: () => {} })
        : ((await namedServerHere(named)) ?? skip(`${named} cannot be had here`));
    using cache = privateFolder(tmpdir());
    const shim = await buildSimShim({ cacheFolder: cache.path, say: () => {} });
    if (!('path' in shim)) throw new Error(shim.unavailable);
    const plain = await plainServer(program);
    const sim = simServer(program, shim.path, cache.path);
    let compared = 0;
    const firstThatDiffers = (asked: readonly Asked[], slackMs: number): string | undefined => {
      for (const { argv, atMs, reply } of asked) {
        const answer = sim.ask(argv, atMs);
        compared++;
        if (!alike(readable(argv, reply), readable(argv, answer), slackMs))
          return `${argv.join(' ')}\n  ${JSON.stringify(reply)}\n  and in virtual time\n  ${JSON.stringify(answer)}`;
      }
      return undefined;
    };
    try {
      const known = await knownTo(plain.ask);
      const step = fc.oneof({ weight: 2, arbitrary: steps(known, { all: false }) }, { weight: 1, arbitrary: ofLocks });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20, size: 'max' }), async (sequence) => {
          for (let played = 1; ; played++) {
            const [beganMs, wallMs] = [performance.now(), Date.now()];
            const asked = await play(sequence, plain.ask);
            const slackMs = performance.now() - beganMs + 2;
            sim.begin(beganMs, wallMs);
            const differs = firstThatDiffers(asked, slackMs);
            if (differs === undefined) return;
            if (played === PLAYS || asked.every(({ tookMs }) => tookMs <= KNOWN_WITHIN_MS)) throw new Error(differs);
          }
        }),
        drawn(SEQUENCES),
      );
    } finally {
      sim.close();
      await plain.close();
    }
    expect(compared).toBeGreaterThan(SEQUENCES * 10);
  },
);

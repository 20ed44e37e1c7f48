/**
 * What the reading says against what a real server has: random commands, followed with MONITOR, and the server's whole state
 * asked after each. A claim that is not true is a defect, and so is knowing less than could be known.
 */
import { createConnection } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { score } from '../../../../../../harness/record/facts/commands/arguments.js';
import { ServerReading } from '../../../../../../harness/record/facts/commands/server-reading.js';
import {
  type HeldParts,
  type StoredState,
  stateBy,
  type Times,
} from '../../../../../../harness/record/facts/commands/state.js';
import { monitor } from '../../../../../../harness/topologies/monitor.js';
import type { MonitoredCommand, Monitoring } from '../../../../../../harness/vocabulary/topology.js';
import { drawn } from '../../../../../support/drawn.js';
import { startRedis, type TestRedis } from '../../../../../support/redis-server.js';
import { type Known, type Step, steps } from './arbitrary.js';

/** A hundred times as many in test:deep. */
const SEQUENCES = 100;
const KEYS = ['k1', 'k2', 'k3'];
const DBS = [0, 1];

/** Calls what it is given, one command after the other. */
const CALL = `for _, argv in ipairs(cjson.decode(ARGV[1])) do redis.call(unpack(argv)) end`;
const PCALL = `for _, argv in ipairs(cjson.decode(ARGV[1])) do redis.pcall(unpack(argv)) end`;
const LIBRARY = `#!lua name=calls
redis.register_function('calls', function(keys, args)
  for _, argv in ipairs(cjson.decode(args[1])) do redis.pcall(unpack(argv)) end
end)`;

/** All that the server has under the keys. */
const LOOK = `
local all = {}
for _, db in ipairs({0, 1}) do
  redis.call('select', db)
  for _, key in ipairs({'k1', 'k2', 'k3'}) do
    local kind = redis.call('type', key).ok
    local one = {kind, tostring(redis.call('pttl', key)), redis.call('time')}
    if kind == 'string' then one[4] = {redis.call('get', key)}
    elseif kind == 'hash' then one[4] = redis.call('hgetall', key)
    elseif kind == 'set' then one[4] = redis.call('smembers', key)
    elseif kind == 'zset' then one[4] = redis.call('zrange', key, 0, -1, 'withscores')
    elseif kind == 'list' then one[4] = redis.call('lrange', key, 0, -1)
    else one[4] = {} end
    all[#all + 1] = one
  end
end
return all`;

interface Stored {
  type: string;
  pttlMs: number;
  /** The server's clock when it had been looked at: a good deal after the script was printed, where the machine is busy. */
  atMs: number;
  items: string[];
}

let server: TestRedis;
let monitoring: Monitoring;
let known: Known;
let lines: MonitoredCommand[] = [];
let runs = 0;
let onLine: () => void = () => {};

/** Sends without waiting; answers come in the order of the questions, and an error is one. */
async function ask(...argv: readonly string[]): Promise<unknown> {
  const [name = '', ...args] = argv;
  return server.redis.call(name, ...args).catch((error: Error) => error);
}

beforeAll(async () => {
  server = await startRedis('r1', ['--enable-debug-command', 'yes']);
  const stream = createConnection(server.endpoint.port, server.endpoint.host);
  monitoring = await monitor(stream, (line) => {
    lines.push(line);
    onLine();
  });
  const infos = (await ask('COMMAND')) as unknown[][];
  const compares: string[] = [];
  for (const condition of ['IFEQ', 'IFNE'])
    if (!((await ask('SET', 'k1', 'v', condition, 'w')) instanceof Error)) compares.push(condition);
  known = {
    commands: new Set(infos.map(([name]) => String(name).toUpperCase())),
    compares,
    functions: !((await ask('FUNCTION', 'LOAD', 'REPLACE', LIBRARY)) instanceof Error),
  };
});

afterAll(async () => {
  monitoring?.close();
  await server?.[Symbol.asyncDispose]();
});

/** What became of a sequence: the server's state after each step, and all that MONITOR printed. */
async function run(sequence: readonly Step[]): Promise<{ lines: MonitoredCommand[]; looks: Map<string, Stored[]> }> {
  lines = [];
  const end = `end ${++runs}`;
  const seen = new Promise<void>((resolve, reject) => {
    void monitoring.closed.then((reason) => reject(new Error(`MONITOR: ${reason}`)));
    onLine = () => {
      if (lines.at(-1)!.argv[1] === end) resolve();
    };
  });
  void ask('FLUSHALL');
  const looks: [string, Promise<unknown>][] = [];
  for (const [at, step] of sequence.entries()) {
    for (const argv of step) void ask(...sent(argv));
    const name = `look ${at}`;
    looks.push([name, ask('EVAL', LOOK, '0', name)]);
  }
  await ask('ECHO', end);
  await seen;
  const stored = new Map<string, Stored[]>();
  for (const [name, look] of looks) stored.set(name, storedIn(await look));
  return { lines, looks: stored };
}

function sent(argv: readonly string[]): readonly string[] {
  if (argv[0] !== 'CALL') return argv;
  const [, how, commands] = argv as [string, string, string];
  if (how === 'function') return ['FCALL', 'calls', '0', commands];
  return ['EVAL', how === 'call' ? CALL : PCALL, '0', commands];
}

function storedIn(reply: unknown): Stored[] {
  if (!Array.isArray(reply)) throw new Error(`could not look: ${reply}`);
  return (reply as [string, string, [string, string], string[]][]).map(([type, pttl, [seconds, micros], items]) => ({
    type,
    pttlMs: Number(pttl),
    atMs: Number(seconds) * 1_000 + Number(micros) / 1_000,
    items,
  }));
}

interface Compared {
  wrong: string[];
  claims: number;
  knownClaims: number;
}

function compare(printed: readonly MonitoredCommand[], looks: ReadonlyMap<string, Stored[]>): Compared {
  const reading = new ServerReading({ follows: (key) => KEYS.includes(key), isWhole: true });
  const sum: Compared = { wrong: [], claims: 0, knownClaims: 0 };
  let looking = false;
  for (const [line, command] of printed.entries()) {
    const stored = looks.get(command.argv[3] ?? '');
    looking = command.source === 'lua' ? looking : stored !== undefined;
    // What the look itself reads is no part of the sequence.
    if (looking && command.source === 'lua') continue;
    reading.command({ ...command, line, atNs: line });
    if (!stored) continue;
    DBS.flatMap((db) => KEYS.map((key) => ({ db, key }))).forEach(({ db, key }, at) => {
      const { atMs } = stored[at]!;
      const now: Times = { fromMs: command.serverWallMs - 2, untilMs: atMs + 1 };
      const state = stateBy(reading.state(key, db), now);
      sum.claims++;
      if (isKnown(state)) sum.knownClaims++;
      const problem = problemOf(state, stored[at]!, now);
      if (problem) sum.wrong.push(`${command.argv[3]}: ${key} of ${db} ${problem}`);
    });
  }
  return sum;
}

function isKnown({ exists, held }: StoredState): boolean {
  if (exists === 'no') return true;
  if (exists === 'unknown' || !held) return false;
  if (held.type === 'string') return held.value !== undefined;
  if (held.type === 'list') return held.items !== undefined;
  return held.complete && [...held.parts.values()].every(({ there, value }) => there === 'yes' && value !== undefined);
}

/** What is claimed and is not so. */
function problemOf(state: StoredState, stored: Stored, now: Times): string | undefined {
  const { exists, held, expires } = state;
  const is = JSON.stringify(stored);
  if (stored.type === 'none') return exists === 'yes' ? `is not there, the reading says ${show(state)}` : undefined;
  if (exists === 'no') return `is ${is}, the reading says it is not there`;
  const untilMs = stored.pttlMs < 0 ? Infinity : now.untilMs + stored.pttlMs + 1;
  const fromMs = stored.pttlMs < 0 ? Infinity : now.fromMs + stored.pttlMs - 1;
  if (untilMs < expires.fromMs || fromMs > expires.untilMs)
    return `is ${is} at ${now.untilMs}, the reading says ${show(state)}`;
  if (!held) return undefined;
  const right = held.type === stored.type && holdsTrue(held, stored.items);
  return right ? undefined : `is ${is}, the reading says ${show(state)}`;
}

function holdsTrue(held: NonNullable<StoredState['held']>, items: string[]): boolean {
  if (held.type === 'string') return held.value === undefined || held.value === items[0];
  if (held.type === 'list')
    return held.items === undefined || JSON.stringify(held.items.map(({ value }) => value)) === JSON.stringify(items);
  const stored = partsIn(held, items);
  for (const [name, { there, value }] of held.parts) {
    if (there === 'no' ? stored.has(name) : there === 'yes' && !stored.has(name)) return false;
    const is = stored.get(name);
    if (is === undefined || value === undefined || there === 'no') continue;
    if (held.type === 'zset' ? score(value) !== score(is) : value !== is) return false;
  }
  return !held.complete || [...stored.keys()].every((name) => held.parts.has(name));
}

function partsIn({ type }: HeldParts, items: readonly string[]): Map<string, string> {
  if (type === 'set') return new Map(items.map((name) => [name, '']));
  const parts = new Map<string, string>();
  for (let at = 0; at < items.length; at += 2) parts.set(items[at]!, items[at + 1]!);
  return parts;
}

function show(state: StoredState): string {
  return JSON.stringify(state, (name, value) =>
    name === 'by' ? undefined : value instanceof Map ? [...value] : value,
  );
}

/** Without what the looks read. */
function printedWords(printed: readonly MonitoredCommand[]): string {
  let looking = false;
  const told = printed.filter(({ source, argv }) => {
    looking = source === 'lua' ? looking : /^look /.test(argv[3] ?? '');
    return !looking;
  });
  return told
    .map(({ serverWallMs, source, db, argv }) => `${serverWallMs} ${db ?? 0} ${source.slice(0, 4)} ${argv.join(' ')}`)
    .join('\n');
}

async function property(all: boolean, sum: Omit<Compared, 'wrong'>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps(known, { all }), { minLength: 1, maxLength: 20, size: 'max' }),
      async (sequence) => {
        const { lines: printed, looks } = await run(sequence);
        const { wrong, claims, knownClaims } = compare(printed, looks);
        sum.claims += claims;
        sum.knownClaims += knownClaims;
        if (wrong.length > 0) throw new Error(`${wrong[0]}\n${printedWords(printed)}`);
      },
    ),
    drawn(SEQUENCES),
  );
}

describe('what the reading says is so', () => {
  test(`in ${SEQUENCES} sequences of commands that it understands, and it says nearly everything`, {
    timeout: 3_600_000,
  }, async () => {
    const sum = { claims: 0, knownClaims: 0 };
    await property(false, sum);
    expect(sum.knownClaims / sum.claims).toBeGreaterThan(0.95);
  });

  test('of any commands', { timeout: 3_600_000 }, async () => {
    const sum = { claims: 0, knownClaims: 0 };
    await property(true, sum);
    expect(sum.knownClaims).toBeGreaterThan(0);
  });
});

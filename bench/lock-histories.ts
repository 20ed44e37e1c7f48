/**
 * Histories of one mutex that a simulated lock wrote, of any length: for measuring what it costs to decide them.
 *
 * Clients come back for the lock as soon as they have done something else for a while, so most of them wait at any time,
 * and any of them may be next. That is what is hard for a search: each grant might have gone to any client.
 */
import type { KeyHistory } from '../checkers/linearizability/types.js';
import { MODE, OP, OUTCOME } from '../harness/record/history-table.js';
import { createRandom } from '../harness/runtimes/random.js';
import type { Operations } from '../harness/vocabulary/history.js';
import type { Random } from '../harness/vocabulary/time.js';

export interface LockHistory {
  /** To the next round. */
  operations: number;
  clients: number;
  /** The part of operations whose outcome is not known: releases that took effect, and acquires that did not. */
  unknown: number;
  /** Whether the lock is granted once, late in the history, while somebody else certainly holds it. */
  overlap: boolean;
  seed: number;
}

const US = 1e3;
/** Bounds, each in ns: of a request on its way, of an answer on its way, of work under the lock, and of other work. */
const TIMES = {
  request: [5 * US, 50 * US],
  answer: [50 * US, 500 * US],
  hold: [0, 1_000 * US],
  away: [0, 2_000 * US],
} as const;
/** Where in the history the overlap is. */
const OVERLAP_AT = 0.95;
const OVERLAP_NS = 10_000 * US;

export function lockHistory(options: LockHistory): KeyHistory {
  const rows = new Rows(options.operations + 4);
  const random = createRandom(options.seed);
  const clients = Array.from({ length: options.clients }, (_, n) => new Client(`c${n + 1}`, rows));
  for (const client of clients) client.readyNs = drawn(random, TIMES.away);
  let overlapAt = options.overlap ? Math.floor(OVERLAP_AT * options.operations) : Number.POSITIVE_INFINITY;
  let nowNs = 0;
  while (rows.count < options.operations) {
    const client = luckyOne(clients, nowNs, random);
    nowNs = Math.max(nowNs, client.readyNs);
    if (rows.count >= overlapAt) {
      overlapAt = Number.POSITIVE_INFINITY;
      const other = luckyOne(
        clients.filter((one) => one !== client),
        nowNs,
        random,
      );
      nowNs = overlap(rows, client, other, nowNs, random);
    } else nowNs = turn(rows, client, nowNs, options.unknown, random);
  }
  return rows.keyHistory();
}

/** A client of the lock; after an operation of unknown outcome it comes back under a new name. */
class Client {
  readyNs = 0;
  index: number;
  private lives = 1;

  constructor(
    private readonly slot: string,
    private readonly rows: Rows,
  ) {
    this.index = rows.names.push(slot) - 1;
  }

  dies(): void {
    this.index = this.rows.names.push(`${this.slot}.${++this.lives}`) - 1;
  }
}

/** Any of the clients that wait; the first to come, where none does. */
function luckyOne(clients: readonly Client[], nowNs: number, random: Random): Client {
  const waiting = clients.filter(({ readyNs }) => readyNs <= nowNs);
  if (waiting.length > 0) return random.pick(waiting);
  return clients.reduce((a, b) => (b.readyNs < a.readyNs ? b : a));
}

/** A grant and its end, or what came of it instead; gives when the lock was free again. */
function turn(rows: Rows, client: Client, nowNs: number, unknown: number, random: Random): number {
  if (random.float() < unknown) {
    rows.add(OP.acquire, client.index, client.readyNs, undefined, -1);
    client.dies();
    client.readyNs = nowNs + drawn(random, TIMES.away);
    return nowNs;
  }
  const grantedNs = nowNs + drawn(random, TIMES.request);
  const answeredNs = grantedNs + drawn(random, TIMES.answer);
  const acquire = rows.add(OP.acquire, client.index, client.readyNs, answeredNs, -1);
  return release(rows, client, acquire, answeredNs + drawn(random, TIMES.hold), unknown, random);
}

function release(rows: Rows, client: Client, acquire: number, callNs: number, unknown: number, random: Random): number {
  const freeNs = callNs + drawn(random, TIMES.request);
  const answeredNs = freeNs + drawn(random, TIMES.answer);
  const isUnknown = random.float() < unknown;
  rows.add(OP.release, client.index, callNs, isUnknown ? undefined : answeredNs, acquire);
  if (isUnknown) client.dies();
  client.readyNs = answeredNs + drawn(random, TIMES.away);
  return freeNs;
}

/** Both hold it from when the second had its answer. */
function overlap(rows: Rows, first: Client, second: Client, nowNs: number, random: Random): number {
  const ends = [first, second].map((client) => {
    const answeredNs = nowNs + drawn(random, TIMES.answer);
    const acquire = rows.add(OP.acquire, client.index, Math.min(client.readyNs, nowNs), answeredNs, -1);
    return release(rows, client, acquire, nowNs + OVERLAP_NS, 0, random);
  });
  return Math.max(...ends);
}

function drawn(random: Random, [min, max]: readonly [number, number]): number {
  return random.int(min, max);
}

/** Operations as they come, and in the end in the order of their calls. */
class Rows {
  readonly names: string[] = [];
  count = 0;
  private readonly op: Uint8Array;
  private readonly client: Int32Array;
  private readonly hold: Int32Array;
  private readonly callNs: Float64Array;
  private readonly returnNs: Float64Array;

  constructor(most: number) {
    this.op = new Uint8Array(most);
    this.client = new Int32Array(most);
    this.hold = new Int32Array(most);
    this.callNs = new Float64Array(most);
    this.returnNs = new Float64Array(most);
  }

  /** Gives the operation's number, by which a release names its acquire. */
  add(op: number, client: number, callNs: number, returnNs: number | undefined, hold: number): number {
    this.op[this.count] = op;
    this.client[this.count] = client;
    this.hold[this.count] = hold;
    this.callNs[this.count] = callNs;
    this.returnNs[this.count] = returnNs ?? Number.POSITIVE_INFINITY;
    return this.count++;
  }

  keyHistory(): KeyHistory {
    const { count } = this;
    const order = Int32Array.from({ length: count }, (_, n) => n).sort((a, b) => this.callNs[a]! - this.callNs[b]!);
    const rowOf = new Int32Array(count);
    for (let row = 0; row < count; row++) rowOf[order[row]!] = row;
    const callNs = Float64Array.from(order, (n) => this.callNs[n]!);
    const returnNs = Float64Array.from(order, (n) => this.returnNs[n]!);
    const nothing = new Float64Array(count).fill(Number.NaN);
    const none = new Int32Array(count).fill(-1);
    const lines = Int32Array.from(order, (_, row) => row);
    const operations: Operations = {
      count,
      clients: this.names,
      keys: ['lock:0'],
      reasons: [],
      client: Int32Array.from(order, (n) => this.client[n]!),
      key: new Int32Array(count),
      op: Uint8Array.from(order, (n) => this.op[n]!),
      mode: new Uint8Array(count).fill(MODE.exclusive),
      outcome: Uint8Array.from(returnNs, (ns) => (ns === Number.POSITIVE_INFINITY ? OUTCOME.info : OUTCOME.ok)),
      reason: none,
      hold: Int32Array.from(order, (n) => (this.hold[n]! < 0 ? -1 : rowOf[this.hold[n]!]!)),
      invokeLine: lines,
      completionLine: lines,
      id: Float64Array.from(lines),
      sentNs: callNs,
      readNs: returnNs,
      beganNs: callNs,
      endedNs: returnNs,
      leaseFromNs: nothing,
      leaseMs: nothing,
      waitMs: nothing,
      validForMs: nothing,
      token: nothing,
      value: nothing,
      version: nothing,
      cancelledNs: nothing,
    };
    const leaseNs = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    return { key: 'lock:0', operations, rows: lines, callNs, returnNs, leaseNs };
  }
}

/** What the plays of planned failovers and moved slots look at: a lease that was touched must not pass for one that was not. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerNode } from '../../../harness/vocabulary/topology.js';
import type { OperationOutcome, Stage, StageClient } from '../../../harness/vocabulary/workload.js';
import { keepThroughHandover } from '../../../scenarios/acts/planned-failover.js';
import { grantedThroughout } from '../../../scenarios/acts/slots.js';

const LEASE_MS = 20_000;

let nowMs: number;
/** When the lease is over, by each server that has it. */
let ends: Map<string, number>;
let renews: boolean;
/** What the move does to the lease's end. */
let moved: (endMs: number) => number;
/** What the holder's release is answered; ok: it is carried out. */
let released: OperationOutcome;
/** Whether a release that is answered ok frees it. */
let frees: boolean;
/** How often the holder cannot reach the new server, of which it has been told. */
let unreachable: number;
/** Whether the holder finds the new server by itself. */
let reconnects: boolean;

beforeEach(() => {
  nowMs = 5_000;
  ends = new Map();
  renews = false;
  moved = (endMs) => endMs;
  released = outcome('ok');
  frees = true;
  unreachable = 1;
  reconnects = true;
});

const outcome = (type: 'ok' | 'fail' | 'info', reason?: string) => ({ type, id: 1, reason }) as OperationOutcome;

const server = (name: string) =>
  ({
    name,
    async command(what: string) {
      nowMs += 2;
      if (what === 'PTTL') return (ends.get(name) ?? nowMs - 2) - nowMs;
      return `id=4 addr=10.77.0.9:5000 laddr=10.77.0.2:6379 flags=N db=0\n${reconnects ? 'id=5 addr=10.77.0.8:5000 flags=N db=0' : 'id=5 addr=10.77.0.8:5000 flags=P db=0'}\n`;
    },
  }) as unknown as ServerNode;

/** The lock is at `a`, and at `b` after `strike`. */
function stage(slots: boolean): { stage: Stage; a: ServerNode; b: ServerNode } {
  const [a, b] = [server('a'), server('b')];
  let primary = a;
  const client = (n: number) =>
    ({
      name: `c${n}`,
      address: `10.77.0.${7 + n}`,
      async acquire(key: string) {
        if (key !== 'lock:0') return unreachable-- > 0 ? outcome('fail', 'unreachable') : { ...outcome('ok'), id: 2 };
        if (ends.size > 0) return outcome('fail', 'held');
        ends.set(primary.name, nowMs + LEASE_MS);
        return outcome('ok');
      },
      async release({ id }: OperationOutcome) {
        if (id === 2) return outcome('ok');
        if (unreachable > 0) return outcome('fail', 'unreachable');
        if (released.type === 'ok' && frees) ends.clear();
        return released;
      },
    }) as unknown as StageClient;
  const made = {
    topology: { ...(slots && { slots: {} }), shards: async () => [{ primary, serves: () => true }] },
    leaseMs: LEASE_MS,
    renews,
    nowMs: () => nowMs,
    client,
    async strike() {
      nowMs += 300;
      ends = new Map([[b.name, moved(ends.get(a.name)!)]]);
      primary = b;
      return { heal: async () => {} };
    },
    async until<T>(what: string, happened: () => Promise<T | undefined | false>): Promise<T> {
      for (let tries = 0; tries < 100; tries++) {
        const now = await happened();
        if (now !== undefined && now !== false) return now;
        nowMs += 5;
      }
      throw new Error(`waited in vain: ${what}`);
    },
    async sleep(ms: number) {
      nowMs += ms;
    },
    check(what: string, isTrue: boolean) {
      if (!isTrue) throw new Error(what);
    },
  };
  return { stage: made as unknown as Stage, a, b };
}

const plays: [string, () => Promise<void>][] = [
  ['a handover', () => keepThroughHandover(stage(false).stage, 'failover-to')],
  [
    'a move of its slot',
    () => {
      const { stage: made, b } = stage(true);
      return grantedThroughout(made, async () => {
        await made.strike('move-slot', { names: ['a'] });
        return b;
      });
    },
  ],
];

describe.each(plays)('%s', (_, play) => {
  it('may leave the lease as it is, or move its end by what the way takes', async () => {
    await play();
    moved = (endMs) => endMs + 300;
    await play();
  });

  it('must not begin it anew', async () => {
    moved = () => nowMs + LEASE_MS;
    await expect(play()).rejects.toThrow(
      /^its lease did not begin anew \(19\d+ ms are left, and there were 18\d+ ms 3\d+ ms before\)$/,
    );
  });

  it('of a lock that renews by itself it may have begun anew, and no more than that', async () => {
    renews = true;
    moved = () => nowMs + LEASE_MS;
    await play();
    moved = () => nowMs + 2 * LEASE_MS;
    await expect(play()).rejects.toThrow(/^its lease did not begin anew/);
  });

  it.each([false, true])('must not take any of its time, or all of it (the lock renews: %s)', async (does) => {
    renews = does;
    moved = (endMs) => endMs - 1_000;
    await expect(play()).rejects.toThrow(/^its lease lost none of its time/);
    ends.clear();
    moved = () => nowMs - 1;
    await expect(play()).rejects.toThrow('b has the lock');
  });

  it.each([
    ['fail', 'not-owner'],
    ['info', 'reconnect'],
  ] as const)('leaves it to its holder, who must not be told %s %s when it releases it', async (type, reason) => {
    released = outcome(type, reason);
    await expect(play()).rejects.toThrow(`its holder releases it (${type} ${reason})`);
  });

  it('must be free then', async () => {
    frees = false;
    await expect(play()).rejects.toThrow('then it is free');
  });
});

it('a holder whose connection went with the old primary is asked once it has another one to the new', async () => {
  reconnects = false;
  await expect(plays[0]![1]()).rejects.toThrow('waited in vain: c1 is connected to b');
  // One of a Cluster asks whom it is told to ask.
  ends.clear();
  await plays[1]![1]();
});

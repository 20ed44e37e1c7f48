/** The live ledger against what is drawn from the record: the same holds, after every event of any history of a run. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { holdsOf } from '../../../../../harness/record/facts/holds.js';
import { Ledger } from '../../../../../harness/record/facts/ledger.js';
import { historyOf } from '../../../../../harness/record/history-table.js';
import type { Completion, HistoryBody, HistoryEvent, OpName } from '../../../../../harness/vocabulary/history.js';
import type { LeaseKind } from '../../../../../harness/vocabulary/protocol.js';
import type { Hold } from '../../../../../harness/vocabulary/verdict.js';
import { drawn } from '../../../../support/drawn.js';

const MS = 1e6;
const KEYS = ['lock:0', 'lock:1'];

/** Draws that a history is made of; the same draws give the same history. */
type Step = { client: number; does: number; gapMs: number; draws: readonly number[] };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    client: fc.nat({ max: 2 }),
    does: fc.nat({ max: 99 }),
    gapMs: fc.integer({ min: 0, max: 60 }),
    draws: fc.array(fc.nat({ max: 999 }), { minLength: 5, maxLength: 5 }),
  }),
  { maxLength: 60, size: 'max' },
);

interface Actor {
  name: string;
  generation: number;
  nextId: number;
  running?: { id: number; op: OpName; hold?: number; key: string; sentNs: number };
  /** Not released yet, as the scheduler knows it. */
  holds: { id: number; key: string; invokedNs: number; takenNs: number }[];
}

/** Plays what the scheduler can record: one operation at a time for each client, stamps between sent and read. */
function played(all: readonly Step[]): HistoryEvent[] {
  const events: HistoryEvent[] = [];
  let nowNs = 0;
  const record = (body: HistoryBody) => events.push({ i: events.length, atNs: nowNs, ...body });
  const actors = [1, 2, 3].map((n): Actor => ({ name: `c${n}`, generation: 1, nextId: 1, holds: [] }));
  for (const { client: n, does, gapMs, draws } of all) {
    nowNs += gapMs * MS;
    const actor = actors[n]!;
    const { name: client, running, holds } = actor;
    const pick = draws[0]!;
    const within = (fromNs: number, draw: number) => fromNs + Math.floor(((nowNs - fromNs) * draw) / 999);
    const comeBack = () => {
      actor.generation++;
      actor.name = `c${n + 1}.${actor.generation}`;
      actor.nextId = 1;
      actor.holds = [];
      actor.running = undefined;
    };
    const complete = (type: 'ok' | 'fail' | 'info', withStamps: boolean) => {
      const { id, op, key, hold, sentNs } = running!;
      const completion: Completion = {};
      if (withStamps) {
        const [began, lease, ended] = [draws[1]!, draws[2]!, draws[3]!].sort((a, b) => a - b);
        completion.beganNs = within(sentNs, began!);
        completion.endedNs = within(sentNs, ended!);
        if (draws[4]! % 2) completion[op === 'acquire' ? 'grantSentNs' : 'sentNs'] = within(sentNs, lease!);
      }
      if (type !== 'ok') completion.reason = 'x';
      if (type === 'ok' && op === 'acquire' && draws[4]! % 3 === 0) completion.token = draws[4]!;
      if (type === 'ok' && (op === 'acquire' || op === 'extend') && pick % 3 === 0) completion.validForMs = pick % 300;
      record({ type, client, id, op, key, ...(hold !== undefined && { hold }), ...completion });
      actor.running = undefined;
      if (op === 'acquire' && type === 'ok') {
        const takenNs = completion.grantSentNs ?? completion.beganNs ?? sentNs;
        holds.push({ id, key, invokedNs: sentNs, takenNs });
      }
      if (op === 'release') actor.holds = holds.filter((one) => one.id !== hold);
    };
    const held = holds[pick % (holds.length || 1)];
    if (held && does >= 80) {
      // What was not taken yet cannot be lost: then its client's stamps would count for nothing, from the first one on.
      const ns = within(does < 92 ? held.invokedNs : held.takenNs, draws[1]!);
      const about = { client, hold: held.id, key: held.key };
      if (does < 92) record({ type: 'renewed', ...about, sentNs: ns, leaseMs: draws[2]! % 200 });
      else record({ type: 'lost', ...about, clientNs: ns });
    } else if (running && does < 8) {
      // Its death is noticed before the answer that will not come; or an answer was read, and is recorded after.
      record({ type: 'client-down', client, endNs: within(running.sentNs, draws[1]!), reason: 'x' });
      complete(does < 6 ? 'info' : 'ok', does % 2 === 1);
      comeBack();
    } else if (running) {
      const type = does < 60 ? 'ok' : does < 72 ? 'fail' : 'info';
      complete(type, does % 4 !== 0);
      if (type === 'info') {
        nowNs += (draws[4]! % 20) * MS;
        record({ type: 'client-down', client, endNs: nowNs - (draws[3]! % 5) * 1_000, reason: 'x' });
        comeBack();
      }
    } else if (does < 4) {
      record({ type: 'client-down', client, endNs: nowNs, reason: 'x' });
      comeBack();
    } else {
      const id = actor.nextId++;
      const op: OpName = !held || does < 30 ? 'acquire' : does < 55 ? 'extend' : does < 62 ? 'read' : 'release';
      const key = op === 'acquire' ? KEYS[pick % 2]! : held!.key;
      const hold = op === 'acquire' ? {} : { hold: held!.id };
      const leaseMs = op === 'acquire' || op === 'extend' ? { leaseMs: draws[1]! % 300 } : {};
      const mode = op === 'acquire' && does % 3 === 0 ? ({ mode: does % 2 ? 'read' : 'write' } as const) : {};
      record({ type: 'invoke', client, id, op, key, ...hold, ...leaseMs, ...mode });
      actor.running = { id, op, key, ...hold, sentNs: nowNs };
    }
  }
  return events;
}

/** Holds without the lines that made them, which the ledger does not collect, in an order of their own. */
function plain(holds: Iterable<Hold>): object[] {
  return [...holds]
    .map(({ evidence, ...hold }) => hold)
    .sort((a, b) => a.client.localeCompare(b.client) || a.id - b.id);
}

function up(lease: LeaseKind): HistoryEvent {
  const who = { client: 'c1', slot: 'c1', host: 'c1', address: '10.77.0.9' };
  return { i: 0, atNs: 0, type: 'client-up', ...who, lock: 'x', features: [], lease };
}

/** When the lease of a hold ends that was never renewed, and of which the lock says nothing. */
function firstEndNs({ grantSentNs, leaseMs }: Hold, lease: LeaseKind): number {
  return lease === 'none' ? Number.POSITIVE_INFINITY : grantSentNs + leaseMs * MS;
}

test.each(['timed', 'none'] as const)(
  'open and ended holds are those of the record, after every event (%s)',
  (lease) => {
    const seen = { holds: 0, renewed: 0, lost: 0, died: 0 };
    fc.assert(
      fc.property(steps, (all) => {
        const events = [up(lease), ...played(all)].map((event, i) => ({ ...event, i }));
        const ledger = new Ledger();
        const ended: Hold[] = [];
        ledger.subscribe({ ended: (hold) => ended.push(hold) });
        let endNs = 0;
        events.forEach((event, n) => {
          ledger.event(event);
          endNs = Math.max(endNs, event.atNs);
          const drawn = [...holdsOf(historyOf(events.slice(0, n + 1)))];
          const unsettled = ledger.unsettled(endNs).map(({ hold }) => hold);
          expect(plain([...ended, ...unsettled])).toEqual(plain(drawn));
          if (n < events.length - 1) return;
          seen.holds += drawn.length;
          seen.renewed += drawn.filter((hold) => hold.leaseEndNs !== firstEndNs(hold, lease)).length;
          seen.lost += drawn.filter(({ endedBy }) => endedBy === 'lost').length;
          seen.died += drawn.filter(({ endedBy }) => endedBy === 'client-down').length;
        });
      }),
      drawn(100),
    );
    // Agreeing about nothing would be cheap.
    expect(Math.min(seen.holds / 10, seen.renewed, seen.lost, seen.died)).toBeGreaterThan(15);
  },
);

describe('what is open', () => {
  const story: [atMs: number, HistoryBody][] = [
    [1, { type: 'invoke', client: 'c1', id: 1, op: 'acquire', key: 'k', leaseMs: 100, waitMs: 50 }],
    [3, { type: 'ok', client: 'c1', id: 1, op: 'acquire', key: 'k' }],
    [4, { type: 'invoke', client: 'c2', id: 1, op: 'acquire', key: 'k', leaseMs: 100, waitMs: 50 }],
    [5, { type: 'lost', client: 'c1', hold: 1, key: 'k', clientNs: 4 * MS }],
    [6, { type: 'invoke', client: 'c1', id: 2, op: 'release', key: 'k', hold: 1 }],
    [7, { type: 'ok', client: 'c1', id: 2, op: 'release', key: 'k', hold: 1 }],
    [8, { type: 'ok', client: 'c2', id: 1, op: 'acquire', key: 'k' }],
    [9, { type: 'client-down', client: 'c2', endNs: 9 * MS, reason: 'killed' }],
  ];
  const feed = (ledger: Ledger, from: number, to: number) => {
    for (let i = from; i < to; i++) ledger.event({ i, atNs: story[i]![0] * MS, ...story[i]![1] });
  };
  const told = (count: number) => {
    const ledger = new Ledger();
    feed(ledger, 0, count);
    return ledger;
  };

  it('is a hold from its grant on, until its release is answered or its client is gone', () => {
    const clients = story.map((_, n) =>
      told(n + 1)
        .open()
        .map(({ client }) => client),
    );
    expect(clients).toEqual([[], ['c1'], ['c1'], ['c1'], ['c1'], [], ['c2'], []]);
    expect(told(2).open('c2')).toEqual([]);
    expect(told(2).find('c1', 1)).toMatchObject({ key: 'k', invokedNs: 1 * MS, grantedNs: 3 * MS });
    expect(told(8).find('c2', 1)).toBeUndefined();
  });

  it('says that a hold was lost, and that it is being released', () => {
    expect(told(4).find('c1', 1)!.lostNs).toBe(4 * MS);
    expect(told(4).find('c1', 1)!.releaseSentNs).toBeUndefined();
    expect(told(5).find('c1', 1)!.releaseSentNs).toBe(6 * MS);
  });

  it('counts waiting clients', () => {
    expect(story.map((_, n) => told(n + 1).waiting('k'))).toEqual([1, 0, 1, 1, 1, 1, 0, 0]);
  });

  it('reports grants once it has recorded them', () => {
    const ledger = new Ledger();
    const holding: number[] = [];
    const stop = ledger.onGrant(({ client }) => holding.push(ledger.open(client).length));
    feed(ledger, 0, 6);
    stop();
    feed(ledger, 6, story.length);
    expect(holding).toEqual([1]);
  });
});

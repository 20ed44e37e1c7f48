/** The live ledger against what is drawn from the record: the same holds, after every event of any history of a run. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { holdsOf } from '../../../../../harness/record/facts/holds.js';
import { Ledger } from '../../../../../harness/record/facts/ledger.js';
import { historyOf } from '../../../../../harness/record/history-table.js';
import type { HistoryBody } from '../../../../../harness/vocabulary/history.js';
import type { LeaseKind } from '../../../../../harness/vocabulary/protocol.js';
import type { Hold } from '../../../../../harness/vocabulary/verdict.js';
import { drawn } from '../../../../support/drawn.js';
import { MS, played, steps, up } from './any-run.js';

/** Holds without the lines that made them, which the ledger does not collect, in an order of their own. */
function plain(holds: Iterable<Hold>): object[] {
  return [...holds]
    .map(({ evidence, ...hold }) => hold)
    .sort((a, b) => a.client.localeCompare(b.client) || a.id - b.id);
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

/** From recorded events to intervals and leases: whose stamps are taken, and what a lease certainly was. */
import { describe, expect, test } from 'vitest';
import { keyHistoriesOf } from '../../../../checkers/linearizability/key-histories.js';
import type { KeyHistory } from '../../../../checkers/linearizability/types.js';
import { leaseMarginNs } from '../../../../harness/record/facts/margin.js';
import { historyOf } from '../../../../harness/record/history-table.js';
import type { Completion, HistoryBody, HistoryEvent } from '../../../../harness/vocabulary/history.js';

const S = 1e9;
const LEASE_MS = 5_000;
const MARGIN_NS = leaseMarginNs(LEASE_MS);
/** What is certain of a lease of five seconds. */
const CERTAIN_NS = 5 * S - MARGIN_NS;

type Line = [atNs: number, body: HistoryBody];

/** A reading of its clock that c1 says to have begun before it was sent: none of its stamps can be believed. */
const impossible: readonly Line[] = [
  [1_000 * S, { type: 'invoke', client: 'c1', id: 99, op: 'clock', key: '' }],
  [1_002 * S, { type: 'ok', client: 'c1', id: 99, op: 'clock', key: '', beganNs: 999 * S, endedNs: 1_001 * S }],
];

function keysOf(lines: readonly Line[], trusted = true): KeyHistory[] {
  const told = trusted ? lines : [...lines, ...impossible];
  const events = [...told].sort((a, b) => a[0] - b[0]).map(([atNs, body], i): HistoryEvent => ({ i, atNs, ...body }));
  return keyHistoriesOf(historyOf(events));
}

/** An operation of c1 that was sent at `sent` and answered two seconds later; the client says: one second. */
function operation(
  op: 'acquire' | 'release' | 'extend',
  id: number,
  sent: number,
  more: { type?: 'ok' | 'fail' | 'info'; leaseMs?: number; key?: string; stamps?: Completion } = {},
): Line[] {
  const { type = 'ok', leaseMs = LEASE_MS, key = 'k' } = more;
  const about = { client: 'c1', id, op, key, ...(op !== 'acquire' && { hold: 1 }) };
  const stamps = more.stamps ?? { beganNs: (sent + 0.5) * S, endedNs: (sent + 1.5) * S };
  return [
    [sent * S, { type: 'invoke', ...about, ...(op !== 'release' && { leaseMs }) }],
    [(sent + 2) * S, { type, ...about, ...stamps }],
  ];
}

function first(column: Float64Array): number {
  return column[0]! / S;
}

describe('intervals', () => {
  test("are the client's own where they can be believed, otherwise the harness's", () => {
    const [own] = keysOf(operation('acquire', 1, 10));
    expect([first(own!.callNs), first(own!.returnNs)]).toEqual([10.5, 11.5]);
    const [harness] = keysOf(operation('acquire', 1, 10), false);
    expect([first(harness!.callNs), first(harness!.returnNs)]).toEqual([10, 12]);
  });

  test('have no end where the outcome is unknown, or never came', () => {
    const [unknown] = keysOf(operation('acquire', 1, 10, { type: 'info' }));
    expect([first(unknown!.callNs), first(unknown!.returnNs)]).toEqual([10.5, Number.POSITIVE_INFINITY]);
    const [silent] = keysOf(operation('acquire', 1, 10).slice(0, 1));
    expect([first(silent!.callNs), first(silent!.returnNs)]).toEqual([10, Number.POSITIVE_INFINITY]);
    const [refused] = keysOf(operation('acquire', 1, 10, { type: 'fail' }));
    expect(first(refused!.returnNs)).toBe(11.5);
  });

  test('are of acquires and releases only, key by key', () => {
    const keys = keysOf([
      ...operation('acquire', 1, 10),
      ...operation('extend', 2, 13),
      ...operation('acquire', 3, 16, { key: 'other' }),
      ...operation('release', 4, 19),
    ]);
    expect(keys.map(({ key, rows }) => [key, [...rows]])).toEqual([
      ['k', [0, 3]],
      ['other', [2]],
    ]);
  });
});

describe('leases', () => {
  const leaseOf = (lines: readonly Line[], trusted = true) => keysOf(lines, trusted)[0]!.leaseNs[0]!;
  const acquired = operation('acquire', 1, 10);

  test('are shorter by the margin', () => {
    expect(leaseOf(acquired)).toBe(CERTAIN_NS);
  });

  test('are none where none was asked for', () => {
    expect(leaseOf(operation('acquire', 1, 10, { leaseMs: 0 }))).toBe(Number.POSITIVE_INFINITY);
  });

  test('a renewal counts from the latest instant at which the grant can have been', () => {
    // Granted by 11.5 s, renewed at 13.5 s: 2 s and a lease.
    expect(leaseOf([...acquired, ...operation('extend', 2, 13)])).toBe(2 * S + CERTAIN_NS);
  });

  test('the last renewal decides, also where it asked for less', () => {
    const shorter = operation('extend', 2, 13, { leaseMs: 1_000 });
    expect(leaseOf([...acquired, ...shorter])).toBe(3 * S - leaseMarginNs(1_000));
  });

  test('one of unknown outcome can only have shortened it, one that was refused did nothing', () => {
    const unknown = (leaseMs: number) => operation('extend', 2, 13, { type: 'info', leaseMs });
    expect(leaseOf([...acquired, ...unknown(LEASE_MS)])).toBe(CERTAIN_NS);
    expect(leaseOf([...acquired, ...unknown(1_000)])).toBe(3 * S - leaseMarginNs(1_000));
    expect(leaseOf([...acquired, ...operation('extend', 2, 13, { type: 'fail', leaseMs: 1_000 })])).toBe(CERTAIN_NS);
  });

  test('one that was sent after the lease had ended, or after the release, does not count', () => {
    expect(leaseOf([...acquired, ...operation('extend', 2, 16)])).toBe(CERTAIN_NS);
    expect(leaseOf([...acquired, ...operation('release', 2, 12), ...operation('extend', 3, 13)])).toBe(CERTAIN_NS);
  });

  test('a renewal that was reported unasked counts where its stamp can be believed', () => {
    const renewed: Line = [
      14 * S,
      { type: 'renewed', client: 'c1', hold: 1, key: 'k', sentNs: 13.5 * S, leaseMs: LEASE_MS },
    ];
    expect(leaseOf([...acquired, renewed])).toBe(2 * S + CERTAIN_NS);
    expect(leaseOf([...acquired, renewed], false)).toBe(CERTAIN_NS);
  });

  test('a queue before the grant is no part of the lease', () => {
    // It waited from 2 s on and was granted by an attempt of 11 s: at 13.5 s the lease still runs.
    const waited = operation('acquire', 1, 2, { stamps: { beganNs: 2 * S, grantSentNs: 11 * S, endedNs: 11.5 * S } });
    const moved: Line[] = [waited[0]!, [12 * S, waited[1]![1]]];
    expect(leaseOf([...moved, ...operation('extend', 2, 13)])).toBe(2 * S + CERTAIN_NS);
  });

  const renewedAt = (sent: number, leaseMs = LEASE_MS): Line => [
    (sent + 0.5) * S,
    { type: 'renewed', client: 'c1', hold: 1, key: 'k', sentNs: sent * S, leaseMs },
  ];

  test('a renewal of what was renewed in time counts, and none after a gap', () => {
    // The first runs until 15.5 s, and by the renewal of 14 s until 19 s.
    expect(leaseOf([...acquired, renewedAt(14), renewedAt(18)])).toBe(6.5 * S + CERTAIN_NS);
    expect(leaseOf([...acquired, renewedAt(18)])).toBe(CERTAIN_NS);
    expect(leaseOf([...acquired, renewedAt(14), renewedAt(20), renewedAt(21)])).toBe(2.5 * S + CERTAIN_NS);
  });

  test('renewals count in the order in which they were sent, whenever they were told', () => {
    const told: Line[] = [
      [13.8 * S, renewedAt(13)[1]],
      [13.6 * S, renewedAt(13.4, 1_000)[1]],
    ];
    expect(leaseOf([...acquired, ...told])).toBe(1.9 * S + 1 * S - leaseMarginNs(1_000));
  });

  test('a renewal without a lease has no end', () => {
    expect(leaseOf([...acquired, renewedAt(14, 0), renewedAt(40)])).toBe(28.5 * S + CERTAIN_NS);
  });

  test('one that was sent as the release began counts', () => {
    const released = operation('release', 2, 13);
    expect(leaseOf([...acquired, ...released, renewedAt(13.5)])).toBe(2 * S + CERTAIN_NS);
    expect(leaseOf([...acquired, ...released, renewedAt(13.6)])).toBe(CERTAIN_NS);
    // The first release is the one that counts.
    expect(leaseOf([...acquired, ...released, ...operation('release', 3, 16), renewedAt(13.6)])).toBe(CERTAIN_NS);
  });

  test('what is told of a lock that is lost renews nothing', () => {
    const lost: Line = [14 * S, { type: 'lost', client: 'c1', hold: 1, key: 'k', clientNs: 13.5 * S }];
    expect(leaseOf([...acquired, lost])).toBe(CERTAIN_NS);
  });

  test('what was not granted is not renewed', () => {
    const [refused] = keysOf([...operation('acquire', 1, 10, { type: 'fail' }), ...operation('extend', 2, 13)]);
    expect(refused!.leaseNs[0]).toBe(CERTAIN_NS);
    const [unknown] = keysOf([...operation('acquire', 1, 10, { type: 'info' }), ...operation('extend', 2, 13)]);
    expect(unknown!.leaseNs[0]).toBe(CERTAIN_NS);
  });

  test('an acquire of another key, or of another client, sets no expiry of this one', () => {
    const short = { leaseMs: 1_000 };
    expect(leaseOf([...acquired, ...operation('acquire', 2, 13, { ...short, key: 'other' })])).toBe(CERTAIN_NS);
    const theirs = operation('acquire', 2, 13, short).map(
      ([at, body]): Line => [at, { ...body, client: 'c2' } as HistoryBody],
    );
    expect(leaseOf([...acquired, ...theirs])).toBe(CERTAIN_NS);
    expect(leaseOf([...acquired, ...operation('acquire', 2, 13, { ...short, type: 'fail' })])).toBe(CERTAIN_NS);
  });

  test('an acquire inside the hold sets the expiry of both', () => {
    const nested = operation('acquire', 2, 13, { leaseMs: 1_000 });
    expect(leaseOf([...acquired, ...nested])).toBe(1 * S - leaseMarginNs(1_000));
    const after = [...acquired, ...operation('release', 2, 12.5), ...operation('acquire', 3, 15, { leaseMs: 1_000 })];
    expect(leaseOf(after)).toBe(CERTAIN_NS);
  });
});

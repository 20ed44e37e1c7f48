/** Every rule of the fast procedures on a handful of operations: one history to accept and one to refuse. */
import { describe, expect, test } from 'vitest';
import { decide } from '../../../../checkers/linearizability/decide.js';
import type { DecideOptions, Decision, Reading, WitnessKind } from '../../../../checkers/linearizability/types.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { acquire, literal, type Operation, release } from './literal.js';

const STRICT: Reading = { failedReleaseEnds: false, leases: false, triesInform: false };
const DENIED_ENDS: Reading = { ...STRICT, failedReleaseEnds: true };
const TRIES: Reading = { ...STRICT, triesInform: true };
const LEASES: Reading = { ...STRICT, leases: true };
const OPTIONS: DecideOptions = { witnesses: 10, search: { configurations: 10_000, steps: 100_000 } };

const mutex: LockModel = { kind: 'mutex' };
const fenced: LockModel = { kind: 'fenced' };
const readWrite: LockModel = { kind: 'read-write' };
const twice: LockModel = { kind: 'reentrant', depth: 2 };
const twoPermits: LockModel = { kind: 'semaphore', permits: 2 };

const read = { mode: 'read' } as const;
const write = { mode: 'write' } as const;

function decided(list: readonly Operation[], model = mutex, reading = STRICT, options = OPTIONS): Decision {
  return decide(literal(inOrder(list)), model, reading, options);
}

function order(list: readonly Operation[], model = mutex, reading = STRICT): number[] | undefined {
  const { linearization } = decided(list, model, reading);
  return linearization && [...linearization.order];
}

/** The only finding, with its rows. */
function finding(list: readonly Operation[], model = mutex, reading = STRICT): [WitnessKind, number[]] {
  const { verdict, found, witnesses } = decided(list, model, reading);
  expect({ verdict, found, listed: witnesses.length }).toEqual({ verdict: 'invalid', found: 1, listed: 1 });
  return [witnesses[0]!.kind, witnesses[0]!.rows];
}

describe('cores', () => {
  test('holds one after another are explained, in that order and at instants of theirs', () => {
    const list = [acquire('c1', 0, 2), release('c1', 0, 4, 6), acquire('c2', 3, 8), release('c2', 2, 9, 10)];
    const { verdict, procedure, linearization } = decided(list);
    expect({ verdict, procedure }).toEqual({ verdict: 'valid', procedure: 'cores' });
    expect([...linearization!.order]).toEqual([0, 2, 1, 3]);
    expect([...linearization!.pointsNs]).toEqual([2, 4, 8, 9]);
  });

  test('two certain holds at once are not', () => {
    const list = [acquire('c1', 0, 2), acquire('c2', 1, 4), release('c1', 0, 6, 8), release('c2', 1, 9, 10)];
    expect(finding(list)).toEqual(['overlap', [0, 1, 2, 3]]);
  });

  test('the proof names who held when, and for how long both did', () => {
    const ms = 1e6;
    const list = [acquire('c1', 0, 1_000 * ms), acquire('c2', 0, 1_500 * ms), release('c1', 0, 2_312 * ms, 2_400 * ms)];
    expect(decided(list).witnesses[0]).toEqual({
      kind: 'overlap',
      key: 'lock:0',
      rows: [0, 1, 2],
      fromNs: 1_500 * ms,
      untilNs: 2_312 * ms,
      proof:
        'c1 certainly held lock:0 from 1.000 s to 2.312 s; c2 certainly held it from 1.500 s on, never to release it; ' +
        'both at once for at least 812 ms.',
    });
  });

  test('two that are never released are together from then on', () => {
    const list = [acquire('c1', 0, 1e9), acquire('c2', 0, 2e9)];
    expect(decided(list).witnesses[0]!.proof).toMatch(/; both at once from 2\.000 s on\.$/);
  });

  test('equal stamps are concurrent: one may end in the nanosecond in which the next begins', () => {
    expect(order([acquire('c1', 0, 2), release('c1', 0, 5, 6), acquire('c2', 1, 5)])).toEqual([0, 2, 1]);
    expect(finding([acquire('c1', 0, 2), acquire('c2', 1, 4), release('c1', 0, 5, 6)])[0]).toBe('overlap');
  });

  test('a hold of no length fits into any instant that is not inside another', () => {
    const shortAt = (ns: number) => [acquire('c2', 0, ns), release('c2', 0, ns, 9)];
    const around = (ns: number) => [...shortAt(ns), acquire('c1', 1, 3), release('c1', 2, 6, 8)];
    expect([2, 3, 4, 6, 7].map((ns) => decided(around(ns)).verdict)).toEqual([
      'valid',
      'valid',
      'invalid',
      'valid',
      'valid',
    ]);
    expect(finding(around(4))).toEqual(['zone-in-cores', [0, 1, 2, 3]]);
  });

  test('every pair is counted, and the earliest are listed', () => {
    const list = Array.from({ length: 20 }, (_, n) => acquire(`c${n}`, n, n));
    const decision = decided(list, mutex, STRICT, { ...OPTIONS, witnesses: 3 });
    expect(decision.found).toBe(190);
    expect(decision.witnesses.map(({ rows }) => rows)).toHaveLength(3);
  });

  test('one client alone: it is not granted what it holds, and does not release what it never got', () => {
    expect(finding([acquire('c1', 0, 1), acquire('c1', 2, 3)])).toEqual(['protocol', [0, 1]]);
    const twiceReleased = [acquire('c1', 0, 1), release('c1', 0, 2, 3), release('c1', 0, 4, 5)];
    expect(finding(twiceReleased)).toEqual(['protocol', [0, 1, 2]]);
    expect(finding([acquire('c1', 0, 1, { reason: 'held' }), release('c1', 0, 2, 3)])).toEqual(['protocol', [1]]);
  });
});

describe('unknown outcomes', () => {
  test('an acquire that was never released need not have happened', () => {
    expect(order([acquire('c1', 0), acquire('c2', 1, 2), release('c2', 1, 3, 4)])).toEqual([1, 2]);
  });

  test('a release counts from its call', () => {
    const list = (callNs: number) => [acquire('c1', 0, 1), release('c1', 0, callNs), acquire('c2', 2, 5)];
    expect(order(list(4))).toEqual([0, 2, 1]);
    expect(finding(list(6))).toEqual(['overlap', [0, 1, 2]]);
  });

  test('unless a later release of the same hold succeeded: then the hold lasted until that one', () => {
    const list = [acquire('c1', 0, 1), release('c1', 0, 2), acquire('c2', 3, 4), release('c1', 0, 5, 6)];
    expect(decided(list.slice(0, 3)).verdict).toBe('valid');
    expect(finding(list)).toEqual(['overlap', [0, 2, 3]]);
  });

  test('an acquire whose release succeeded took effect at an instant when no other client held', () => {
    const list = (callNs: number, returnNs: number) => [
      acquire('c1', 0),
      acquire('c2', 1, 2),
      release('c1', 0, callNs, returnNs),
      release('c2', 1, 6, 7),
      acquire('c2', 8, 9),
    ];
    expect(order(list(4, 6))).toEqual([1, 3, 0, 2, 4]);
    expect(finding(list(3, 5))).toEqual(['zone-in-cores', [0, 1, 2, 3]]);
  });
});

describe('releases that were answered "not yours"', () => {
  const list = [acquire('c1', 0, 1), release('c1', 0, 2, 3, 'not-owner'), acquire('c2', 4, 5)];

  test('change nothing in the strict reading, and are reported', () => {
    expect(finding(list)).toEqual(['overlap', [0, 2]]);
    expect(decided(list).notes).toEqual([
      '1 release of known holds told "not yours": strictly an error of the client\'s that ends nothing',
    ]);
  });

  test('end the hold where that is the reading, so that nothing is left to release', () => {
    expect(order(list, mutex, DENIED_ENDS)).toEqual([0, 1, 2]);
    const again = [...list.slice(0, 2), release('c1', 0, 4, 5)];
    expect(finding(again, mutex, DENIED_ENDS)).toEqual(['protocol', [0, 1, 2]]);
    // In the same nanosecond the one that succeeded may have come first.
    const tied = [...list.slice(0, 2), release('c1', 0, 3, 5)];
    expect(decided(tied, mutex, DENIED_ENDS).verdict).toBe('valid');
  });

  test('end nothing where they reached no server', () => {
    const unreached = [list[0]!, release('c1', 0, 2, 3, 'unreachable'), list[2]!];
    expect(finding(unreached, mutex, DENIED_ENDS)).toEqual(['overlap', [0, 2]]);
  });
});

describe('other locks', () => {
  test('readers share, a writer excludes', () => {
    const pair = (first: Operation['mode'], second: Operation['mode']) => [
      acquire('c1', 0, 2, { mode: first }),
      acquire('c2', 1, 3, { mode: second }),
      release('c1', 0, 5, 6),
      release('c2', 1, 5, 6),
    ];
    expect(decided(pair('read', 'read'), readWrite).verdict).toBe('valid');
    expect(finding(pair('write', 'read'), readWrite)[0]).toBe('overlap');
    expect(finding(pair('read', 'write'), readWrite)[0]).toBe('overlap');
  });

  test('a client reads under its own write lock, and is not granted the write lock while it reads', () => {
    expect(decided([acquire('c1', 0, 1, write), acquire('c1', 2, 3, read)], readWrite).verdict).toBe('valid');
    expect(finding([acquire('c1', 0, 1, read), acquire('c1', 2, 3, write)], readWrite)).toEqual(['protocol', [0, 1]]);
  });

  test('where stamps are equal the write lock may have come first: it is held from then', () => {
    const own = [acquire('c1', 0, 2, read), acquire('c1', 2, 6, write)];
    expect(order(own, readWrite)).toEqual([1, 0]);
    const other = [own[0]!, acquire('c2', 1, 3, read), own[1]!, release('c2', 1, 5, 6)];
    expect(finding(other, readWrite)).toEqual(['overlap', [0, 1, 2, 3]]);
  });

  test('an unknown writer needs an instant without readers, which several of them may leave it none', () => {
    const list = (secondNs: number) => [
      acquire('c3', 0, undefined, write),
      acquire('c1', 0, 1, read),
      acquire('c2', 0, secondNs, read),
      release('c3', 0, 3, 7),
      release('c1', 1, 5, 6),
      release('c2', 2, 9, 9),
    ];
    expect(decided(list(5), readWrite).verdict).toBe('valid');
    expect(finding(list(4), readWrite)).toEqual(['zone-in-cores', [0, 1, 2, 3, 4, 5]]);
  });

  test('the holds that leave it none at its first instant are named, not one that begins then and lasts longer', () => {
    const list = [
      acquire('c3', 0, undefined, write),
      acquire('c1', 0, 1, read),
      acquire('c2', 2, 3, read),
      release('c3', 0, 3, 4),
      release('c1', 1, 5, 6),
      release('c2', 2, 9, 9),
    ];
    expect(finding(list, readWrite)).toEqual(['zone-in-cores', [0, 1, 3, 4]]);
  });

  test('a reentrant lock is taken again by its owner, up to its depth', () => {
    const nested = (times: number) => Array.from({ length: times }, (_, n) => acquire('c1', 2 * n, 2 * n + 1));
    expect(decided(nested(2), twice).verdict).toBe('valid');
    expect(finding(nested(3), twice)).toEqual(['protocol', [0, 1, 2]]);
    expect(finding([...nested(1), acquire('c2', 2, 3)], twice)).toEqual(['overlap', [0, 1]]);
  });

  test('a reentrant lock is free for others only when all is released', () => {
    const nested = [acquire('c1', 0, 1), acquire('c1', 2, 3), release('c1', 1, 4, 5)];
    expect(decided([...nested, acquire('c2', 6, 8), release('c1', 0, 7, 9)], twice).verdict).toBe('valid');
    expect(finding([...nested, acquire('c2', 6, 7), release('c1', 0, 8, 9)], twice)).toEqual(['overlap', [0, 3, 4]]);
  });

  test('as many hold as there are permits', () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => acquire(`c${n}`, n, n + 1));
    expect(decided(many(2), twoPermits).verdict).toBe('valid');
    expect(finding(many(3), twoPermits)).toEqual(['overlap', [0, 1, 2]]);
    expect(decided(many(4), twoPermits).found).toBe(2);
  });

  test('a fair lock is decided as a mutex, and says so', () => {
    const { verdict, notes } = decided([acquire('c1', 0, 1)], { kind: 'fair' });
    expect({ verdict, notes }).toEqual({
      verdict: 'valid',
      notes: ['a fair lock is decided as a mutex here: in which order it served is judged apart'],
    });
  });
});

describe('fencing tokens', () => {
  const two = (first: number, second: number) => [
    acquire('c1', 0, 2, { token: first }),
    release('c1', 0, 3, 5),
    acquire('c2', 1, 4, { token: second }),
    release('c2', 2, 6, 7),
  ];

  test('rise in the order that the cores force', () => {
    expect(decided(two(7, 8), fenced).verdict).toBe('valid');
    expect(finding(two(8, 7), fenced)).toEqual(['fence-inversion', [0, 1, 2, 3]]);
    expect(finding(two(7, 7), fenced)[0]).toBe('fence-inversion');
  });

  test('an inversion that needs no argument about holding is reported separately', () => {
    const plain = [acquire('c1', 0, 1, { token: 2 }), release('c1', 0, 2, 3), acquire('c2', 4, 5, { token: 1 })];
    const told = (list: Operation[]) => decided(list, fenced).notes.at(-1);
    expect(told(plain)).toContain('1 pair whose first grant was answered before the second was asked for');
    expect(told(two(8, 7))).toContain('0 pairs whose first grant was answered before the second was asked for');
  });

  test('an order that stamps leave open is the one in which they rise', () => {
    const list = [
      acquire('c1', 0, 3, { token: 2 }),
      acquire('c2', 0, 3, { token: 1 }),
      release('c1', 0, 3, 5),
      release('c2', 1, 3, 5),
    ];
    expect(order(list, fenced)).toEqual([1, 3, 0, 2]);
  });

  test('grants without a token are not judged', () => {
    const list = [acquire('c1', 0, 1, { token: 2 }), release('c1', 0, 2, 3), acquire('c2', 4, 5)];
    const { verdict, notes } = decided(list, fenced);
    expect({ verdict, notes }).toEqual({
      verdict: 'valid',
      notes: ['1 grant without a token: nothing is said of those'],
    });
  });
});

describe('refused tries that inform', () => {
  const held = { reason: 'held' };
  const two = [acquire('c1', 0, 2), release('c1', 0, 4, 6), acquire('c2', 10, 12), release('c2', 2, 14, 16)];
  const tried = (callNs: number, returnNs: number, reason = 'held') => [
    ...two,
    acquire('c3', callNs, returnNs, { reason }),
  ];

  test('are explained wherever a hold can have lasted, and not in a gap in which no client can have held', () => {
    const verdicts = [
      [0, 1],
      [5, 6],
      [6, 7],
      [7, 9],
      [9, 10],
      [16, 18],
      [17, 18],
    ].map(([callNs, returnNs]) => decided(tried(callNs!, returnNs!), mutex, TRIES).verdict);
    expect(verdicts).toEqual(['valid', 'valid', 'valid', 'invalid', 'valid', 'valid', 'invalid']);
  });

  test('are reported with the two holds around the gap', () => {
    expect(finding(tried(7, 9), mutex, TRIES)).toEqual(['try-in-free-gap', [0, 1, 2, 3, 4]]);
  });

  test('prove nothing where the reading ignores them, or where they were refused for another reason', () => {
    expect(decided(tried(7, 9), mutex, STRICT).verdict).toBe('valid');
    expect(decided(tried(7, 9, 'no-quorum'), mutex, TRIES).verdict).toBe('valid');
  });

  test('an unknown acquire that was never released explains those after all other holds, from its call on', () => {
    const list = (callNs: number, tryNs: number) => [
      acquire('c1', 0, 2),
      release('c1', 0, 4, 6),
      acquire('c2', callNs),
      acquire('c3', tryNs, tryNs, held),
    ];
    expect(decided(list(7, 8), mutex, TRIES).verdict).toBe('valid');
    expect(decided(list(8, 8), mutex, TRIES).verdict).toBe('valid');
    expect(order(list(3, 8), mutex, TRIES)).toEqual([0, 2, 1, 3]);
    expect(finding(list(9, 8), mutex, TRIES)[0]).toBe('try-in-free-gap');
  });

  test('but never those before another hold, for it would not have ended', () => {
    const list = [...two, acquire('c3', 7, 9, held), acquire('c4', 0)];
    expect(finding(list, mutex, TRIES)[0]).toBe('try-in-free-gap');
  });

  test('a search decides where an unknown hold may have come in between', () => {
    const list = [acquire('c1', 0), release('c1', 0, 3), acquire('c3', 4, 5, held), acquire('c2', 8, 9)];
    expect(decided(list, mutex, TRIES)).toMatchObject({ verdict: 'valid', procedure: 'search' });
  });
});

describe('leases', () => {
  test('a hold without a release is over when its lease has run', () => {
    const list = (leaseNs: number) => [acquire('c1', 0, 2, { leaseNs }), acquire('c2', 6, 8)];
    expect(order(list(8), mutex, LEASES)).toEqual([0, 1]);
    expect(finding(list(9), mutex, LEASES)).toEqual(['overlap', [0, 1]]);
    expect(finding(list(3), mutex, STRICT)).toEqual(['overlap', [0, 1]]);
  });

  test('a hold whose release succeeded lasted until then, whatever its lease', () => {
    const list = [acquire('c1', 0, 2, { leaseNs: 3 }), acquire('c2', 6, 8), release('c1', 0, 10, 12)];
    expect(finding(list, mutex, LEASES)).toEqual(['overlap', [0, 1, 2]]);
  });

  test('grants that fit in pairs need not fit in a row', () => {
    const chain = (lastNs: number) => [
      acquire('c1', 0, 3, { leaseNs: 5 }),
      acquire('c2', 3, 7, { leaseNs: 5 }),
      acquire('c3', 6, lastNs, { leaseNs: 5 }),
    ];
    expect(decided(chain(10), mutex, LEASES)).toMatchObject({ verdict: 'valid', procedure: 'lease-greedy' });
    expect(finding(chain(9), mutex, LEASES)).toEqual(['lease-chain', [0, 1, 2]]);
  });

  test('the chain goes back no further than to the last grant that was not pushed', () => {
    const list = [
      acquire('c0', 0, 1, { leaseNs: 2 }),
      acquire('c1', 10, 13, { leaseNs: 5 }),
      acquire('c2', 13, 17, { leaseNs: 5 }),
      acquire('c3', 16, 19, { leaseNs: 5 }),
    ];
    expect(finding(list, mutex, LEASES)).toEqual(['lease-chain', [1, 2, 3]]);
    expect(decided(list, mutex, LEASES).witnesses[0]!.proof).toContain('1 ns too early');
  });

  test('a hold inside another of the same client does not end that one', () => {
    const list = (lastNs: number) => [
      acquire('c1', 0, 3, { leaseNs: 10 }),
      acquire('c1', 4, 5, { leaseNs: 10 }),
      release('c1', 1, 6, 7),
      acquire('c2', 8, 12, { leaseNs: 5 }),
      acquire('c3', 11, lastNs, { leaseNs: 5 }),
    ];
    expect(decided(list(15), twice, LEASES).verdict).toBe('valid');
    expect(finding(list(14), twice, LEASES)).toEqual(['lease-chain', [0, 3, 4]]);
  });

  test('a read lock that its client may have got under its own write lock pushes no other client', () => {
    const list = [
      acquire('c1', 0, 1, { ...write, leaseNs: 2 }),
      acquire('c2', 0, 2, read),
      acquire('c1', 1, 1, read),
      release('c1', 2, 1, 1),
    ];
    expect(decided(list, readWrite, LEASES).verdict).toBe('valid');
  });

  test('a lease shorter than its acquire took is left to a search', () => {
    const list = [acquire('c1', 0, 10, { leaseNs: 2 }), acquire('c2', 1, 2, { leaseNs: 9 }), acquire('c3', 11, 12)];
    expect(decided(list, mutex, LEASES).verdict).toBe('valid');
  });

  test('a search that runs out of budget leaves it open, and says what was proved before', () => {
    const list = [acquire('c1', 0), acquire('c2', 0, 5, { leaseNs: 4 }), acquire('c3', 0, 5, { leaseNs: 4 })];
    const zone = [...list, release('c1', 0, 6, 7), acquire('c2', 8, 9, { leaseNs: 3 })];
    const decision = decided(zone, mutex, LEASES, { witnesses: 1, search: { configurations: 1, steps: 1 } });
    expect(decision.verdict).toBe('unknown');
    expect(decision.notes[0]).toBe('the fast procedures found nothing impossible');
  });
});

/** In the order of calls, which literals must have; holds keep naming the same acquires. */
function inOrder(list: readonly Operation[]): Operation[] {
  const sorted = list.map((one, at) => ({ one, at })).sort((a, b) => a.one.callNs - b.one.callNs || a.at - b.at);
  const place = new Map(sorted.map(({ at }, n) => [at, n]));
  return sorted.map(({ one }) => (one.hold === undefined ? one : { ...one, hold: place.get(one.hold)! }));
}

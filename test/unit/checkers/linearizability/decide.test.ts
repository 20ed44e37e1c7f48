/** Every rule of the fast procedures on a handful of operations: one history to accept and one to refuse. */
import { describe, expect, test } from 'vitest';
import { decide } from '../../../../checkers/linearizability/decide.js';
import type { DecideOptions, Decision, Reading, WitnessKind } from '../../../../checkers/linearizability/types.js';
import type { LockMode, LockModel } from '../../../../harness/vocabulary/protocol.js';
import { Story } from '../build.js';
import { keyOf } from './key-of.js';

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

function decided(story: Story, model = mutex, reading = STRICT, options = OPTIONS): Decision {
  return decide(keyOf(story), model, reading, options);
}

function order(story: Story, model = mutex, reading = STRICT): number[] | undefined {
  const { linearization } = decided(story, model, reading);
  return linearization && [...linearization.order];
}

/** The only finding, with its rows. */
function finding(story: Story, model = mutex, reading = STRICT): [WitnessKind, number[]] {
  const { verdict, found, witnesses } = decided(story, model, reading);
  expect({ verdict, found, listed: witnesses.length }).toEqual({ verdict: 'invalid', found: 1, listed: 1 });
  return [witnesses[0]!.kind, witnesses[0]!.rows];
}

describe('cores', () => {
  test('holds one after another are explained, in that order and at instants of theirs', () => {
    const story = new Story().acquire('c1', [0, 2]).release('c1', [4, 6]).acquire('c2', [3, 8]).release('c2', [9, 10]);
    const { verdict, procedure, linearization } = decided(story);
    expect({ verdict, procedure }).toEqual({ verdict: 'valid', procedure: 'cores' });
    expect([...linearization!.order]).toEqual([0, 2, 1, 3]);
    expect([...linearization!.pointsNs]).toEqual([2e9, 4e9, 8e9, 9e9]);
  });

  test('two certain holds at once are not', () => {
    const story = new Story().acquire('c1', [0, 2]).acquire('c2', [1, 4]).release('c1', [6, 8]).release('c2', [9, 10]);
    expect(finding(story)).toEqual(['overlap', [0, 1, 2, 3]]);
  });

  test('the proof names who held when, and for how long both did', () => {
    const story = new Story().acquire('c1', [0, 1]).acquire('c2', [0, 1.5]).release('c1', [2.312, 2.4]);
    expect(decided(story).witnesses[0]).toEqual({
      kind: 'overlap',
      key: 'lock:0',
      rows: [0, 1, 2],
      fromNs: 1.5e9,
      untilNs: 2.312e9,
      proof:
        'c1 certainly held lock:0 from 1.000 s to 2.312 s; c2 certainly held it from 1.500 s on, never to release it; ' +
        'both at once for at least 812 ms.',
    });
  });

  test('two that are never released are together from then on', () => {
    const story = new Story().acquire('c1', [0, 1]).acquire('c2', [0, 2]);
    expect(decided(story).witnesses[0]!.proof).toMatch(/; both at once from 2\.000 s on\.$/);
  });

  test('equal stamps are concurrent: one may end in the nanosecond in which the next begins', () => {
    expect(order(new Story().acquire('c1', [0, 2]).release('c1', [5, 6]).acquire('c2', [1, 5]))).toEqual([0, 2, 1]);
    expect(finding(new Story().acquire('c1', [0, 2]).acquire('c2', [1, 4]).release('c1', [5, 6]))[0]).toBe('overlap');
  });

  test('a hold of no length fits into any instant that is not inside another', () => {
    const around = (at: number) =>
      new Story().acquire('c2', [0, at]).release('c2', [at, 9]).acquire('c1', [1, 3]).release('c1', [6, 8]);
    expect([2, 3, 4, 6, 7].map((at) => decided(around(at)).verdict)).toEqual([
      'valid',
      'valid',
      'invalid',
      'valid',
      'valid',
    ]);
    expect(finding(around(4))).toEqual(['zone-in-cores', [0, 1, 2, 3]]);
  });

  test('every grant beside another is counted once, and the earliest are listed', () => {
    const story = new Story().times(20, (story, n) => story.acquire(`c${n}`, [n, n]));
    const decision = decided(story, mutex, STRICT, { ...OPTIONS, witnesses: 3 });
    expect(decision.found).toBe(19);
    expect(decision.witnesses.map(({ rows }) => rows)).toHaveLength(3);
  });

  test('one client alone: it is not granted what it holds, and does not release what it never got', () => {
    expect(finding(new Story().acquire('c1', [0, 1]).acquire('c1', [2, 3]))).toEqual(['protocol', [0, 1]]);
    const twiceReleased = new Story().acquire('c1', [0, 1]).release('c1', [2, 3]).release('c1', [4, 5]);
    expect(finding(twiceReleased)).toEqual(['protocol', [0, 1, 2]]);
    expect(finding(new Story().acquire('c1', [0, 1], { reason: 'held' }).release('c1', [2, 3], { hold: 1 }))).toEqual([
      'protocol',
      [1],
    ]);
  });
});

describe('unknown outcomes', () => {
  test('an acquire that was never released need not have happened', () => {
    expect(order(new Story().acquire('c1', [0]).acquire('c2', [1, 2]).release('c2', [3, 4]))).toEqual([1, 2]);
  });

  test('a release counts from its call', () => {
    const story = (called: number) => new Story().acquire('c1', [0, 1]).release('c1', [called]).acquire('c2', [2, 5]);
    expect(order(story(4))).toEqual([0, 2, 1]);
    expect(finding(story(6))).toEqual(['overlap', [0, 1, 2]]);
  });

  test('unless a later release of the same hold succeeded: then the hold lasted until that one', () => {
    const story = new Story().acquire('c1', [0, 1]).release('c1', [2]).acquire('c2', [3, 4]);
    expect(decided(story).verdict).toBe('valid');
    expect(finding(story.release('c1', [5, 6]))).toEqual(['overlap', [0, 2, 3]]);
  });

  test('an acquire whose release succeeded took effect at an instant when no other client held', () => {
    const story = (called: number, answered: number) =>
      new Story()
        .acquire('c1', [0])
        .acquire('c2', [1, 2])
        .release('c1', [called, answered])
        .release('c2', [6, 7])
        .acquire('c2', [8, 9]);
    expect(order(story(4, 6))).toEqual([1, 3, 0, 2, 4]);
    expect(finding(story(3, 5))).toEqual(['zone-in-cores', [0, 1, 2, 3]]);
  });
});

describe('releases that were answered "not yours"', () => {
  const denied = (reason = 'not-owner') => new Story().acquire('c1', [0, 1]).release('c1', [2, 3], { reason });
  const story = denied().acquire('c2', [4, 5]);

  test('change nothing in the strict reading, and are reported', () => {
    expect(finding(story)).toEqual(['overlap', [0, 2]]);
    expect(decided(story).notes).toEqual([
      '1 release of known holds told "not yours": strictly an error of the client\'s that ends nothing',
    ]);
  });

  test('end the hold where that is the reading, so that nothing is left to release', () => {
    expect(order(story, mutex, DENIED_ENDS)).toEqual([0, 1, 2]);
    const again = denied().release('c1', [4, 5]);
    expect(finding(again, mutex, DENIED_ENDS)).toEqual(['protocol', [0, 1, 2]]);
    // In the same nanosecond the one that succeeded may have come first.
    const tied = denied().release('c1', [3, 5]);
    expect(decided(tied, mutex, DENIED_ENDS).verdict).toBe('valid');
  });

  test('end nothing where they reached no server', () => {
    const unreached = denied('unreachable').acquire('c2', [4, 5]);
    expect(finding(unreached, mutex, DENIED_ENDS)).toEqual(['overlap', [0, 2]]);
  });
});

describe('other locks', () => {
  test('readers share, a writer excludes', () => {
    const pair = (first: LockMode, second: LockMode) =>
      new Story()
        .acquire('c1', [0, 2], { mode: first })
        .acquire('c2', [1, 3], { mode: second })
        .release('c1', [5, 6])
        .release('c2', [5, 6]);
    expect(decided(pair('read', 'read'), readWrite).verdict).toBe('valid');
    expect(finding(pair('write', 'read'), readWrite)[0]).toBe('overlap');
    expect(finding(pair('read', 'write'), readWrite)[0]).toBe('overlap');
  });

  test('a client reads under its own write lock, and is not granted the write lock while it reads', () => {
    expect(decided(new Story().acquire('c1', [0, 1], write).acquire('c1', [2, 3], read), readWrite).verdict).toBe(
      'valid',
    );
    expect(finding(new Story().acquire('c1', [0, 1], read).acquire('c1', [2, 3], write), readWrite)).toEqual([
      'protocol',
      [0, 1],
    ]);
  });

  test('where stamps are equal the write lock may have come first: it is held from then', () => {
    const story = new Story().acquire('c1', [0, 2], read).acquire('c1', [2, 6], write);
    expect(order(story, readWrite)).toEqual([1, 0]);
    expect(finding(story.acquire('c2', [1, 3], read).release('c2', [5, 6]), readWrite)).toEqual([
      'overlap',
      [0, 1, 2, 3],
    ]);
  });

  test('an unknown writer needs an instant without readers, which several of them may leave it none', () => {
    const story = (second: number) =>
      new Story()
        .acquire('c3', [0], write)
        .acquire('c1', [0, 1], read)
        .acquire('c2', [0, second], read)
        .release('c3', [3, 7])
        .release('c1', [5, 6])
        .release('c2', [9, 9]);
    expect(decided(story(5), readWrite).verdict).toBe('valid');
    expect(finding(story(4), readWrite)).toEqual(['zone-in-cores', [0, 1, 2, 3, 4, 5]]);
  });

  test('the holds that leave it none at its first instant are named, not one that begins then and lasts longer', () => {
    const story = new Story()
      .acquire('c3', [0], write)
      .acquire('c1', [0, 1], read)
      .acquire('c2', [2, 3], read)
      .release('c3', [3, 4])
      .release('c1', [5, 6])
      .release('c2', [9, 9]);
    expect(finding(story, readWrite)).toEqual(['zone-in-cores', [0, 1, 3, 4]]);
  });

  test('a reentrant lock is taken again by its owner, up to its depth', () => {
    const nested = (times: number) => new Story().times(times, (story, n) => story.acquire('c1', [2 * n, 2 * n + 1]));
    expect(decided(nested(2), twice).verdict).toBe('valid');
    expect(finding(nested(3), twice)).toEqual(['protocol', [0, 1, 2]]);
    expect(finding(nested(1).acquire('c2', [2, 3]), twice)).toEqual(['overlap', [0, 1]]);
  });

  test('a reentrant lock is free for others only when all is released', () => {
    const nested = () => new Story().acquire('c1', [0, 1]).acquire('c1', [2, 3]).release('c1', [4, 5]);
    expect(decided(nested().acquire('c2', [6, 8]).release('c1', [7, 9], { hold: 1 }), twice).verdict).toBe('valid');
    expect(finding(nested().acquire('c2', [6, 7]).release('c1', [8, 9], { hold: 1 }), twice)).toEqual([
      'overlap',
      [0, 3, 4],
    ]);
  });

  test('as many hold as there are permits', () => {
    const many = (count: number) => new Story().times(count, (story, n) => story.acquire(`c${n}`, [n, n + 1]));
    expect(decided(many(2), twoPermits).verdict).toBe('valid');
    expect(finding(many(3), twoPermits)).toEqual(['overlap', [0, 1, 2]]);
    expect(decided(many(4), twoPermits).found).toBe(2);
  });

  test('a fair lock is decided as a mutex, and says so', () => {
    const { verdict, notes } = decided(new Story().acquire('c1', [0, 1]), { kind: 'fair' });
    expect({ verdict, notes }).toEqual({
      verdict: 'valid',
      notes: ['a fair lock is decided as a mutex here: in which order it served is judged apart'],
    });
  });
});

describe('fencing tokens', () => {
  const two = (first: number, second: number) =>
    new Story()
      .acquire('c1', [0, 2], { token: first })
      .release('c1', [3, 5])
      .acquire('c2', [1, 4], { token: second })
      .release('c2', [6, 7]);

  test('rise in the order that the cores force', () => {
    expect(decided(two(7, 8), fenced).verdict).toBe('valid');
    expect(finding(two(8, 7), fenced)).toEqual(['fence-inversion', [0, 1, 2, 3]]);
    expect(finding(two(7, 7), fenced)[0]).toBe('fence-inversion');
  });

  test('an inversion that needs no argument about holding is reported separately', () => {
    const plain = new Story()
      .acquire('c1', [0, 1], { token: 2 })
      .release('c1', [2, 3])
      .acquire('c2', [4, 5], { token: 1 });
    const told = (story: Story) => decided(story, fenced).notes.at(-1);
    expect(told(plain)).toContain('1 grant asked for when one with no lower token had been answered');
    expect(told(two(8, 7))).toContain('0 grants asked for when one with no lower token had been answered');
  });

  test('an order that stamps leave open is the one in which they rise', () => {
    const story = new Story()
      .acquire('c1', [0, 3], { token: 2 })
      .acquire('c2', [0, 3], { token: 1 })
      .release('c1', [3, 5])
      .release('c2', [3, 5]);
    expect(order(story, fenced)).toEqual([1, 3, 0, 2]);
  });

  test('grants without a token are not judged', () => {
    const story = new Story().acquire('c1', [0, 1], { token: 2 }).release('c1', [2, 3]).acquire('c2', [4, 5]);
    const { verdict, notes } = decided(story, fenced);
    expect({ verdict, notes }).toEqual({
      verdict: 'valid',
      notes: ['1 grant without a token: nothing is said of those'],
    });
  });
});

describe('refused tries that inform', () => {
  const held = { reason: 'held' };
  const two = () =>
    new Story().acquire('c1', [0, 2]).release('c1', [4, 6]).acquire('c2', [10, 12]).release('c2', [14, 16]);
  const tried = (called: number, answered: number, reason = 'held') =>
    two().acquire('c3', [called, answered], { reason });

  test('are explained wherever a hold can have lasted, and not in a gap in which no client can have held', () => {
    const verdicts = [
      [0, 1],
      [5, 6],
      [6, 7],
      [7, 9],
      [9, 10],
      [16, 18],
      [17, 18],
    ].map(([called, answered]) => decided(tried(called!, answered!), mutex, TRIES).verdict);
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
    const story = (called: number, tried: number) =>
      new Story()
        .acquire('c1', [0, 2])
        .release('c1', [4, 6])
        .acquire('c2', [called])
        .acquire('c3', [tried, tried], held);
    expect(decided(story(7, 8), mutex, TRIES).verdict).toBe('valid');
    expect(decided(story(8, 8), mutex, TRIES).verdict).toBe('valid');
    expect(order(story(3, 8), mutex, TRIES)).toEqual([0, 2, 1, 3]);
    expect(finding(story(9, 8), mutex, TRIES)[0]).toBe('try-in-free-gap');
  });

  test('but never those before another hold, for it would not have ended', () => {
    const story = tried(7, 9).acquire('c4', [0]);
    expect(finding(story, mutex, TRIES)[0]).toBe('try-in-free-gap');
  });

  test('a search decides where an unknown hold may have come in between', () => {
    const story = new Story().acquire('c1', [0]).release('c1', [3]).acquire('c3', [4, 5], held).acquire('c2', [8, 9]);
    expect(decided(story, mutex, TRIES)).toMatchObject({ verdict: 'valid', procedure: 'search' });
  });
});

describe('leases', () => {
  test('a hold without a release is over when its lease has run', () => {
    const story = (leaseMs: number) => new Story().acquire('c1', [0, 2], { leaseMs }).acquire('c2', [6, 8]);
    expect(order(story(8_000), mutex, LEASES)).toEqual([0, 1]);
    expect(finding(story(9_000), mutex, LEASES)).toEqual(['overlap', [0, 1]]);
    expect(finding(story(3_000), mutex, STRICT)).toEqual(['overlap', [0, 1]]);
  });

  test('a hold whose release succeeded lasted until then, whatever its lease', () => {
    const story = new Story().acquire('c1', [0, 2], { leaseMs: 3_000 }).acquire('c2', [6, 8]).release('c1', [10, 12]);
    expect(finding(story, mutex, LEASES)).toEqual(['overlap', [0, 1, 2]]);
  });

  test('grants that fit in pairs need not fit in a row', () => {
    const chain = (last: number) =>
      new Story()
        .acquire('c1', [0, 3], { leaseMs: 5_000 })
        .acquire('c2', [3, 7], { leaseMs: 5_000 })
        .acquire('c3', [6, last], { leaseMs: 5_000 });
    expect(decided(chain(10), mutex, LEASES)).toMatchObject({ verdict: 'valid', procedure: 'lease-greedy' });
    expect(finding(chain(9), mutex, LEASES)).toEqual(['lease-chain', [0, 1, 2]]);
  });

  test('the chain goes back no further than to the last grant that was not pushed', () => {
    const story = new Story()
      .acquire('c0', [0, 1], { leaseMs: 2_000 })
      .acquire('c1', [10, 13], { leaseMs: 5_000 })
      .acquire('c2', [13, 17], { leaseMs: 5_000 })
      .acquire('c3', [16, 19], { leaseMs: 5_000 });
    expect(finding(story, mutex, LEASES)).toEqual(['lease-chain', [1, 2, 3]]);
    expect(decided(story, mutex, LEASES).witnesses[0]!.proof).toContain('1 s too early');
  });

  test('a hold inside another of the same client does not end that one', () => {
    const story = (last: number) =>
      new Story()
        .acquire('c1', [0, 3], { leaseMs: 10_000 })
        .acquire('c1', [4, 5], { leaseMs: 10_000 })
        .release('c1', [6, 7])
        .acquire('c2', [8, 12], { leaseMs: 5_000 })
        .acquire('c3', [11, last], { leaseMs: 5_000 });
    expect(decided(story(15), twice, LEASES).verdict).toBe('valid');
    expect(finding(story(14), twice, LEASES)).toEqual(['lease-chain', [0, 3, 4]]);
  });

  test('a read lock that its client may have got under its own write lock pushes no other client', () => {
    const story = new Story()
      .acquire('c1', [0, 1], { ...write, leaseMs: 2_000 })
      .acquire('c2', [0, 2], read)
      .acquire('c1', [1, 1], read)
      .release('c1', [1, 1]);
    expect(decided(story, readWrite, LEASES).verdict).toBe('valid');
  });

  test('a lease shorter than its acquire took is left to a search', () => {
    const story = new Story()
      .acquire('c1', [0, 10], { leaseMs: 2_000 })
      .acquire('c2', [1, 2], { leaseMs: 9_000 })
      .acquire('c3', [11, 12]);
    expect(decided(story, mutex, LEASES).verdict).toBe('valid');
  });

  test('a search that runs out of budget leaves it open, and says what was proved before', () => {
    const story = new Story()
      .acquire('c1', [0])
      .acquire('c2', [0, 5], { leaseMs: 4_000 })
      .acquire('c3', [0, 5], { leaseMs: 4_000 });
    story.release('c1', [6, 7]).acquire('c2', [8, 9], { leaseMs: 3_000 });
    const decision = decided(story, mutex, LEASES, { witnesses: 1, search: { configurations: 1, steps: 1 } });
    expect(decision.verdict).toBe('unknown');
    expect(decision.notes[0]).toBe('the fast procedures found nothing impossible');
  });
});

import { expect, it } from 'vitest';
import { waiting } from '../../../../checkers/liveness/waiting.js';
import type { Deadlines, LockModel } from '../../../../harness/vocabulary/protocol.js';
import { KEY, LEASE_MS, ns, Story } from '../build.js';

const kinds = (story: Story) => waiting.check(story.input()).violations.map(({ kind }) => kind);

/** A server is seen without the key from `from` until `until`, twice a second. */
function free(story: Story, from: number, until: number): Story {
  for (let at = from; at <= until; at += 0.5) story.sample(at, 'r1');
  return story;
}

interface Waited {
  from?: number;
  until?: number;
  /** When the attempt that was granted left; none: it was refused. */
  granted?: number;
  reason?: string;
}

/** c2 asks at `from` and is to wait for 20 s. */
function waits(story: Story, { from = 2, until = 20, granted, reason = 'held' }: Waited = {}): Story {
  const about = { client: 'c2', id: 90, op: 'acquire', key: KEY } as const;
  const stamps = { beganNs: ns(from), endedNs: ns(until) };
  return story
    .event(from, { type: 'invoke', ...about, leaseMs: LEASE_MS, waitMs: 20_000 })
    .event(
      until,
      granted === undefined
        ? { type: 'fail', ...about, ...stamps, reason }
        : { type: 'ok', ...about, ...stamps, grantSentNs: ns(granted) },
    );
}

/** c1 holds from 1 s and dies at 3 s: its lease of 5 s is over at 8 s at the latest. */
const died = () => new Story().up('c1').up('c2').grant('c1', 1).down('c1', 3);

it('rejects a wait that went on beside a free lock, refused in the end', () => {
  const result = waiting.check(free(waits(died()), 8, 20).input());
  expect(result).toMatchObject({
    verdict: 'invalid',
    stats: { sleptBesideFreeLock: 1 },
    violations: [{ class: 'liveness', kind: 'slept', key: KEY, fromNs: ns(8), untilNs: ns(20), holds: [] }],
  });
  expect(result.violations[0]!.proof).toMatch(
    /^No client held lock:0 or can have held it from 8\.000 s on; c2, .* waited on for 12 s, longer than any lease, and got the answer at 20\.000 s that it is held\.$/,
  );
});

it('counts from the death of a holder, whose lock may have renewed it, though it had said before that it cannot tell', () => {
  const gaveUp = new Story().up('c1').up('c2').grant('c1', 1).extend('c1', 2, LEASE_MS, { type: 'info' }).down('c1', 3);
  expect(waiting.check(free(waits(gaveUp), 8, 20).input()).violations).toMatchObject([{ fromNs: ns(8) }]);
});

it('and one that was granted by an attempt that left so late', () => {
  const result = waiting.check(free(waits(died(), { granted: 19.9 }), 8, 20).input());
  expect(result.violations).toMatchObject([{ kind: 'slept', untilNs: ns(19.9), holds: [{ client: 'c2' }] }]);
  expect(kinds(free(waits(died(), { granted: 14.9 }), 8, 20))).toEqual([]);
  expect(kinds(free(waits(died(), { granted: 15.1 }), 8, 20))).toEqual(['slept']);
});

it('accepts where a client held, or may have, within a lease and the grace before its end', () => {
  const until = (at: number) => kinds(free(waits(new Story().grant('c1', 1).release('c1', at)), at + 5, 20));
  // Its release may have gone wrong, and its key have stayed for a lease.
  expect(until(7.9)).toEqual(['slept']);
  expect(until(8.1)).toEqual([]);
  expect(kinds(free(waits(new Story().grant('c1', 1)), 8, 20))).toEqual([]); // and never released it
  expect(kinds(free(waits(died().grant('c3', 15)), 8, 20))).toEqual([]);
  expect(kinds(free(waits(died().refused('c3', 14, 15, 'info')), 8, 20))).toEqual([]);
  expect(kinds(free(waits(died().refused('c3', 6, 7)), 8, 20))).toEqual(['slept']);
  // Another that waited too, and was granted by an attempt that left after this one had given up.
  expect(kinds(free(waits(died().grant('c3', 20.5, { sent: 2 })), 8, 20))).toEqual(['slept']);
});

it('accepts where another client was given up, or died, while it waited: it may have a place in a queue', () => {
  expect(kinds(free(waits(died().refused('c3', 1.5, 1.6, 'info')), 8, 20))).toEqual([]);
  const unanswered = (key: string) =>
    died().event(4, { type: 'invoke', client: 'c3', id: 1, op: 'acquire', key, leaseMs: LEASE_MS }).down('c3', 5);
  expect(kinds(free(waits(unanswered(KEY)), 8, 20))).toEqual([]);
  expect(kinds(free(waits(unanswered('lock:1')), 8, 20))).toEqual(['slept']);
});

it('accepts a renewal that was for longer, and a refusal that was for another reason', () => {
  const renewed = new Story().grant('c1', 1).renewed('c1', 2, 12_000).down('c1', 3);
  expect(kinds(free(waits(renewed), 15, 20))).toEqual([]);
  expect(kinds(free(waits(died(), { reason: 'unreachable' }), 8, 20))).toEqual([]);
});

it('a wait that is no longer than a lease and the grace is not judged', () => {
  expect(kinds(free(waits(new Story(), { from: 2, until: 9 }), 2, 9))).toEqual([]);
  expect(kinds(free(waits(new Story(), { from: 2, until: 9.1 }), 2, 9))).toEqual(['slept']);
});

it('accepts where a server was seen with the key, and where none was seen', () => {
  expect(kinds(free(waits(died()), 8, 20).sample(14, 'r1', { owner: 'somebody' }))).toEqual([]);
  expect(kinds(free(waits(died()), 8, 20).sample(14, 'r2', { owner: 'somebody', role: 'replica' }))).toEqual([]);
  // At the edge it may be older than its line.
  expect(kinds(free(waits(died()), 9, 20).sample(8.1, 'r1', { owner: 'of-c1' }))).toEqual(['slept']);
  expect(kinds(waits(died()))).toEqual([]);
});

it('accepts where a fault was in force, or shortly before, except that another client was killed', () => {
  const struck = (from: number, until: number, who: string[], kind: 'killed' | 'stopped' = 'killed') =>
    kinds(
      free(waits(died()), 8, 20)
        .fault(from, 0, 'any', 'strike', { targets: who, effects: who.length > 0 ? [{ kind, who }] : [] })
        .fault(until, 0, 'any', 'heal', { targets: who }),
    );
  expect(struck(0.1, 0.2, ['r1'])).toEqual([]);
  expect(struck(10, 11, ['r1'])).toEqual([]);
  expect(struck(10, 11, ['c2'])).toEqual([]);
  expect(struck(10, 11, [])).toEqual([]);
  expect(struck(10, 11, ['c1', 'r1'])).toEqual([]);
  expect(struck(10, 11, ['c1'], 'stopped')).toEqual([]);
  expect(struck(2.9, 30, ['c1'])).toEqual(['slept']);
  expect(struck(21, 22, ['r1'])).toEqual(['slept']);
});

it('a fault on another client excuses it no longer than that can have a place in the queue, as the lock declares', () => {
  const about = { client: 'c3', slot: 'c3', host: 'c3', address: '10.77.0.9', lock: 'fair', features: [] };
  const stopped = (deadlines: Deadlines | undefined, until: number, who = ['c3']) => {
    const story = new Story().event(0, { type: 'client-up', ...about, ...(deadlines && { deadlines }) });
    story.up('c1').up('c2').grant('c1', 1).down('c1', 3);
    story.fault(2.5, 0, 'pause', 'strike', { targets: who, effects: [{ kind: 'stopped', who }] });
    story.fault(until, 0, 'pause', 'heal', { targets: who });
    return kinds(free(waits(story), 8, 20));
  };
  expect(stopped({ place: 1_000 }, 30)).toEqual(['slept']);
  expect(stopped({ place: 6_000 }, 30)).toEqual([]);
  expect(stopped({ place: 'never' }, 30)).toEqual([]);
  expect(stopped(undefined, 30)).toEqual([]);
  // It runs again while the wait goes on, and asks.
  expect(stopped({ place: 1_000 }, 21)).toEqual([]);
  expect(stopped({ place: 1_000 }, 30, ['c2'])).toEqual([]);
  expect(stopped({ place: 1_000 }, 30, ['r1'])).toEqual([]);
});

it('accepts where the machine stalled, or the deployment was not as configured', () => {
  expect(kinds(free(waits(died()), 8, 20).disturbed(9, 'harness-stall', 1_200))).toEqual([]);
  expect(kinds(free(waits(died()), 8, 20).disturbed(9, 'wall-clock-step', -5_000))).toEqual([]);
  expect(kinds(free(waits(died()), 8, 20).disturbed(9, 'harness-stall', 200))).toEqual(['slept']);
  const mishap = free(waits(died()), 8, 20).fault(3, -1, 'server', 'failed', {
    proof: 'r1 ended by itself',
    mishap: 'server',
  });
  expect(kinds(mishap)).toEqual([]);
});

it('judges locks on one logical server, but not permits', () => {
  const promised = (model: LockModel) => kinds(free(waits(died()), 8, 20).promised(model));
  expect(promised({ kind: 'reentrant', depth: 4 })).toEqual(['slept']);
  expect(promised({ kind: 'semaphore', permits: 2 })).toEqual([]);
  expect(promised({ kind: 'fair' })).toEqual(['slept']);
  expect(kinds(free(waits(died()), 8, 20).independent())).toEqual([]);
});

it('cannot tell where observations are missing, if a client waited that long', () => {
  const closed = (story: Story) => story.event(21, { type: 'closed', observations: 30 });
  expect(waiting.check(free(waits(closed(died())), 8, 20).input())).toMatchObject({
    verdict: 'unknown',
    violations: [],
    notes: [expect.stringContaining('it has 25 of the 30 lines')],
  });
  expect(waiting.check(closed(died()).input())).toMatchObject({ verdict: 'valid', notes: [] });
});

/**
 * That a lock did not look at what WAIT answers is said where no replica can have acknowledged; for each link of that there is a story
 * that lacks only that one.
 */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { KEY, Story } from '../build.js';

const REPLICA = { role: 'replica' } as const;
const CUT_OFF: [string, string][] = [
  ['r1', 'r2'],
  ['r1', 'r3'],
];

interface Told {
  pairs?: [string, string][];
  cutAt?: number;
  healedAt?: number;
  /** What c1 asks for after it stored its value. */
  asks?: string[];
  askedAt?: number;
  from?: string;
  before?(story: Story): Story;
}

/** r1 is cut off from 0.5 s on, and grants c1 at 1.25 s what it had stored at 1 s; r2 is primary from 1.5 s on, and grants c2 at 3 s. */
function causeOf({
  pairs = CUT_OFF,
  cutAt = 0.5,
  healedAt = 4,
  asks = ['WAIT', '2', '250'],
  askedAt = 1.001,
  from,
  before = (story) => story,
}: Told = {}) {
  const effects: FaultEffect[] = [{ kind: 'cut', pairs }];
  const story = new Story()
    .replicated()
    .up('c1')
    .up('c2')
    .grant('c1', 1.25, { sent: 0.997, began: 0.998, grantSent: 0.999 })
    .grant('c2', 3)
    .release('c1', 4)
    .release('c2', 4)
    .fault(cutAt, 0, 'partition', 'strike', { effects, did: 'cut r1 off' })
    .fault(healedAt, 0, 'partition', 'heal')
    .watch(0, 'r1')
    .watch(0, 'r2')
    .watch(0, 'r3')
    .looks(0.3, 1, 'r1')
    .looks(1.05, 3.5, 'r1', { owner: 'value-of-c1' })
    .looks(0.3, 3.5, 'r3', REPLICA)
    .looks(0.3, 1.5, 'r2', REPLICA)
    .looks(1.5, 2.95, 'r2')
    .take(1, 'r1', 'c1');
  before(story).command(askedAt, 'r1', 'c1', asks, 0, from);
  return mutualExclusion.check(story.take(2.999, 'r2', 'c2').input()).violations[0]!.cause;
}
const named = (told?: Told) => causeOf(told).name;

it('is told with what was asked for, and why nobody can have it', () => {
  const { name, sentence, chain } = causeOf();
  expect(name).toBe('granted-unacknowledged');
  expect(sentence).toBe(
    "r2 replaced r1 as primary without c1's lock:0, and granted it to c2; c1 had asked for the acknowledgement of replicas (WAIT) while r1 could reach none, and took the lock all the same.",
  );
  expect(chain.map(({ text }) => text)).toEqual([
    'r1 could not reach r2 (partition: cut r1 off)',
    'r1 granted lock:0 to c1 (SET)',
    'c1 asked for the acknowledgement of replicas (WAIT), of which r1 could reach none',
    expect.stringMatching(/^r2 was/),
    expect.stringMatching(/^r2/),
    expect.stringMatching(/^r2/),
    'r2 granted lock:0 to c2 (SET)',
    expect.stringMatching(/lease would have run$/),
  ]);
  expect(named({ asks: ['wait', '1', '0'] })).toBe('granted-unacknowledged');
  expect(named({ asks: ['WAITAOF', '0', '1', '250'] })).toBe('granted-unacknowledged');
});

describe('not, but that a failover lost it,', () => {
  it('where its client asked for no acknowledgement, or for that of no replica', () => {
    expect(named({ asks: ['GET', KEY] })).toBe('failover-lost-write');
    expect(named({ asks: ['WAIT', '0', '250'] })).toBe('failover-lost-write');
    expect(named({ asks: ['WAITAOF', '1', '0', '250'] })).toBe('failover-lost-write');
    expect(named({ asks: ['WAIT'] })).toBe('failover-lost-write');
  });

  it('where it asked only when it had been granted, over another connection, or not right after it had stored that', () => {
    expect(named({ askedAt: 1.3 })).toBe('failover-lost-write');
    expect(named({ from: '10.77.0.9:40001' })).toBe('failover-lost-write');
    expect(named({ before: (s) => s.command(1.0005, 'r1', 'c1', ['GET', KEY]) })).toBe('failover-lost-write');
  });

  it('where one replica may have had it', () => {
    expect(named({ pairs: [['r1', 'r2']] })).toBe('failover-lost-write');
    expect(named({ healedAt: 1.2 })).not.toBe('granted-unacknowledged');
    expect(named({ cutAt: 0.9995 })).not.toBe('granted-unacknowledged');
  });
});

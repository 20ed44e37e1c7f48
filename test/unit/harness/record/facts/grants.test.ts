/** That a request of which its own server tells neither was granted, by what a replica got of it: each link of it is taken away once. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../../checkers/exclusion/mutual-exclusion.js';
import { Evidence } from '../../../../../harness/record/facts/evidence.js';
import { holdsOf } from '../../../../../harness/record/facts/holds.js';
import { EPOCH_WALL_MS, KEY, Story } from '../../../checkers/build.js';

const ASKED_AT = 6;
const VALUE = 'value-of-c2';
const ENDS_MS = EPOCH_WALL_MS + ASKED_AT * 1_000 + 5_000;

interface Told {
  /** When c2 asks r2, whose key of c1's is over at 6 s. */
  askedAt?: number;
  /** What r3 gets, and by whom it is sent. */
  copy?: string[] | null;
  by?: string;
  /** What r3 is at the look before, and at the one after it. */
  before?: 'primary' | 'replica';
  after?: 'primary' | 'replica';
  and?: (story: Story) => Story;
}

const set = (endsMs = ENDS_MS) => ['SET', KEY, VALUE, 'PXAT', String(endsMs)];

/** r1 grants c1 five seconds at 1 s, which r2 and r3 store, and more at 3 s; r2 takes over at 2.5 s, and is asked by c2 at 6 s. */
function told({
  askedAt = ASKED_AT,
  copy = set(),
  by = 'link',
  before = 'replica',
  after = 'replica',
  and = (story) => story,
}: Told = {}): Story {
  const story = new Story().replicated().up('c1').up('c2').up('c3').grant('c1', 1.001, { grantSent: 0.999 });
  story
    .extend('c1', 3)
    .grant('c2', askedAt + 0.001)
    .release('c1', 7.5)
    .release('c2', 9);
  for (const node of ['r1', 'r2', 'r3']) story.watch(0, node);
  story.looks(0.5, 0.9, 'r1').take(1, 'r1', 'c1').looks(1.05, 2.9, 'r1', { owner: 'value-of-c1' });
  story.command(3, 'r1', 'c1', ['PEXPIRE', KEY, '5000']).sample(3.15, 'r1', { owner: 'value-of-c1' });
  for (const node of ['r2', 'r3']) {
    story.looks(0.5, 0.9, node, { role: 'replica' });
    story.command(1.001, node, 'link', ['SET', KEY, 'value-of-c1', 'PXAT', String(EPOCH_WALL_MS + 6_000)]);
  }
  for (let at = 1.1; at < 5.95; at += 0.1) {
    const ms = Math.floor(EPOCH_WALL_MS + at * 1_000);
    const seen = { owner: 'value-of-c1', pttlMs: EPOCH_WALL_MS + 6_000 - ms, wallMs: [ms, ms + 1] as [number, number] };
    story.sample(at, 'r2', { ...seen, role: at < 2.45 ? 'replica' : 'primary', ...(at < 2.45 && { linkUp: true }) });
    story.sample(at, 'r3', { ...seen, role: at > 5.85 ? before : 'replica' });
  }
  story.take(askedAt, 'r2', 'c2');
  if (copy) story.command(askedAt + 0.0005, 'r3', by, copy);
  return and(story.sample(6.1, 'r3', { role: after, owner: VALUE, pttlMs: 4_900 }));
}

function tookOf(changed: Told): boolean | undefined {
  const input = told(changed).input();
  const hold = [...holdsOf(input.history)].find(({ client }) => client === 'c2')!;
  return new Evidence(input).grantsOf(hold).find(({ node }) => node === 'r2')?.took;
}

describe('a take that came in the millisecond in which the time of what was there was over', () => {
  it('was granted where a replica got what it asked for, and nobody else can have asked for it', () => {
    expect(tookOf({ copy: null })).toBeUndefined();
    expect(tookOf({})).toBe(true);
    expect(tookOf({ copy: set(ENDS_MS + 1) })).toBe(true);
  });

  it('is not needed where its own server tells', () => {
    expect(tookOf({ askedAt: 6.01, copy: null })).toBe(true);
    expect(tookOf({ askedAt: 5.9 })).toBe(false);
  });

  it.each<[string, Told]>([
    ['it is another value', { copy: ['SET', KEY, 'value-of-c3', 'PXAT', String(ENDS_MS)] }],
    ['it is to end when another request said', { copy: set(ENDS_MS + 3) }],
    ['it never ends', { copy: ['SET', KEY, VALUE] }],
    ['it did not come over the link', { by: 'c3' }],
    ['its node had been primary', { before: 'primary' }],
    ['its node was primary next', { after: 'primary' }],
    ['another one asked for it, too', { and: (story) => story.take(5.999, 'r1', 'c3', VALUE) }],
    ['its client asked for it twice', { and: (story) => story.take(5.999, 'r2', 'c2') }],
    ['it may have been asked for elsewhere', { and: (story) => story.watch(5.9995, 'r1', false).watch(6.05, 'r1') }],
    ['it may have been asked for twice', { and: (story) => story.watch(6.0002, 'r2', false).watch(6.05, 'r2') }],
  ])('is left open where %s', (_, changed) => {
    expect(tookOf(changed)).toBeUndefined();
  });

  it('is no matter where nobody was watching a server that was dead', () => {
    const dead = (at: number) => (story: Story) =>
      story
        .watch(4, 'r1', false)
        .watch(7, 'r1')
        .fault(at, 0, 'kill', 'strike', {
          targets: ['r1'],
          effects: [{ kind: 'killed', who: ['r1'], sinceNs: at * 1e9 }],
        })
        .fault(6.9, 0, 'kill', 'heal', { targets: ['r1'] });
    expect(tookOf({ and: dead(4) })).toBe(true);
    expect(tookOf({ and: dead(5.9999) })).toBeUndefined();
  });

  it('says why both had it', () => {
    const causeOf = (changed: Told) => mutualExclusion.check(told(changed).input()).violations[0]!.cause.name;
    expect(causeOf({})).toBe('failover-lost-renewal');
    expect(causeOf({ copy: null })).toBe('unexplained');
  });
});

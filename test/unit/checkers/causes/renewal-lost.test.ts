/** That a failover lost a renewal: for each link of it a story that lacks only that one. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { EPOCH_WALL_MS, KEY, Story } from '../build.js';

const OWNER = 'value-of-c1';
/** When c1's time is over where nothing came after its grant. */
const OVER_MS = 5_999;
const causeOf = (story: Story) => mutualExclusion.check(story.input()).violations[0]!.cause;

interface Told {
  /** What came to r2 of c1's grant. */
  ttlMs?: number;
  /** When the coordinator read of c1's grant, in seconds. */
  readAt?: number;
  /** r2 had no link until 1.3 s, and loaded it then with all that r1 had. */
  isLoaded?: boolean;
  /** c1's renewal at 3 s, as r1 carries it out; absent: not at all. */
  renewal?: string[] | null;
  renewedBy?: string;
  /** Whether r1 was looked at after that. */
  looked?: boolean;
  /** When c2 takes it on r2. */
  takenAt?: number;
  /** Of r2's last look at it. */
  pttlMs?: number;
  /** When it was to end at the looks before that. */
  endsMs?: number;
  skewMs?: number;
  /** From when on r2 is primary. */
  promotedAt?: number;
  /** What else happened. */
  and?(story: Story): Story;
}

/** r1 grants c1 five seconds at 1 s, which r2 stores, and five more at 3 s; r2 takes over at 2.5 s, and grants it to c2 at 6.5 s. */
function story({
  ttlMs = 5_000,
  isLoaded = false,
  readAt = 0.999,
  renewal = ['PEXPIRE', KEY, '5000'],
  renewedBy = 'c1',
  looked = true,
  takenAt = 6.5,
  pttlMs = 199,
  endsMs = OVER_MS,
  skewMs = 0,
  promotedAt = 2.45,
  and = (one) => one,
}: Told = {}): Story {
  const told = new Story()
    .replicated()
    .up('c1')
    .up('c2')
    .grant('c1', 1)
    .extend('c1', 3)
    .grant('c2', takenAt)
    .release('c1', 7.5)
    .release('c2', 9)
    .watch(0, 'r1')
    .watch(0, 'r2')
    .looks(0.5, 0.9, 'r1')
    .looks(1.05, 2.9, 'r1', { owner: OWNER });
  told.take(readAt, 'r1', 'c1', OWNER, 999 - readAt * 1_000, ttlMs);
  if (isLoaded) told.looks(0.5, 1.25, 'r2', { role: 'replica', linkUp: false });
  else
    told
      .command(1.001, 'r2', 'link', ['SET', KEY, OWNER, 'PXAT', String(EPOCH_WALL_MS + 999 + ttlMs)])
      .looks(0.5, 0.9, 'r2', { role: 'replica' });
  const wallMs = (at: number): [number, number] => {
    const ms = Math.floor(EPOCH_WALL_MS + at * 1_000 + skewMs);
    return [ms, ms + 1];
  };
  for (let at = isLoaded ? 1.3 : 1.1; at < 5.75; at += 0.1) {
    const role = at < promotedAt ? ({ role: 'replica', linkUp: true } as const) : ({ role: 'primary' } as const);
    told.sample(at, 'r2', { ...role, owner: OWNER, pttlMs: Math.round(endsMs - at * 1_000), wallMs: wallMs(at) });
  }
  if (renewal) told.command(2.999, 'r1', renewedBy, renewal);
  if (looked) told.sample(3.15, 'r1', { owner: OWNER });
  told.sample(5.8, 'r2', { owner: OWNER, pttlMs, wallMs: wallMs(5.8), skewMs });
  for (let at = 5.811 + pttlMs / 1_000; at < takenAt; at += 0.1) told.sample(at, 'r2', { wallMs: wallMs(at), skewMs });
  return and(told).take(takenAt - 0.001, 'r2', 'c2', 'value-of-c2', skewMs);
}

/** Of a cause; `stored`: how it is known that r2 had the grant. */
const linksWith = (stored: string) => [
  'r1 granted lock:0 to c1 (SET)',
  stored,
  'r2 was a replica',
  'r2 was primary',
  "r1 gave c1's lock:0 more time (PEXPIRE)",
  'r2 had it for another 199 ms',
  'r2 granted lock:0 to c2 (SET)',
  "until 8.000 s c1's lease would have run",
];

describe('a renewal that a failover lost', () => {
  it('is the reason, with the look that shows what the new primary had', () => {
    expect(OVER_MS).toBeLessThan(6_500);
    const { name, sentence, chain } = causeOf(story());
    expect(name).toBe('failover-lost-renewal');
    expect(sentence).toBe(
      "r2 replaced r1 as primary without the time that r1 had given c1's lock:0 since: it was over there, and r2 granted it to c2.",
    );
    expect(chain.map(({ text }) => text)).toEqual(linksWith('r2 stored it, too'));
  });

  const not: [string, Told][] = [
    ['there was none', { renewal: null }],
    ['somebody else renewed', { renewedBy: 'c2' }],
    ['it would have been over, too', { renewal: ['PEXPIRE', KEY, '3000'] }],
    ['the old primary was not seen to have it afterwards', { looked: false }],
    [
      'it came to the new primary',
      { and: (one) => one.command(3.01, 'r2', 'link', ['PEXPIREAT', KEY, String(EPOCH_WALL_MS + 7_999)]) },
    ],
    ['the grant was for less than the lease', { ttlMs: 4_000, pttlMs: 0, and: (one) => one.sample(4.9, 'r2') }],
    ['the last look shows another end', { pttlMs: 400 }],
    ['the new primary was not watched after that', { and: (one) => one.watch(6.1, 'r2', false).watch(6.2, 'r2') }],
    ['it was removed', { and: (one) => one.command(5.9, 'r2', 'c2', ['DEL', KEY]) }],
    [
      'a slot had been moved',
      {
        and: (one) =>
          one.fault(0.6, 0, 'move-slot', 'strike', {
            effects: [{ kind: 'slot-moves', who: ['r1', 'r2'], slot: 7_495 }],
          }),
      },
    ],
  ];
  it.each(not)('is not where %s', (_, told) => {
    expect(causeOf(story(told)).sentence).not.toMatch(/had given/);
  });

  describe('where the new primary was promoted after it had broken off with whom watched it', () => {
    /** It is watched again from 2.5 s on; r3, which it may have followed, had started again before that. */
    const unwatched = (one: Story) => one.watch(2.46, 'r2', false).watch(2.48, 'r2');
    const startedAgain = (one: Story) =>
      one
        .sample(0.5, 'r3', { role: 'replica' })
        .sample(2.2, 'r3', { runId: 'run-2' })
        .sample(2.4, 'r3', { role: 'replica', runId: 'run-2' });
    const both = (one: Story) => startedAgain(unwatched(one));

    it('is what the looks since then show, whatever it may have loaded before', () => {
      expect(causeOf(story({ and: both })).name).toBe('failover-lost-renewal');
      expect(causeOf(story({ and: startedAgain })).name).toBe('failover-lost-renewal');
    });

    it('is not, where what they show may be what somebody else had stored', () => {
      const others = (one: Story) => both(one).take(0.7, 'r1', 'c3', OWNER, 0, 1);
      expect(causeOf(story({ and: others })).name).toBe('unexplained');
    });

    it('is not, where it may have loaded something after the last look at it', () => {
      const late = (one: Story) =>
        both(one).sample(6.2, 'r2', { role: 'replica' }).sample(6.3, 'r1', { runId: 'run-2' });
      expect(causeOf(story({ and: late })).sentence).not.toMatch(/had given/);
    });
  });

  it('is not where it had been removed from the old primary, or evicted, before the new one took over', () => {
    const removed = (at: number) => ({ promotedAt: 4, and: (s: Story) => s.command(at, 'r1', 'c3', ['DEL', KEY]) });
    expect(causeOf(story({ promotedAt: 4 })).name).toBe('failover-lost-renewal');
    expect(causeOf(story(removed(4.2))).name).toBe('failover-lost-renewal');
    expect(causeOf(story(removed(3.3))).sentence).not.toMatch(/had given/);
    const evicted = { promotedAt: 4, and: (s: Story) => s.evicted(3.3, 'r1') };
    expect(causeOf(story(evicted)).sentence).not.toMatch(/had given/);
  });

  it('is not where the old primary had been given a shorter time since, by which it was to be over as well', () => {
    const given = (by: string, ms: number, promotedAt: number) => ({
      promotedAt,
      and: (one: Story) => one.command(3.2, 'r1', by, ['PEXPIRE', KEY, String(ms)]),
    });
    for (const by of ['c1', 'c3', 'stranger'])
      expect(causeOf(story(given(by, 500, 3.6))).name, by).not.toBe('failover-lost-renewal');
    expect(causeOf(story(given('c1', 4_000, 3.6))).name).toBe('failover-lost-renewal');
    // By then it counted no more what it was asked.
    expect(causeOf(story(given('c3', 500, 3.1))).name).toBe('failover-lost-renewal');
  });

  it('is where the next one was waiting for the end of the grant', () => {
    expect(causeOf(story({ takenAt: 6.003 })).name).toBe('failover-lost-renewal');
  });

  it('is where the grant was read of late: its client had the answer before', () => {
    expect(causeOf(story({ takenAt: 6.003, readAt: 1.04 })).name).toBe('failover-lost-renewal');
    expect(causeOf(story({ takenAt: 6.003, readAt: 1.09 })).name).toBe('failover-lost-renewal');
  });

  it('is where a renewal that came to both was read of late, and its server has the right time', () => {
    const renewed = (one: Story) =>
      one
        .command(1.29, 'r1', 'c1', ['PEXPIRE', KEY, '5000'], -90)
        .command(1.202, 'r2', 'link', ['PEXPIREAT', KEY, String(EPOCH_WALL_MS + 6_200)]);
    expect(causeOf(story({ and: renewed, endsMs: 6_200, pttlMs: 400, takenAt: 6.204 })).name).toBe(
      'failover-lost-renewal',
    );
  });

  describe('where the new primary had loaded the grant with all that the old one had', () => {
    it('is the reason, with the first look that shows it', () => {
      const { name, chain } = causeOf(story({ isLoaded: true }));
      expect(name).toBe('failover-lost-renewal');
      expect(chain.map(({ text }) => text)).toEqual(linksWith('r2 was seen to have it, too'));
    });

    it('is of the renewal after the one that had come with it', () => {
      const renewed = (one: Story) => one.command(1.199, 'r1', 'c1', ['PEXPIRE', KEY, '4800']);
      expect(causeOf(story({ isLoaded: true, and: renewed })).name).toBe('failover-lost-renewal');
      const others = (one: Story) => one.command(1.199, 'r1', 'c3', ['PEXPIRE', KEY, '4800']);
      expect(causeOf(story({ isLoaded: true, and: others })).name).toBe('unexplained');
    });

    it.each([
      ...not,
      ['what was loaded was to end when nobody had said', { endsMs: OVER_MS + 400, pttlMs: 599 }],
      [
        'somebody else had stored the same value before',
        { and: (one: Story) => one.take(0.7, 'r1', 'c3', OWNER, 0, 1) },
      ],
      [
        'it was there before its node was seen to be a replica',
        { and: (one: Story) => one.sample(1.2, 'r2', { owner: OWNER }) },
      ],
      ['its own client took it there', { and: (one: Story) => one.take(1.27, 'r2', 'c1', OWNER) }],
    ] as [string, Told][])('is not where %s', (_, told) => {
      expect(causeOf(story({ ...told, isLoaded: true })).sentence).not.toMatch(/had given/);
    });
  });

  it('is not where the clock of the new primary had moved, and its time was not over', () => {
    const early = story({ takenAt: 5.9, skewMs: 500, pttlMs: 0 });
    expect(causeOf(early).sentence).not.toMatch(/had given/);
  });
});

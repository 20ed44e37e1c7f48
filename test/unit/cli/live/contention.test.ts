import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Contention, type EndedOverlap, MOST_COUNTED } from '../../../../cli/live/contention.js';
import { holdsOf } from '../../../../harness/record/facts/holds.js';
import { Ledger } from '../../../../harness/record/facts/ledger.js';
import { overlapsOf } from '../../../../harness/record/facts/overlaps.js';
import { historyOf } from '../../../../harness/record/history-table.js';
import type { HistoryEvent } from '../../../../harness/vocabulary/history.js';
import { cases, drawn } from '../../../support/drawn.js';
import { KEY, ns, Story } from '../../checkers/build.js';

/** What stands after the story, and when it ended. */
function told(story: Story): { contention: Contention; endNs: number; ended: EndedOverlap[] } {
  const events = [...story.history().all()];
  const ended: EndedOverlap[] = [];
  const ledger = new Ledger();
  const contention = new Contention(ledger, [KEY], (overlap) => ended.push(overlap));
  for (const event of events) ledger.event(event);
  return { contention, endNs: events.at(-1)!.atNs, ended };
}

describe('counts', () => {
  it('nothing where one holds after the other', () => {
    const { contention, endNs, ended } = told(
      new Story().grant('c1', 1).release('c1', 2).grant('c2', 2.1).release('c2', 3).grant('c1', 3.1),
    );
    expect(contention.overlaps(endNs)).toEqual({ exclusion: 0, stale: 0 });
    expect(ended).toEqual([]);
  });

  it('broken exclusion as it happens, and reports it once it has ended', () => {
    const story = new Story().grant('c1', 1).grant('c2', 2);
    const { contention, endNs } = told(story);
    expect(contention.overlaps(endNs)).toEqual({ exclusion: 1, stale: 0 });
    const [state] = contention.states(ns(3));
    expect(state).toMatchObject({ key: KEY, contested: 'exclusion', waiting: 0 });
    expect(state!.holders.map(({ client }) => client)).toEqual(['c1', 'c2']);

    const after = told(story.release('c1', 4).release('c2', 4.5));
    expect(after.contention.overlaps(after.endNs)).toEqual({ exclusion: 1, stale: 0 });
    expect(after.ended).toEqual([{ class: 'exclusion', key: KEY, first: 'c1', second: 'c2', lengthNs: ns(2) }]);
  });

  it('a stale holder where the first lease was over when the second was granted', () => {
    const { contention, endNs, ended } = told(
      new Story().grant('c1', 1).grant('c2', 6.5).release('c1', 8).release('c2', 8.5),
    );
    expect(contention.overlaps(endNs)).toEqual({ exclusion: 0, stale: 1 });
    expect(ended).toMatchObject([{ class: 'stale', first: 'c1', second: 'c2', lengthNs: ns(1.5) }]);
  });

  it('a stale holder that was asleep when it was told to release, as soon as it says when it did', () => {
    const story = new Story().grant('c1', 1).grant('c2', 6.5).release('c2', 7).grant('c3', 7.5).release('c3', 8);
    const asleep = told(story.release('c1', 9, { sent: 3, type: 'never' }));
    expect(asleep.contention.overlaps(asleep.endNs)).toEqual({ exclusion: 0, stale: 0 });
    const [state] = asleep.contention.states(ns(8.5));
    expect(state).toMatchObject({ holders: [{ client: 'c1', releaseSentNs: ns(3) }] });
    expect(state!.contested).toBeUndefined();

    const awake = told(
      new Story()
        .grant('c1', 1)
        .grant('c2', 6.5)
        .release('c2', 7)
        .grant('c3', 7.5)
        .release('c3', 8)
        .release('c1', 9, { sent: 3 }),
    );
    expect(awake.contention.overlaps(awake.endNs)).toEqual({ exclusion: 0, stale: 2 });
  });

  it('no hold after its client was killed, or was told that it had lost the lock', () => {
    const killed = told(new Story().up('c1').grant('c1', 1).down('c1', 2).grant('c2', 2.5));
    expect(killed.contention.overlaps(killed.endNs)).toEqual({ exclusion: 0, stale: 0 });
    expect(killed.contention.states(killed.endNs)[0]!.holders.map(({ client }) => client)).toEqual(['c2']);
    const lost = told(new Story().grant('c1', 1).lost('c1', 2).grant('c2', 2.5));
    expect(lost.contention.overlaps(lost.endNs)).toEqual({ exclusion: 0, stale: 0 });
    expect(lost.contention.states(lost.endNs)[0]!.holders.map(({ client }) => client)).toEqual(['c2']);
  });

  it('broken exclusion although a holder reads what the lock protects: that renews nothing and ends nothing', () => {
    const story = new Story().grant('c1', 1);
    const read = { client: 'c1', id: 70, op: 'read', key: KEY, hold: 1 } as const;
    story
      .event(1.5, { type: 'invoke', ...read })
      .event(1.6, { type: 'ok', ...read, beganNs: ns(1.51), endedNs: ns(1.52) });
    const { contention, endNs } = told(story.grant('c2', 2));
    expect(contention.overlaps(endNs)).toEqual({ exclusion: 1, stale: 0 });
  });

  it('a waiting client, until it is answered or gone', () => {
    const story = new Story().up('c2').grant('c1', 1);
    story.event(2, { type: 'invoke', client: 'c2', id: 1, op: 'acquire', key: KEY, leaseMs: 5_000, waitMs: 1_000 });
    expect(told(story).contention.states(ns(2))[0]!.waiting).toBe(1);
    expect(told(story.down('c2', 3)).contention.states(ns(3))[0]!.waiting).toBe(0);
  });
});

it('stops counting where a lock never excludes', () => {
  const story = new Story();
  for (let n = 0; n < 700; n++) {
    for (const client of ['c1', 'c2', 'c3']) story.grant(client, n + 1);
    for (const client of ['c1', 'c2', 'c3']) story.release(client, n + 1.5);
  }
  const { contention, endNs, ended } = told(story);
  expect(contention.overlaps(endNs)).toEqual({ exclusion: MOST_COUNTED, stale: 0, more: true });
  expect(ended).toHaveLength(MOST_COUNTED);
});

/** Clients on one key that hold, extend, renew, lose, die, sleep through a release; nothing keeps them apart. */
const storyArbitrary = fc
  .array(
    fc.record({
      client: fc.integer({ min: 1, max: 4 }),
      gap: fc.integer({ min: 0, max: 400 }),
      long: fc.integer({ min: 2, max: 900 }),
      leaseMs: fc.integer({ min: 20, max: 600 }),
      queued: fc.integer({ min: 0, max: 200 }),
      readLate: fc.constantFrom(1, 1, 40, 150),
      renew: fc.constantFrom('no', 'renewed', 'ok', 'fail', 'info', 'never'),
      end: fc.constantFrom('release', 'asleep', 'asleep, killed', 'unstamped', 'lost', 'down', 'never'),
    }),
    { maxLength: 14 },
  )
  .map((specs) => {
    const story = new Story();
    const freeAt = new Map<string, number>();
    const generation = new Map<number, number>();
    for (const spec of specs) {
      const at = (n: number) => n / 1_000;
      const client = `c${spec.client}.${generation.get(spec.client) ?? 1}`;
      const from = (freeAt.get(client) ?? 100) + spec.gap + 10;
      // The harness has the answer late; what it then tells the client to do comes later still.
      const read = from + spec.readLate;
      const until = read + spec.long;
      const middle = read + Math.floor(spec.long / 2);
      story.grant(client, at(from), {
        leaseMs: spec.leaseMs,
        read: at(read),
        grantSent: at(from - 2),
        sent: at(from - 5 - (spec.queued % (spec.gap + 1))),
      });
      if (spec.long > 20) {
        // An extension may ask for less than what is left.
        const leaseMs = Math.ceil(spec.leaseMs / (1 + (spec.queued % 4)));
        if (spec.renew === 'renewed') story.renewed(client, at(middle), leaseMs);
        else if (spec.renew !== 'no') story.extend(client, at(middle), leaseMs, { type: spec.renew });
      }
      const end = spec.renew === 'never' && spec.long > 20 ? 'down' : spec.end;
      freeAt.set(client, until + 10);
      if (end === 'release') story.release(client, at(until));
      else if (end === 'unstamped') story.release(client, at(until), { stamps: false });
      else if (end === 'asleep') {
        story.release(client, at(until + 150), { sent: at(until) });
        freeAt.set(client, until + 160);
      } else if (end === 'lost') story.lost(client, at(until)).release(client, at(until + 4));
      else {
        // What it still holds is unknown: another takes its place, as in a run.
        if (end === 'down') story.down(client, at(until));
        if (end === 'asleep, killed')
          story.release(client, at(until), { sent: at(until), type: 'never' }).down(client, at(until + 100));
        generation.set(spec.client, (generation.get(spec.client) ?? 1) + 1);
        freeAt.set(`c${spec.client}.${generation.get(spec.client)}`, until + 10);
      }
    }
    return [...story.history().all()];
  });

describe('agrees with the checkers', () => {
  it('at every moment of any history', () => {
    let found = 0;
    fc.assert(
      fc.property(storyArbitrary, (events: readonly HistoryEvent[]) => {
        const ledger = new Ledger();
        const contention = new Contention(ledger, [KEY]);
        let endNs = 0;
        events.forEach((event, n) => {
          ledger.event(event);
          endNs = Math.max(endNs, event.atNs);
          const overlaps = overlapsOf([...holdsOf(historyOf(events.slice(0, n + 1)))], { kind: 'mutex' });
          found += overlaps.length;
          const counts = { exclusion: 0, stale: 0 };
          for (const overlap of overlaps) counts[overlap.class]++;
          expect(contention.overlaps(endNs)).toEqual(counts);
        });
      }),
      drawn(100),
    );
    expect(found).toBeGreaterThan(cases(333)); // otherwise agreeing is cheap
  });
});

it('keeps nothing about holds that are over', () => {
  const ledger = new Ledger();
  const contention = new Contention(ledger, [KEY]);
  const size = () =>
    JSON.stringify(contention, (_, value) => (value instanceof Map || value instanceof Set ? [...value] : value))
      .length;
  let sizeBefore = 0;
  for (let round = 0; round < 200; round++) {
    const story = new Story();
    for (let n = 0; n < 10; n++)
      story.grant(`c${n % 3}`, round * 20 + n + 1).release(`c${n % 3}`, round * 20 + n + 1.5);
    for (const event of story
      .down('c0', round * 20 + 15)
      .history()
      .all())
      ledger.event(event);
    if (round === 100) sizeBefore = size();
  }
  // Numbers grow a digit or two.
  expect(size()).toBeLessThan(sizeBefore * 1.1);
});

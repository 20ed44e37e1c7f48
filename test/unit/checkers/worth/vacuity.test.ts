import { describe, expect, it } from 'vitest';
import { vacuity } from '../../../../checkers/worth/vacuity.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import type { RunConfig } from '../../../../harness/vocabulary/run.js';
import { Story, turns } from '../build.js';

const judged = (story: Story) => vacuity.check(story.input());
const notes = (story: Story) => judged(story).notes.join('\n');
const struck = (story: Story, fault: string, from: number, until: number, targets: string[], step = 0) =>
  story.fault(from, step, fault, 'strike', { targets }).fault(until, step, fault, 'heal', { targets });

it('accepts a run without faults that had contention and enough holds', () => {
  expect(judged(turns())).toMatchObject({
    verdict: 'valid',
    notes: [],
    violations: [],
    stats: {
      holds: 12,
      strikes: 0,
      struckHolds: 0,
      contendedTries: 12,
      acquiresOk: 12,
      acquiresFail: 12,
      acquiresInfo: 0,
    },
  });
});

describe('too little', () => {
  it('few holds prove nothing: 10, or two a client', () => {
    expect(notes(turns(9))).toMatch(/only 9 holds; fewer than 10 prove nothing/);
    expect(judged(turns(10)).verdict).toBe('valid');
    expect(notes(turns(12).configured({ clients: 7 }))).toMatch(/only 12 holds; fewer than 14/);
    // As many clients as one likes: they cannot all have had one of a few locks.
    expect(judged(turns(20).configured({ clients: 50 })).verdict).toBe('valid');
    expect(notes(turns(19).configured({ clients: 50 }))).toMatch(/fewer than 20 .*two for each of up to 10 clients/);
  });

  it('nor do fewer than were asked for', () => {
    const asked = (atLeast: RunConfig['atLeast']) =>
      struck(turns().planned('kill'), 'kill', 3.1, 3.2, ['r1']).configured({ atLeast });
    expect(judged(asked({ holds: 12, strikes: 1 }))).toMatchObject({ verdict: 'valid', notes: [] });
    expect(judged(asked({ holds: 13, strikes: 2, struckHolds: 3 }))).toMatchObject({
      verdict: 'unknown',
      notes: [
        'there were only 12 holds; --min-holds asks for 13',
        'there were only 1 strike; --min-strikes asks for 2',
        'there were only 1 struck hold; --min-struck-holds of an earlier version asks for 3',
      ],
    });
    // Without faults there is none.
    expect(judged(turns().configured({ atLeast: { strikes: 50 } })).verdict).toBe('valid');
  });

  it('nor does a run of which the harness stood still for more than a quarter; of less it is told', () => {
    // Twelve holds in 13 s.
    const still = (...stalls: [at: number, ms: number][]) => {
      const story = turns(12);
      for (const [at, ms] of stalls) story.disturbed(at, 'harness-stall', ms);
      return judged(story);
    };
    expect(still([4, 900])).toMatchObject({ verdict: 'valid', notes: [] });
    const told = still([4, 1_500]);
    expect(told).toMatchObject({ verdict: 'valid' });
    expect(told.notes).toEqual([
      expect.stringMatching(/^the harness stood still for 1\.5 s of 1\d\.\d+ s, from \S+ s on$/),
    ]);
    const tooLong = still([5, 2_000], [7, 2_000], [7.1, 1_000]);
    expect(tooLong.verdict).toBe('unknown');
    expect(tooLong.notes).toEqual([
      expect.stringMatching(/stood still for 4 s of .* on: what it has seen proves nothing$/),
    ]);
  });

  it('what the harness missed before the first phase or after healing began is not missed', () => {
    const phases = (until: number, ...stalls: [at: number, ms: number][]) => {
      const story = turns(12)
        .event(1, { type: 'phase', phase: 'warm-up' })
        .event(5, { type: 'phase', phase: 'torture' });
      story.event(until, { type: 'phase', phase: 'heal' }).event(until + 60, { type: 'phase', phase: 'recovery' });
      for (const [at, ms] of stalls) story.disturbed(at, 'harness-stall', ms);
      return judged(story).notes;
    };
    expect(phases(11, [0, 1_500])).toEqual([]);
    expect(phases(11, [0.5, 1_600])).toEqual(['the harness stood still for 1.1 s of 10 s, from 1.000 s on']);
    expect(phases(11, [0.5, 400], [4, 1_600])).toEqual(['the harness stood still for 1.6 s of 10 s, from 4.000 s on']);
    expect(phases(11, [10, 30_000])).toEqual(['the harness stood still for 1 s of 10 s, from 10.000 s on']);
    expect(phases(11, [10.5, 30_000], [20, 9_000])).toEqual([]);
    // A step of the wall clock is another thing.
    const stepped = turns(12).disturbed(4, 'wall-clock-step', 9_000);
    expect(judged(stepped).notes).toEqual([]);
    // Two of a hundred are told of a long run, and less is not.
    expect(phases(101, [4, 2_000])).toEqual(['the harness stood still for 2 s of 1 min 40 s, from 4.000 s on']);
    expect(phases(102, [4, 2_000])).toEqual([]);
    // A quarter may be missed.
    expect(phases(11, [4, 2_500])).toEqual(['the harness stood still for 2.5 s of 10 s, from 4.000 s on']);
    expect(phases(11, [4, 2_501])[0]).toMatch(/proves nothing$/);
  });

  it('nor does a lock that no other client wanted', () => {
    const alone = new Story();
    for (let n = 0; n < 12; n++) alone.grant(n % 2 ? 'c1' : 'c2', n + 1).release(n % 2 ? 'c1' : 'c2', n + 1.5);
    expect(notes(alone)).toBe('no client tried to take a lock while another one held it');
  });

  it('a try that waited and was granted then is contention; one of the holder itself or of another key is not', () => {
    const waited = (story: Story) => judged(story).stats.contendedTries;
    const first = () => new Story().grant('c1', 1).release('c1', 2);
    expect(waited(first().grant('c2', 3, { sent: 1.5 }).release('c2', 4))).toBe(1);
    expect(waited(first().grant('c2', 3, { sent: 2.1 }).release('c2', 4))).toBe(0);
    expect(waited(first().refused('c1', 1.2, 1.3))).toBe(0);
    expect(waited(first().refused('c2', 1.2, 1.3, 'fail', 'lock:1'))).toBe(0);
    // Of what was never answered nobody knows whether it was tried.
    const unanswered = first()
      .acquire('c2', [1.5])
      .acquire('c3', [1.5, 1.6], { type: 'info' })
      .acquire('c3', [1.7, 1.8], { type: 'info' });
    expect(judged(unanswered).stats).toMatchObject({ contendedTries: 2, acquiresInfo: 3, acquiresFail: 0 });
    // A short hold of c1 after its long one, and one of c3 beside it, change nothing.
    const beside = () => first().grant('c1', 1.2, { sent: 1.195 }).release('c1', 1.3);
    expect(waited(beside().refused('c2', 1.9, 1.95))).toBe(1);
    expect(waited(beside().refused('c1', 1.25, 1.28))).toBe(0);
    // A hold that begins when the try has ended, or ends when it begins, was not in its way.
    expect(waited(first().refused('c2', 0.5, 1))).toBe(0);
    // c2 holds a shorter time within c1's.
    expect(waited(first().grant('c2', 1.4, { sent: 1.395 }).release('c2', 1.5).refused('c1', 1.45, 1.46))).toBe(2);
  });

  it('nor does a lock that one client always got', () => {
    const greedy = new Story();
    for (let n = 0; n < 12; n++)
      greedy
        .grant('c1', n + 1)
        .refused('c2', n + 1.1, n + 1.2)
        .release('c1', n + 1.5);
    expect(notes(greedy)).toBe('no lock was ever held by two different clients in turn');
  });
});

describe('faults', () => {
  it('packets that come twice or out of order strike nothing, as TCP hides them; late ones do', () => {
    const degraded = (how: { delayMs?: number; duplicatePpm?: number; reorderPpm?: number }) => {
      const none = { delayMs: 0, jitterMs: 0, lossPpm: 0, duplicatePpm: 0, reorderPpm: 0, rateKbps: 0 };
      const effects: FaultEffect[] = [{ kind: 'degraded', pairs: [['r1', 'c1']], ...none, ...how }];
      return turns()
        .planned('links')
        .fault(3.1, 0, 'links', 'strike', { targets: ['r1'], effects })
        .fault(3.2, 0, 'links', 'heal', { targets: ['r1'] });
    };
    expect(judged(degraded({ duplicatePpm: 500_000, reorderPpm: 500_000 }))).toMatchObject({
      notes: ['no fault was in force while a lock that it concerns was held'],
      stats: { struckHolds: 0, faultsStruck: 0 },
    });
    expect(judged(degraded({ duplicatePpm: 500_000, delayMs: 1 }))).toMatchObject({
      verdict: 'valid',
      notes: [],
      stats: { struckHolds: 1, faultsStruck: 1 },
    });
  });

  it('who is heard first strikes nothing by itself, but what else the same fault does may', () => {
    const ordered: FaultEffect = { kind: 'heard-after', pairs: [['c1', 'r1']], withinMs: 5 };
    const done = (...effects: FaultEffect[]) =>
      turns()
        .planned('order')
        .fault(3.1, 0, 'order', 'strike', { targets: ['r1'], effects });
    expect(judged(done(ordered))).toMatchObject({ verdict: 'unknown', stats: { struckHolds: 0, faultsStruck: 0 } });
    expect(judged(done(ordered, { kind: 'stopped', who: ['r1'] })).stats.faultsStruck).toBe(1);
  });

  it('a server fault during a hold strikes it', () => {
    expect(judged(struck(turns().planned('kill'), 'kill', 3.1, 3.2, ['r1']))).toMatchObject({
      verdict: 'valid',
      stats: { struckHolds: 1, faultsStruck: 1 },
    });
    expect(judged(struck(turns().planned('kill'), 'kill', 3.1, 5.2, ['r1'])).stats.struckHolds).toBe(3);
  });

  it('a fault between holds strikes none', () => {
    const result = judged(struck(turns().planned('kill'), 'kill', 3.85, 3.95, ['r1']));
    expect(result).toMatchObject({
      verdict: 'unknown',
      notes: ['no fault was in force while a lock that it concerns was held'],
    });
  });

  it('a client fault strikes the holds of that client only', () => {
    expect(judged(struck(turns().planned('pause'), 'pause', 3.1, 3.2, ['c1'])).stats.struckHolds).toBe(1);
    expect(judged(struck(turns().planned('pause'), 'pause', 3.1, 3.2, ['c2']))).toMatchObject({
      verdict: 'unknown',
      stats: { struckHolds: 0 },
    });
  });

  it('a killed client was struck in the hold that its death ended', () => {
    const story = turns().planned('kill').up('c3').grant('c3', 20).down('c3', 20.5);
    expect(judged(struck(story, 'kill', 20.51, 22, ['c3'])).stats.struckHolds).toBe(1);
  });

  it('a composite fault is in force from its first strike', () => {
    const story = turns()
      .planned('failover')
      .fault(3.1, 0, 'failover', 'phase', { targets: ['r1'] });
    expect(judged(struck(story, 'failover', 3.85, 3.95, ['r1'])).stats.struckHolds).toBe(1);
  });

  it('planned faults that never struck are named, with what prevented them', () => {
    expect(notes(turns().planned('clock'))).toMatch(
      /the planned fault "clock" never struck \(none of its steps was reached\)/,
    );
    const refused = turns().planned('kill', 'clock').fault(2, 1, 'clock', 'refused', { proof: 'no C compiler' });
    expect(notes(struck(refused, 'kill', 3.1, 3.2, ['r1']))).toBe(
      'the planned fault "clock" never struck (no C compiler)',
    );
  });

  it('a fault that struck too late for its step each time did not strike there, and the reason is given', () => {
    const late = 'c1 may have gone on';
    const tooLate = (story: Story) => story.fault(3.1, 0, 'kill', 'strike', { targets: ['r1'], late });
    expect(notes(tooLate(turns().planned('kill')).fault(3.2, 0, 'kill', 'heal'))).toBe(
      'the planned fault "kill" struck too late each time (c1 may have gone on)',
    );
    const once = tooLate(turns().planned('kill', 'kill')).fault(3.2, 0, 'kill', 'heal');
    const twice = once.fault(3.3, 1, 'kill', 'strike', { targets: ['r1'] }).fault(3.4, 1, 'kill', 'heal');
    expect(judged(twice).verdict).toBe('valid');
  });

  it('one step of several that struck is enough', () => {
    const story = turns().planned('kill', 'kill').fault(2, 1, 'kill', 'failed');
    expect(judged(struck(story, 'kill', 3.1, 3.2, ['r1'])).verdict).toBe('valid');
  });

  it('a fault that had a primary replaced must have promoted another node, where servers were watched', () => {
    const story = () =>
      struck(turns().planned('any'), 'any', 3.1, 3.5, ['r1'])
        .fault(3.2, 0, 'any', 'phase', { effects: [{ kind: 'replaced', who: ['r1'], by: 'r2' }] })
        .sample(1, 'r1')
        .sample(1, 'r2', { role: 'replica' });
    expect(notes(story().sample(4, 'r1').sample(4, 'r2', { role: 'replica' }))).toMatch(
      /no replica was seen to become primary/,
    );
    expect(judged(story().sample(4, 'r2')).verdict).toBe('valid');
    // It was promoted before the fault, or long after its healing: that was not the fault's doing.
    expect(notes(story().sample(2.9, 'r2'))).toMatch(/no replica was seen to become primary/);
    expect(notes(story().sample(13.6, 'r2'))).toMatch(/no replica was seen to become primary/);
    expect(judged(story().sample(13.4, 'r2')).verdict).toBe('valid');
    expect(judged(struck(turns().planned('failover'), 'failover', 3.1, 3.5, ['r1'])).verdict).toBe('valid');
    // Servers that were watched, but of which nobody asked what they are, may have been promoted.
    const unasked = struck(turns().planned('any'), 'any', 3.1, 3.5, ['r1']).watch(1, 'r1');
    unasked.fault(3.2, 0, 'any', 'phase', { effects: [{ kind: 'replaced', who: ['r1'], by: 'r2' }] });
    expect(judged(unasked).verdict).toBe('valid');
  });

  it('one failover of two that were planned is enough, and one fault among others is asked for it', () => {
    const two = () => {
      const story = struck(
        struck(turns().planned('any', 'any', 'pause'), 'any', 3.1, 3.5, ['r1']),
        'any',
        40,
        40.5,
        ['r1'],
        1,
      );
      const replaced = {
        effects: [
          { kind: 'stopped' as const, who: ['r1'] },
          { kind: 'replaced' as const, who: ['r1'], by: 'r2' },
        ],
      };
      story.fault(3.2, 0, 'any', 'phase', replaced).fault(40.2, 1, 'any', 'phase', replaced);
      struck(story, 'pause', 70, 71, ['c1'], 2);
      return story.role(1, 'r1', 'primary').role(1, 'r2', 'replica');
    };
    expect(judged(two().role(4, 'r2', 'primary')).verdict).toBe('valid');
    expect(notes(two())).toBe('a failover was planned and struck, but no replica was seen to become primary');
    // Whoever was promoted by the third was promoted by no failover.
    expect(notes(two().role(70.5, 'r2', 'primary'))).toMatch(/no replica was seen to become primary/);
  });
});

describe('strikes', () => {
  /** Times of injections and of their healing. */
  const strikes = (targets: string[], ...times: [from: number, until: number][]) => {
    const story = turns(12).planned(...times.map(() => 'kill'));
    times.forEach(([from, until], step) => {
      struck(story, 'kill', from, until, targets, step);
    });
    return judged(story);
  };

  it('are injections, each with its healing, that met a hold: one that met many is one', () => {
    expect(strikes(['r1'], [3.1, 7.5])).toMatchObject({ stats: { strikes: 1, struckHolds: 5, faultsStruck: 1 } });
    expect(strikes(['r1'], [3.1, 3.2], [5.1, 5.2]).stats).toMatchObject({ strikes: 2, struckHolds: 2 });
    // Both within one hold: two tries of the same one.
    expect(strikes(['r1'], [3.1, 3.2], [3.4, 3.5]).stats).toMatchObject({ strikes: 2, struckHolds: 1 });
    expect(strikes(['r1'], [3.1, 3.2], [3.85, 3.95]).stats).toMatchObject({
      strikes: 1,
      struckHolds: 1,
      faultsStruck: 2,
    });
    expect(strikes(['c1'], [3.1, 3.2], [4.1, 4.2]).stats).toMatchObject({ strikes: 1, struckHolds: 1 });
  });

  it('that overlap in time are one, also by way of a third, and whomever they are on', () => {
    expect(strikes(['r1'], [3.1, 4.2], [4.1, 5.3], [5.2, 6.2]).stats).toMatchObject({ strikes: 1, struckHolds: 4 });
    expect(strikes(['r1'], [3.1, 9], [4.1, 4.2], [8.1, 8.2]).stats).toMatchObject({ strikes: 1 });
    const both = turns(12).planned('kill', 'pause');
    struck(struck(both, 'kill', 3.1, 3.5, ['r1']), 'pause', 3.3, 5.5, ['c2'], 1);
    expect(judged(both).stats).toMatchObject({ strikes: 1 });
    // What no client can see makes no strike of two others.
    const effects: FaultEffect[] = [{ kind: 'heard-after', pairs: [['c1', 'r1']], withinMs: 5 }];
    const unseen = turns(12).planned('kill', 'kill', 'order').fault(3, 2, 'order', 'strike', { effects });
    struck(struck(unseen, 'kill', 3.1, 3.2, ['r1']), 'kill', 5.1, 5.2, ['r1'], 1);
    expect(judged(unseen.fault(9, 2, 'order', 'heal')).stats).toMatchObject({ strikes: 2, faultsStruck: 2 });
    // What was never healed goes on.
    const open = turns(12)
      .planned('kill', 'kill')
      .fault(3.1, 0, 'kill', 'strike', { targets: ['r1'] });
    expect(judged(struck(open, 'kill', 8.1, 8.2, ['r2'], 1)).stats).toMatchObject({ strikes: 1, faultsStruck: 2 });
  });

  it('leave a run weak that has fewer than 59, and so does a run without faults', () => {
    expect(strikes(['r1'], [3.1, 3.2]).weak).toBe(
      '1 strike met a held lock, so up to 95 % of such may go wrong, at 95 % confidence; 59 make that 5 %',
    );
    expect(judged(turns(400)).weak).toBe('without any fault: contention was tested, no failure was');
    const many = (count: number) => {
      const story = turns(60).planned(...Array.from({ length: count }, () => 'kill'));
      for (let n = 0; n < count; n++) struck(story, 'kill', n + 1.1, n + 1.2, ['r1'], n);
      return judged(story);
    };
    expect(many(58)).toMatchObject({ weak: expect.stringContaining('58 strikes'), stats: { strikes: 58 } });
    expect(many(59)).toMatchObject({ verdict: 'valid', stats: { strikes: 59 } });
    expect(many(59).weak).toBeUndefined();
    // What cannot tell says why, and no more.
    expect(strikes(['r1'], [3.85, 3.95])).toMatchObject({ verdict: 'unknown', stats: { strikes: 0 } });
    expect(strikes(['r1'], [3.85, 3.95]).weak).toBeUndefined();
  });
});

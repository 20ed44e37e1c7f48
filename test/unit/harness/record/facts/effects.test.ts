/** When an effect was certainly in force, and when at the most, from the records that tell of it. */
import { describe, expect, it } from 'vitest';
import { effectsOf } from '../../../../../harness/record/facts/effects.js';
import type { FaultEffect, FaultRecord } from '../../../../../harness/vocabulary/history.js';
import { ns, Story } from '../../../checkers/build.js';

const stopped = (who: string, bounds: { sinceNs?: number; untilNs?: number } = {}): FaultEffect => ({
  kind: 'stopped',
  who: [who],
  ...bounds,
});
const killed = (who: string): FaultEffect => ({ kind: 'killed', who: [who] });
const cut = (...pairs: [string, string][]): FaultEffect => ({ kind: 'cut', pairs });

/** A fault under a name that no checker can know. */
const does = (...effects: FaultEffect[]): Partial<FaultRecord> => ({ effects });
const effects = (story: Story) => effectsOf(story.history());
const bounds = (story: Story) =>
  effects(story).all.map(({ earliestNs, fromNs, untilNs, latestNs }) =>
    [earliestNs, fromNs, untilNs, latestNs].map((at) => at / 1e9),
  );

describe('the bounds of an effect', () => {
  it('are those of the records, where these say no more', () => {
    const story = new Story().fault(1, 0, 'x', 'strike', does(stopped('c1'))).fault(3, 0, 'x', 'heal');
    expect(bounds(story)).toEqual([[1, 1, 3, 3]]);
  });

  it('are as tight as when the nemesis began and what it read back', () => {
    const story = new Story()
      .fault(1.5, 0, 'x', 'strike', { beganNs: ns(1), ...does(stopped('c1', { sinceNs: ns(1.2) })) })
      .fault(3.5, 0, 'x', 'heal', { beganNs: ns(3) });
    expect(bounds(story)).toEqual([[1, 1.2, 3, 3.5]]);
  });

  it('are open where nothing was healed, or healing failed', () => {
    const story = new Story().fault(1, 0, 'x', 'strike', does(stopped('c1')));
    expect(bounds(story)).toEqual([[1, 1, Infinity, Infinity]]);
    expect(bounds(story.fault(2, 0, 'x', 'failed'))).toEqual([[1, 1, Infinity, Infinity]]);
    expect(bounds(story.fault(4, 0, 'x', 'heal', { beganNs: ns(3) }))).toEqual([[1, 1, 3, 4]]);
  });

  it('end where the effect is reported again with its end, though the step goes on', () => {
    const away = { ...cut(['c1', 'r1']), sinceNs: ns(1) };
    const story = new Story()
      .fault(1.1, 0, 'x', 'phase', does(away))
      .fault(2, 0, 'x', 'strike', does({ ...away, untilNs: ns(1.8) }, killed('r2')))
      .fault(5, 0, 'x', 'heal');
    expect(bounds(story)).toEqual([
      [1, 1, 1.8, 2],
      [2, 2, 5, 5],
    ]);
  });

  it('include what a heal reports of the time before it', () => {
    const stop = stopped('c1', { sinceNs: ns(2), untilNs: ns(2.5) });
    const story = new Story()
      .fault(1, 0, 'x', 'strike', { beganNs: ns(0.9) })
      .fault(5, 0, 'x', 'heal', { beganNs: ns(4), ...does(stop) });
    expect(bounds(story)).toEqual([[0.9, 2, 2.5, 5]]);
  });

  it('end with a strike that failed, except for what it says is left', () => {
    const away = { ...cut(['r1', 'r2']), sinceNs: ns(1) };
    const failed = (record: Partial<FaultRecord>) =>
      new Story().fault(1, 0, 'x', 'phase', does(away)).fault(3, 0, 'x', 'failed', { beganNs: ns(1), ...record });
    expect(bounds(failed({}))).toEqual([[1, 1, 1, 3]]);
    expect(bounds(failed(does(away)))).toEqual([[1, 1, Infinity, Infinity]]);
    const healed = failed(does(away)).fault(6, 0, 'x', 'heal', { beganNs: ns(5) });
    expect(bounds(healed)).toEqual([[1, 1, 5, 6]]);
  });

  it('do not depend on other steps, and never end for an unplanned effect', () => {
    const story = new Story()
      .fault(1, 0, 'x', 'strike', does(stopped('c1')))
      .fault(2, 1, 'x', 'strike', does(stopped('c1')))
      .fault(3, -1, 'server', 'failed', { ...does(killed('r1')), mishap: 'server' })
      .fault(4, -1, 'server', 'failed', { ...does(killed('r2')), mishap: 'server' })
      .fault(5, 0, 'x', 'heal');
    expect(bounds(story)).toEqual([
      [1, 1, 5, 5],
      [2, 2, Infinity, Infinity],
      [3, 3, Infinity, Infinity],
      [4, 4, Infinity, Infinity],
    ]);
  });
});

describe('whom an effect is on', () => {
  it('is the process, not the next one in its place, though a host has the name of its first process', () => {
    const story = new Story()
      .up('c1')
      .up('c1.2')
      .fault(1, 0, 'x', 'strike', does(stopped('c1')));
    expect(effects(story).on('stopped', 'c1')).toHaveLength(1);
    expect(effects(story).on('stopped', 'c1.2')).toEqual([]);
  });

  it('is every process of a host whose clock was moved, or that is off the network', () => {
    const jumped: FaultEffect = { kind: 'clock-jumped', who: ['c1'], offsetMs: 5 };
    const story = new Story()
      .up('c1.2')
      .fault(1, 0, 'x', 'strike', does(jumped))
      .fault(2, 1, 'x', 'strike', does({ kind: 'off-network', who: ['c1'] }));
    expect(effects(story).on('clock-jumped', 'c1.2')).toHaveLength(1);
    expect(effects(story).between('r1', 'c1.2')).toHaveLength(1);
  });

  it('is, of a cut, the direction that it says', () => {
    const story = new Story().up('c1.2').fault(1, 0, 'x', 'strike', does(cut(['c1', 'r1'])));
    expect(effects(story).between('c1.2', 'r1')).toHaveLength(1);
    expect(effects(story).between('r1', 'c1.2')).toEqual([]);
  });
});

describe('why a node cannot have been asked', () => {
  const why = (story: Story, from: number, until: number) =>
    effects(story.up('c1'))
      .whyNoVote('r1', 'c1', ns(from), ns(until))
      ?.map(({ effect }) => effect.kind);
  const struck = (effect: FaultEffect, from: number, until: number, step = 0, story = new Story()) =>
    story.fault(from, step, 'x', 'strike', does(effect)).fault(until, step, 'x', 'heal');

  it('dead, stopped, or out of reach for the whole time', () => {
    expect(why(struck(killed('r1'), 1, 5), 2, 3)).toEqual(['killed']);
    expect(why(struck(stopped('r1'), 1, 5), 2, 3)).toEqual(['stopped']);
    expect(why(struck(cut(['c1', 'r1']), 1, 5), 2, 3)).toEqual(['cut']);
    expect(why(struck({ kind: 'off-network', who: ['r1'] }, 1, 5), 2, 3)).toEqual(['off-network']);
  });

  it('not where it was any other node, or only its answers were lost', () => {
    expect(why(struck(killed('r2'), 1, 5), 2, 3)).toBeUndefined();
    expect(why(struck(cut(['r1', 'c1']), 1, 5), 2, 3)).toBeUndefined();
    expect(why(struck(cut(['c2', 'r1']), 1, 5), 2, 3)).toBeUndefined();
    expect(why(struck({ kind: 'slowed', who: ['r1'], stopMs: 100, everyMs: 200 }, 1, 5), 2, 3)).toBeUndefined();
  });

  it('not where there was an instant at which it may have been asked', () => {
    expect(why(struck(killed('r1'), 2.5, 5), 2, 3)).toBeUndefined();
    expect(why(struck(killed('r1'), 1, 2.5), 2, 3)).toBeUndefined();
    const healing = new Story()
      .fault(1, 0, 'x', 'strike', does(killed('r1')))
      .fault(5, 0, 'x', 'heal', { beganNs: ns(2.5) });
    expect(why(healing, 2, 3)).toBeUndefined();
  });

  it('for several reasons one after the other, if they leave no gap', () => {
    const two = (until: number) => struck(killed('r1'), 2.4, 5, 1, struck(stopped('r1'), 1, until));
    expect(why(two(2.5), 2, 3)).toEqual(['stopped', 'killed']);
    expect(why(two(2.3), 2, 3)).toBeUndefined();
  });
});

describe('whom faults may have touched', () => {
  it('is every name in a fault that struck, as long as it lasted', () => {
    const story = new Story()
      .fault(1, 0, 'x', 'phase', { ...does(cut(['r1', 'r2'])), beganNs: ns(0.5) })
      .fault(2, 0, 'x', 'strike', { targets: ['r3'] })
      .fault(4, 0, 'x', 'heal');
    const [footprint, ...more] = effects(story).footprints();
    expect(more).toEqual([]);
    expect(footprint).toMatchObject({ earliestNs: ns(0.5), latestNs: ns(4) });
    expect([...footprint!.names]).toEqual(['r1', 'r2', 'r3']);
  });

  it('is also every name in a fault that touched it and did not strike in the end', () => {
    const story = new Story().fault(1, 0, 'x', 'phase', does(cut(['r1', 'r2']))).fault(3, 0, 'x', 'failed');
    expect(effects(story).footprints()).toMatchObject([{ earliestNs: ns(1), latestNs: ns(3) }]);
    expect(effects(new Story().fault(3, 0, 'x', 'refused')).footprints()).toEqual([]);
  });

  it('is also a client that stopped itself at a step of its lock, as long as it stood', () => {
    const stood = { ...stopped('c1'), sinceNs: ns(1), untilNs: ns(2) };
    const story = new Story().fault(2.1, -1, 'step', 'heal', { ...does(stood), beganNs: ns(0.9) });
    expect(effects(story).spans('stopped')).toMatchObject([{ fromNs: ns(1), untilNs: ns(2), latestNs: ns(2.1) }]);
    expect(effects(story).footprints()).toMatchObject([{ earliestNs: ns(0.9), latestNs: ns(2.1) }]);
    expect(
      effects(new Story().fault(1, -1, 'r1', 'failed', { ...does(killed('r1')), mishap: 'server' })).footprints(),
    ).toEqual([]);
  });
});

/** When a command ran is reckoned from its server's stamp, where that server's clock is off, and where it is moved between two looks. */
import { describe, expect, it } from 'vitest';
import { Evidence } from '../../../../../harness/record/facts/evidence.js';
import { KEY, Story } from '../../../checkers/build.js';

const jumped = (offsetMs: number) => ({ effects: [{ kind: 'clock-jumped' as const, who: ['r1'], offsetMs }] });

/** When c1's take ran, seconds. */
function ran(story: Story): number {
  const [take] = new Evidence(story.input()).writes('r1', KEY);
  return take!.ranNs / 1e9;
}

describe('where the clock was moved before', () => {
  const ahead = () => new Story().sample(1, 'r1').fault(2, 0, 'clock', 'strike', jumped(2_000));

  it('by the look that was answered soonest, be it a later one', () => {
    const slow = () => ahead().sample(2.5, 'r1', { skewMs: 1_900 });
    // It ran at 3 s, and was read 51 ms later.
    const taken = (s: Story) => s.take(3.051, 'r1', 'c1', 'c1@1', 1_949);
    expect(ran(taken(slow()).sample(3.5, 'r1', { skewMs: 1_999 }))).toBeCloseTo(3.001, 6);
    // Without that it is read only by the time of reading.
    expect(ran(taken(slow()))).toBeCloseTo(3.051, 6);
  });
});

describe('where it is set right between two looks', () => {
  const healed = () =>
    new Story()
      .sample(1, 'r1')
      .fault(2, 0, 'clock', 'strike', jumped(1_900))
      .sample(2.9, 'r1', { skewMs: 1_900 })
      .fault(3, 0, 'clock', 'heal');

  it('by the look after it, if it was read soon', () => {
    expect(ran(healed().take(3.01, 'r1', 'c1', 'c1@1', -2).sample(3.1, 'r1'))).toBeCloseTo(3.008, 6);
  });

  it('by the look before it, if it ran before', () => {
    expect(ran(healed().take(3.01, 'r1', 'c1', 'c1@1', 1_880).sample(3.1, 'r1'))).toBeCloseTo(2.99, 6);
  });

  it('by the look before it, where nothing is known to have moved it', () => {
    const unsaid = new Story().sample(2.9, 'r1', { skewMs: 1_900 }).take(3.01, 'r1', 'c1', 'c1@1', -2);
    expect(ran(unsaid.sample(3.1, 'r1'))).toBeCloseTo(1.108, 6);
  });
});

describe('where it jumps between two looks', () => {
  const struck = (s: Story, at = 2) => s.fault(at, 0, 'clock', 'strike', jumped(2_000));
  // It ran at 2.001 s by a clock that was ahead by then, and was read 79 ms later.
  const taken = (s: Story) => s.take(2.08, 'r1', 'c1', 'c1@1', 1_921);
  const looked = (s: Story) => s.sample(2.1, 'r1', { skewMs: 2_000 });

  it('by the look after it, if by the look before it would have run later than it was read', () => {
    expect(ran(looked(taken(struck(new Story().sample(1.9, 'r1')))))).toBeCloseTo(2.001, 6);
  });

  it('by the time of reading, if nothing or more than that is known to have moved it, or nobody looked after it', () => {
    const still = () => new Story().sample(1.9, 'r1');
    expect(ran(looked(taken(still())))).toBeCloseTo(2.08, 6);
    expect(ran(taken(struck(still())))).toBeCloseTo(2.08, 6);
    const drifts = { effects: [{ kind: 'clock-drifts' as const, who: ['r1'], gainedMs: 0, ratePpm: 1_000 }] };
    const drifting = new Story().fault(1, 1, 'clock', 'strike', drifts).sample(1.9, 'r1');
    expect(ran(looked(taken(struck(drifting))))).toBeCloseTo(2.08, 6);
  });
});

describe('where it jumps and is set right between two looks', () => {
  const still = () => new Story().sample(1.7, 'r1');
  const struck = (story: Story, offsetMs = 2_000) => story.fault(2, 0, 'clock', 'strike', jumped(offsetMs));
  const healed = (story: Story) => story.fault(2.02, 0, 'clock', 'heal');
  // It ran at 2.001 s by a clock that was ahead by then, and was read 79 ms later.
  const taken = (story: Story, offsetMs = 2_000) => story.take(2.08, 'r1', 'c1', 'c1@1', offsetMs - 79);
  const looked = (story: Story, skewMs = 0) => story.sample(2.1, 'r1', { skewMs });

  it('by as much as the fault read back, also where a look that was asked before is recorded after', () => {
    expect(ran(looked(taken(healed(struck(still())))))).toBeCloseTo(2.001, 6);
    expect(ran(looked(taken(healed(struck(still()))), 1_950))).toBeCloseTo(2.001, 6);
    expect(ran(looked(taken(healed(struck(still(), -5_000)), -5_000)))).toBeCloseTo(2.001, 6);
  });

  it('by the time of reading, if it would not have run while it was off, or another fault or the next look tells otherwise', () => {
    expect(ran(looked(healed(struck(still())).take(2.08, 'r1', 'c1', 'c1@1', 1_979)))).toBeCloseTo(2.08, 6);
    expect(ran(looked(healed(struck(still())).take(2.08, 'r1', 'c1', 'c1@1', 1_870)))).toBeCloseTo(2.08, 6);
    expect(ran(looked(healed(struck(still()).take(2.005, 'r1', 'c1', 'c1@1', 2_010))))).toBeCloseTo(2.005, 6);
    expect(ran(looked(taken(healed(struck(still()))), 2_060))).toBeCloseTo(2.08, 6);
    expect(ran(looked(taken(healed(struck(still()))), -60))).toBeCloseTo(2.08, 6);
    expect(ran(taken(healed(struck(still()))))).toBeCloseTo(2.08, 6);
    const twice = healed(struck(still()))
      .fault(2.03, 1, 'clock', 'strike', jumped(1_000))
      .fault(2.04, 1, 'clock', 'heal');
    expect(ran(looked(taken(twice)))).toBeCloseTo(2.08, 6);
    const strobes = { effects: [{ kind: 'clock-strobes' as const, who: ['r1'], offsetMs: 2_000 }] };
    const strobing = still().fault(2, 0, 'clock', 'strike', strobes).fault(2.02, 0, 'clock', 'heal');
    expect(ran(looked(taken(strobing)))).toBeCloseTo(2.08, 6);
  });
});

describe('stamps of what was read before', () => {
  /** c1's take is stamped 20 ms later than it was read; the looks before and after it. */
  const taken = (before: number, after?: number, story = new Story()) => {
    story.sample(1, 'r1', { skewMs: before }).take(2, 'r1', 'c1', 'c1@1', before + 20);
    return after === undefined ? story : story.sample(3, 'r1', { skewMs: after });
  };
  const contradicts = (story: Story) => new Evidence(story.input()).isClockContradicted;

  it('contradict where the machine was, by a server whose clock was right all the time', () => {
    expect(contradicts(taken(0, 0))).toBe(true);
    const [take] = new Evidence(taken(0, 0).input()).writes('r1', KEY);
    expect(new Evidence(taken(0, 0).input()).isPlaced(take!)).toBe(false);
    // A millisecond or two is how clocks are read.
    expect(contradicts(new Story().sample(1, 'r1').take(2, 'r1', 'c1', 'c1@1', 2).sample(3, 'r1'))).toBe(false);
  });

  it('are otherwise for that server to answer for', () => {
    expect(contradicts(taken(10, 10))).toBe(false);
    expect(contradicts(taken(-5, 0))).toBe(false);
    expect(contradicts(taken(0, 20))).toBe(false);
    expect(contradicts(taken(0))).toBe(false);
    expect(contradicts(taken(0, 0, new Story().fault(4, 0, 'clock', 'strike', jumped(20))))).toBe(false);
  });

  it('leave open when any other command ran', () => {
    const story = taken(0, 0).sample(1, 'r2').take(2.5, 'r2', 'c2', 'c2@1').sample(3, 'r2');
    const evidence = new Evidence(story.input());
    expect(evidence.isPlaced(evidence.writes('r2', KEY)[0]!)).toBe(false);
  });
});

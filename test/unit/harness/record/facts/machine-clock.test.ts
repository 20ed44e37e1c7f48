/** The machine's wall clock and the run's time, one to the other, whatever the first was stepped by. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MachineClock } from '../../../../../harness/record/facts/machine-clock.js';

const EPOCH_WALL_MS = 1_700_000_000_000;
const step = (at: number, ms: number, lasts = 0.02) => ({ beganNs: at * 1e9, atNs: (at + lasts) * 1e9, ms });
const seconds = (clock: MachineClock, wallMs: number, read = Number.POSITIVE_INFINITY, aheadMs = 0) =>
  clock.showed(EPOCH_WALL_MS + wallMs, aheadMs, read * 1e9) / 1e9;

describe('a clock that nothing stepped', () => {
  const clock = new MachineClock(EPOCH_WALL_MS);

  it('goes on from where it was at the epoch', () => {
    expect(clock.wallMs(2.5e9)).toBe(EPOCH_WALL_MS + 2_500);
    expect(seconds(clock, 2_500)).toBe(2.5);
    expect(seconds(clock, 2_500, 3, 40)).toBe(2.46);
    expect(clock.aheadMs(EPOCH_WALL_MS + 2_540, 2.5e9)).toBe(40);
  });

  it('says what it says, though that was read before', () => {
    expect(seconds(clock, 2_500, 2)).toBe(2.5);
  });
});

describe('a clock that was stepped', () => {
  it('shows as much more from then on, however often', () => {
    const clock = new MachineClock(EPOCH_WALL_MS, [step(2, 40), step(4, -10)]);
    expect([1, 3, 5].map((at) => clock.wallMs(at * 1e9) - EPOCH_WALL_MS)).toEqual([1_000, 3_040, 5_030]);
    expect([1_000, 3_040, 5_030].map((ms) => seconds(clock, ms))).toEqual([1, 3, 5]);
    expect(seconds(clock, 3_050, 9, 10)).toBe(3);
  });

  it('showed the same twice if it was set back: the last of them is meant, or the one that had been by when it was read', () => {
    const clock = new MachineClock(EPOCH_WALL_MS, [step(2, -500)]);
    expect(seconds(clock, 1_800)).toBeCloseTo(2.3, 6);
    expect(seconds(clock, 1_800, 1.9)).toBe(1.8);
  });

  it('is there at once after a step that took no time', () => {
    const clock = new MachineClock(EPOCH_WALL_MS, [step(2, 40, 0)]);
    expect([1.999, 2].map((at) => clock.wallMs(at * 1e9) - EPOCH_WALL_MS)).toEqual([1_999, 2_040]);
    expect([1_999, 2_041].map((ms) => seconds(clock, ms))).toEqual([1.999, 2.001]);
    // It never showed that.
    expect(seconds(clock, 2_020)).toBeCloseTo(1.98, 6);
  });

  it('is placed to the time of a slide, which goes evenly', () => {
    const clock = new MachineClock(EPOCH_WALL_MS, [step(2, 100, 1)]);
    expect(clock.wallMs(2.5e9) - EPOCH_WALL_MS).toBe(2_550);
    expect(seconds(clock, 2_550)).toBeCloseTo(2.5, 6);
  });

  it('what it says of an instant is found again at that instant, unless it was set back since', () => {
    const jumps = fc.array(
      fc.record({ afterMs: fc.integer({ min: 1, max: 9_000 }), ms: fc.integer({ min: -15, max: 900 }) }),
    );
    fc.assert(
      fc.property(jumps, fc.integer({ min: 0, max: 60_000 }), (told, ms) => {
        let at = 0;
        const steps = told.map((one) => {
          at += one.afterMs / 1e3;
          const made = step(at, one.ms);
          at = made.atNs / 1e9;
          return made;
        });
        const clock = new MachineClock(EPOCH_WALL_MS, steps);
        const ns = ms * 1e6;
        // A step of 15 ms back within 20 lets it go on all the same, only slower.
        expect(Math.abs(clock.showed(clock.wallMs(ns), 0, Number.POSITIVE_INFINITY) - ns)).toBeLessThan(2e3);
        expect(Math.abs(clock.aheadMs(clock.wallMs(ns), ns))).toBeLessThan(1e-3);
      }),
    );
  });
});

/** A machine's clock that is stepped or slid is reported, and what is less than a step adds up to all that it moved by. */
import { expect, test } from 'vitest';
import { readBoth, watchDisturbances } from '../../../../harness/run/disturbances.js';
import type { HistoryBody } from '../../../../harness/vocabulary/history.js';
import type { Clock } from '../../../../harness/vocabulary/time.js';

/** Plays `seconds` in an instant; `wall` says how far the wall clock is ahead at a time. */
async function watched(seconds: number, wallAheadMs: (second: number) => number, tickMs?: (second: number) => number) {
  let nowMs = 0;
  let over = () => {};
  const end = new Promise<void>((resolve) => {
    over = resolve;
  });
  const clock: Clock = {
    nowNs: () => nowMs * 1e6,
    wallMs: () => Math.floor(nowMs + wallAheadMs(nowMs / 1_000)),
    sleep: async (ms) => {
      nowMs += ms + (tickMs?.(nowMs / 1_000) ?? 0);
      if (nowMs >= seconds * 1_000) over();
    },
  };
  const told: (Extract<HistoryBody, { type: 'disturbance' }> & { atNs: number })[] = [];
  const watch = watchDisturbances(clock, readBoth(clock), (body) => {
    if (body.type === 'disturbance') told.push({ ...body, atNs: nowMs * 1e6 });
  });
  await end;
  await watch[Symbol.asyncDispose]();
  return told;
}

test('a step, forward or back, with its size and the tick in which it came', async () => {
  for (const stepMs of [3_000, -3_000, 40]) {
    const told = await watched(20, (second) => (second >= 7 ? stepMs : 0));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ disturbance: 'wall-clock-step' });
    expect(Math.abs(told[0]!.ms - stepMs)).toBeLessThanOrEqual(2);
    expect(told[0]!.beganNs / 1e9).toBeGreaterThan(6.9);
  }
});

test('a slide that takes a lease along (80 ms a second) is reported in full, however small its ticks are', async () => {
  const told = await watched(10, (second) => (second < 5 ? 80 * second : 400));
  const sum = told.reduce((total, one) => total + one.ms, 0);
  expect(sum).toBeGreaterThan(380);
  expect(sum).toBeLessThanOrEqual(402);
});

test('a slide of half a millisecond a second is never a step, and what is told of it is as far as it went, within 4 ms', async () => {
  const told = await watched(60, (second) => 0.5 * second);
  expect(told.every(({ ms, atNs, beganNs }) => ms < 5 && atNs - beganNs < 6e9)).toBe(true);
  expect(Math.abs(told.reduce((total, one) => total + one.ms, 0) - 30)).toBeLessThan(4);
});

test('a small jump after a long time is looked for near it only', async () => {
  const [one, ...more] = await watched(60, (second) => (second >= 40 ? 4 : 0));
  expect(more).toEqual([]);
  expect(one!.ms).toBeCloseTo(4, -1);
  expect(one!.beganNs).toBeGreaterThan(34e9);
});

test('a clock that keeps its pace is not reported', async () => {
  expect(await watched(300, () => 0.7)).toEqual([]);
});

test('two clocks that are not read in one instant are read again', () => {
  let [nowMs, reads] = [100, 0];
  const clock = {
    // Stopped for 40 ms just after the wall clock was read, twice.
    nowNs: () => nowMs * 1e6,
    wallMs: () => {
      const wallMs = 5_000 + nowMs;
      if (reads++ < 2) nowMs += 40;
      return wallMs;
    },
    sleep: async () => {},
  };
  expect(readBoth(clock)).toEqual({ monotonicNs: 180e6, wallMs: 5_180, uncertaintyMs: 0 });
});

test('a harness that stalled', async () => {
  const told = await watched(
    5,
    () => 0,
    (second) => (second > 2 && second < 2.03 ? 700 : 0),
  );
  expect(told).toMatchObject([{ disturbance: 'harness-stall', ms: 700 }]);
});

/** A machine's clock that is stepped or slid is reported; one that is slewed as NTP does is not. */
import { expect, test } from 'vitest';
import { watchDisturbances } from '../../../../harness/run/disturbances.js';
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
  const told: Extract<HistoryBody, { type: 'disturbance' }>[] = [];
  const watch = watchDisturbances(clock, (body) => {
    if (body.type === 'disturbance') told.push(body);
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

test('what NTP does to every clock is not reported: half a millisecond a second', async () => {
  expect(await watched(60, (second) => 0.5 * second)).toEqual([]);
});

test('a harness that stalled', async () => {
  const told = await watched(
    5,
    () => 0,
    (second) => (second > 2 && second < 2.03 ? 700 : 0),
  );
  expect(told).toMatchObject([{ disturbance: 'harness-stall', ms: 700 }]);
});

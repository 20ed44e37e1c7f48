/**
 * Watches the machine that the run stands on: a harness that was not scheduled, or a wall clock that somebody stepped,
 * can make a careful client careless or an honest server wrong. Both are recorded, so that a verdict that depends on
 * them can say "cannot tell".
 */
import type { Clock, HistoryBody } from './api.js';

const TICK_MS = 20;
/** Two cores that start twelve processes are late by this much without any harm. */
const STALL_MS = 250;
/** NTP slews by at most 0.5 ms a second; more between two ticks is a step. */
const WALL_STEP_MS = 5;

/** Starts watching; disposing stops. */
export function watchDisturbances(clock: Clock, record: (body: HistoryBody) => void): AsyncDisposable {
  const stop = new AbortController();
  const loop = watch(clock, record, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await loop;
    },
  };
}

async function watch(clock: Clock, record: (body: HistoryBody) => void, stop: AbortSignal): Promise<void> {
  let before = readBoth(clock);
  while (!stop.aborted) {
    await clock.sleep(TICK_MS, stop);
    const now = readBoth(clock);
    const elapsedMs = (now.monotonicNs - before.monotonicNs) / 1e6;
    if (elapsedMs - TICK_MS > STALL_MS) {
      record({
        type: 'disturbance',
        disturbance: 'harness-stall',
        ms: Math.round(elapsedMs - TICK_MS),
        beganNs: before.monotonicNs,
      });
    }
    const stepMs = now.wallMs - before.wallMs - elapsedMs;
    if (Math.abs(stepMs) > WALL_STEP_MS + now.uncertaintyMs + before.uncertaintyMs) {
      record({
        type: 'disturbance',
        disturbance: 'wall-clock-step',
        ms: Math.round(stepMs),
        beganNs: before.monotonicNs,
      });
    }
    before = now;
  }
}

/** The two clocks cannot be read in one instant; how far apart the readings may be is part of the reading. */
function readBoth(clock: Clock): { monotonicNs: number; wallMs: number; uncertaintyMs: number } {
  const fromNs = clock.nowNs();
  const wallMs = clock.wallMs();
  const toNs = clock.nowNs();
  return { monotonicNs: (fromNs + toNs) / 2, wallMs, uncertaintyMs: (toNs - fromNs) / 1e6 + 1 };
}

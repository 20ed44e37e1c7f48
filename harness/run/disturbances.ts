/**
 * Watches the machine that the run stands on: a harness that was not scheduled, or a wall clock that somebody stepped,
 * can make a careful client careless or an honest server wrong. Both are recorded, so that a verdict that depends on
 * them can say "cannot tell".
 */
import type { HistoryBody } from '../vocabulary/history.js';
import type { Clock } from '../vocabulary/time.js';

const TICK_MS = 20;
/** Two cores that start twelve processes are late by this much without any harm. */
const STALL_MS = 250;
/**
 * More than this between two ticks is a step; or between a reading and one of the last ten seconds. The kernel slews a clock
 * by at most 0.5 ms a second, but some time services do it by 80 ms, and a lease of 5 s then ends 400 ms early.
 */
const WALL_STEP_MS = 5;
const ANCHOR_EVERY_NS = 10e9;

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
  let anchor = before;
  while (!stop.aborted) {
    await clock.sleep(TICK_MS, stop);
    const now = readBoth(clock);
    const stalledMs = (now.monotonicNs - before.monotonicNs) / 1e6 - TICK_MS;
    if (stalledMs > STALL_MS) {
      record({
        type: 'disturbance',
        disturbance: 'harness-stall',
        ms: Math.round(stalledMs),
        beganNs: before.monotonicNs,
      });
    }
    // A jump is recorded with the tick in which it came, a slide with all the time that it took.
    const since = hasStepped(before, now) ? before : anchor;
    const stepped = hasStepped(since, now);
    if (stepped) {
      record({
        type: 'disturbance',
        disturbance: 'wall-clock-step',
        ms: Math.round(stepMs(since, now)),
        beganNs: since.monotonicNs,
      });
    }
    if (stepped || now.monotonicNs - anchor.monotonicNs > ANCHOR_EVERY_NS) anchor = now;
    before = now;
  }
}

interface Reading {
  monotonicNs: number;
  wallMs: number;
  /** How far apart the readings of the two clocks may be. */
  uncertaintyMs: number;
}

function stepMs(before: Reading, now: Reading): number {
  return now.wallMs - before.wallMs - (now.monotonicNs - before.monotonicNs) / 1e6;
}

function hasStepped(before: Reading, now: Reading): boolean {
  return Math.abs(stepMs(before, now)) > WALL_STEP_MS + now.uncertaintyMs + before.uncertaintyMs;
}

/** The two clocks cannot be read in one instant. */
function readBoth(clock: Clock): Reading {
  const fromNs = clock.nowNs();
  const wallMs = clock.wallMs();
  const toNs = clock.nowNs();
  return { monotonicNs: (fromNs + toNs) / 2, wallMs, uncertaintyMs: (toNs - fromNs) / 1e6 + 1 };
}

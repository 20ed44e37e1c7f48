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
/** More than this is a step: at once, or little by little since the last that was recorded, or since the epoch. */
const WALL_STEP_MS = 5;
/** What is less adds up: it is recorded, too, or stamps of servers would be placed ever more wrongly on the run's time. */
const WALL_SLIDE_MS = 1.5;
const SLIDE_NS = 5e9;
/** Two clocks are read one after the other, by a process that may be stopped in between: it is tried again until it was not. */
const READ_WITHIN_MS = 0.05;
const READ_TRIES = 50;

/** The run's time and the machine's wall clock, as near to one instant as they could be read. */
export interface BothClocks {
  monotonicNs: number;
  wallMs: number;
  /** How far apart the readings of the two clocks may be. */
  uncertaintyMs: number;
}

export function readBoth(clock: Clock): BothClocks {
  let best = readOnce(clock);
  for (let left = READ_TRIES; left > 0 && best.uncertaintyMs > READ_WITHIN_MS; left--) {
    const again = readOnce(clock);
    if (again.uncertaintyMs < best.uncertaintyMs) best = again;
  }
  return best;
}

/** Starts watching; disposing stops. `epoch`: how the clocks stood when the run began, by which all of it is placed. */
export function watchDisturbances(
  clock: Clock,
  epoch: BothClocks,
  record: (body: HistoryBody) => void,
): AsyncDisposable {
  const stop = new AbortController();
  const loop = watch(clock, epoch, record, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await loop;
    },
  };
}

async function watch(
  clock: Clock,
  epoch: BothClocks,
  record: (body: HistoryBody) => void,
  stop: AbortSignal,
): Promise<void> {
  let before = epoch;
  // How the clocks stood when all that the wall clock had been moved by was recorded; and when it was last looked for a slide.
  let [recorded, looked] = [epoch, epoch];
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
    const movedMs = stepMs(recorded, now);
    const isDue = now.monotonicNs - looked.monotonicNs > SLIDE_NS;
    if (hasStepped(recorded, now) || (isDue && Math.abs(movedMs) > WALL_SLIDE_MS)) {
      record({
        type: 'disturbance',
        disturbance: 'wall-clock-step',
        ms: Math.round(movedMs * 10) / 10,
        // A jump is recorded with the tick in which it came, a slide with all the time that it took.
        beganNs: (hasStepped(before, now) ? before : looked).monotonicNs,
      });
      recorded = now;
    }
    if (isDue || recorded === now) looked = now;
    before = now;
  }
}

function stepMs(before: BothClocks, now: BothClocks): number {
  return now.wallMs - before.wallMs - (now.monotonicNs - before.monotonicNs) / 1e6;
}

function hasStepped(before: BothClocks, now: BothClocks): boolean {
  // The wall clock is told in whole milliseconds.
  return Math.abs(stepMs(before, now)) > WALL_STEP_MS + 2 + now.uncertaintyMs + before.uncertaintyMs;
}

function readOnce(clock: Clock): BothClocks {
  const fromNs = clock.nowNs();
  const wallMs = clock.wallMs();
  const toNs = clock.nowNs();
  return { monotonicNs: (fromNs + toNs) / 2, wallMs, uncertaintyMs: (toNs - fromNs) / 1e6 };
}

/** The machine's own clocks. The only place, beside the runtimes, that reads time or sets timers. */
import type { Clock } from '../vocabulary/time.js';

/** CLOCK_MONOTONIC now, raw nanoseconds (rounded to what a double holds: 2 ns after 104 days of uptime). */
export function monotonicNs(): number {
  return Number(process.hrtime.bigint());
}

/** A clock whose nanoseconds count from `epochNs` (raw CLOCK_MONOTONIC). */
export function realClock(epochNs: number): Clock {
  return {
    nowNs: () => monotonicNs() - epochNs,
    wallMs: () => Date.now(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const done = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        signal?.addEventListener('abort', done, { once: true });
      }),
  };
}

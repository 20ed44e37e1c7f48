/**
 * Real time for the lock client process: the one place in it that touches timers and clocks.
 *
 * Stamps are raw CLOCK_MONOTONIC nanoseconds, which every process of the machine shares and no fault changes. As a
 * number they stay exact for the first 104 days after the machine's start.
 */

/** Raw CLOCK_MONOTONIC nanoseconds. */
export function nowNs(): number {
  return Number(process.hrtime.bigint());
}

/** The wall clock as this process sees it, milliseconds since 1970: a skewed clock shows here. */
export function wallMs(): number {
  return Date.now();
}

/** Resolves after `ms`, or as soon as `signal` aborts; never rejects. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Calls `then` after `ms` unless the result was called first. */
export function after(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
}

/** How long a message is on its way between two simulated hosts. */

/** What a link does to what is sent over it, beyond its usual delay. */
export interface LinkDelay {
  delayMs: number;
  /** Drawn evenly from so much less to so much more. */
  jitterMs: number;
}

const LEAST_NS = 50_000;
const MOST_NS = 250_000;

/** In nanoseconds; `drawn` from 0 up to 1. */
export function onItsWayNs(drawn: number, delay: LinkDelay | undefined): number {
  const usualNs = LEAST_NS + drawn * (MOST_NS - LEAST_NS);
  const moreNs = delay ? Math.max(0, delay.delayMs + (2 * drawn - 1) * delay.jitterMs) * 1e6 : 0;
  return usualNs + moreNs;
}

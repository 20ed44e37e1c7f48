/** Work that the process of a client does: while that is stopped, nothing of it is done. */
import type { Woke } from '../vocabulary/workload.js';
import type { StoppedWait } from './in-time.js';

const LOOK_EVERY_MS = 100;
const STOPPED_POLL_MS = 20;

/**
 * Naps for `ms`, or until the process was seen stopped and runs again: then with how much was left when it was. Less than a look
 * in between is not noticed. `nap` ends early when its signal aborts.
 */
export async function napOrStandStill(
  ms: number,
  { clock, process, stopping }: StoppedWait,
  nap: (ms: number, goesOn: AbortSignal) => Promise<Woke>,
): Promise<Woke> {
  const dueNs = clock.nowNs() + ms * 1e6;
  const over = new AbortController();
  const goesOn = new AbortController();
  const isStopped = async () => stopping?.aborted !== true && (await process.state()) === 'stopped';
  let leftMs: number | undefined;
  const watch = async () => {
    while (leftMs === undefined) {
      await clock.sleep(LOOK_EVERY_MS, over.signal);
      if (over.signal.aborted) return;
      if (await isStopped()) leftMs = Math.max(0, (dueNs - clock.nowNs()) / 1e6);
    }
    while (await isStopped()) await clock.sleep(STOPPED_POLL_MS);
    goesOn.abort();
  };
  const watching = watch();
  const woke = await nap(ms, goesOn.signal);
  over.abort();
  await watching;
  return leftMs === undefined ? woke : { ...woke, leftMs };
}

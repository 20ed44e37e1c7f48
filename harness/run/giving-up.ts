/** The caller of an acquire gives up: the program is told that nobody waits any more. */
import type { Clock } from '../vocabulary/time.js';
import type { Reply } from './client-process.js';

/** Calls `tell` after the time if there is no answer by then. The result says when it did, undefined: it did not. */
export function givingUp(
  clock: Clock,
  afterMs: number | undefined,
  answer: Promise<Reply>,
  tell: () => void,
): () => number | undefined {
  let cancelledNs: number | undefined;
  if (afterMs === undefined) return () => undefined;
  const answered = new AbortController();
  void answer.then(() => answered.abort());
  void clock.sleep(afterMs, answered.signal).then(() => {
    if (answered.signal.aborted) return;
    cancelledNs = clock.nowNs();
    tell();
  });
  return () => cancelledNs;
}

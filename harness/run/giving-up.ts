/** A caller gives up: an acquire, of which the program is told that nobody waits any more; or what it holds. */
import type { Clock } from '../vocabulary/time.js';
import type { Instruction } from '../vocabulary/workload.js';
import type { Reply } from './client-process.js';
import { type StoppedWait, untilItRuns } from './in-time.js';

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

/** Calls `abandon` when the caller gives up what it holds while it waits for the answer; one that is stopped, when it runs again. */
export function givingHoldUp(
  instruction: Instruction,
  answer: Promise<Reply>,
  wait: StoppedWait,
  abandon: (hold: number) => unknown,
): void {
  if (!('givesUp' in instruction) || !instruction.givesUp) return;
  const { hold, afterMs } = instruction.givesUp;
  givingUp(wait.clock, afterMs, answer, () => void untilItRuns(answer, wait).then((runs) => runs && abandon(hold)));
}

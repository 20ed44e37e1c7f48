/**
 * A client that takes no more than so many turns: an acquire while it is at work under nothing, with all that it does then until it is so
 * again. Until its turns are over it does just what it would have done without a limit.
 */
import type { ClientScript } from '../vocabulary/workload.js';
import { AtWork } from './at-work.js';

/** Longer than any run; its end wakes who waits for it. */
const EVER_MS = 86_400_000;

/** Of one client slot: how many turns are left to it and to those that come in its place. */
export interface TurnsLeft {
  turns: number;
}

/** Takes from `left` as it goes on; when none is left the client waits for the end of the run. */
export function* limitedTurns(script: ClientScript, left: TurnsLeft): ClientScript {
  const atWork = new AtWork();
  let step = script.next();
  while (!step.done) {
    const instruction = step.value;
    if (instruction.do === 'acquire' && atWork.key === undefined) {
      if (left.turns === 0) {
        yield { do: 'idle', ms: EVER_MS };
        return;
      }
      left.turns--;
    }
    atWork.does(instruction);
    const outcome = yield instruction;
    atWork.did(instruction, outcome);
    step = script.next(outcome);
  }
}

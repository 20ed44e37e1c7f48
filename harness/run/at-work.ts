/** Under which key a client is at work: whoever comes in its place when it dies takes that work up. */
import type { Instruction, Outcome } from '../vocabulary/workload.js';

export class AtWork {
  /** By the id of the hold, in the order in which they were granted. */
  private readonly keys = new Map<number, string>();

  /** The key that it has had for longest, of those that it has neither begun to release nor given up. */
  get key(): string | undefined {
    const [first] = this.keys.values();
    return first;
  }

  /** It is about to carry this out. */
  does(instruction: Instruction): void {
    if (instruction.do === 'release' || instruction.do === 'abandon') this.keys.delete(instruction.hold);
  }

  /** It has carried this out, and it ended so. */
  did(instruction: Instruction, outcome: Outcome): void {
    if (instruction.do === 'acquire' && outcome.type === 'ok') this.keys.set(outcome.id, instruction.key);
    if (instruction.do === 'idle' && outcome.type === 'woke' && outcome.lost && instruction.untilLost !== undefined)
      this.keys.delete(instruction.untilLost);
  }
}

/** That something cannot happen in virtual time, for what it takes is not in the simulated world. */
import { UsageError } from '../common/errors.js';

export class NotSimulatedError extends UsageError {
  /** `lacks`: what the world does not have, as in "needs ...". */
  constructor(
    message: string,
    readonly lacks: string,
  ) {
    super(message);
  }
}

/**
 * The end of a client's process that nobody brought about, in the words of `client-down`. One that ends by a status of its own runs
 * no lock's code any more some time before: Node first writes what it died of. One that a signal ended ran until then.
 */
import type { ProcessExit } from '../../vocabulary/host.js';

const BY_ITSELF = 'exited by itself';

export function ownEnd({ code, signal }: ProcessExit): string {
  return `${BY_ITSELF} (${signal ?? `status ${code}`})`;
}

export function isOwnEnd(reason: string): boolean {
  return reason.startsWith(BY_ITSELF);
}

/** Whether it may have done nothing more for a while before it was gone. */
export function wasEndingBefore(reason: string): boolean {
  return reason.startsWith(`${BY_ITSELF} (status`);
}

/**
 * Which clients go on after an acquire of which it is not known how it ended. Whoever gave it up need not know, and what comes of it
 * is to be seen. But of one over a reconnect what the lock said is not heard: it may have granted it, and a hold that nobody can
 * release would be renewed for ever. So the process is ended then, as after every other operation that it cannot tell of.
 */
import type { SpansReconnect } from '../../vocabulary/protocol.js';

/** Of an acquire that ended in `info`: when its caller gave it up (undefined or NaN: it did not), and its reason. */
export function wasGivenUp(cancelledNs: number | undefined, reason: string | undefined): boolean {
  return cancelledNs !== undefined && !Number.isNaN(cancelledNs) && reason !== ('reconnect' satisfies SpansReconnect);
}

/** What ends a hold if its holder never does: by the lock's own word. */
import type { History } from '../../vocabulary/history.js';
import type { LeaseKind } from '../../vocabulary/protocol.js';

/** All clients of a run have one lock, so the first speaks for them. `timed` where it says nothing, or none came up. */
export function leaseKindOf({ rare }: Pick<History, 'rare'>): LeaseKind {
  return rare.find((event) => event.type === 'client-up')?.lease ?? 'timed';
}

/**
 * The lease that a grant comes with, in milliseconds: Infinity where nothing ends the hold, whatever was asked for. What the
 * lock says of a single grant or renewal counts all the same (`leaseEndAfter`).
 */
export function grantedMs(kind: LeaseKind, askedMs: number): number {
  return kind === 'none' ? Number.POSITIVE_INFINITY : askedMs;
}

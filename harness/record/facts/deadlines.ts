/** When what a client keeps on the servers ends if nothing more is heard of it: by the lock's own word. */
import type { History } from '../../vocabulary/history.js';
import type { Deadline, Deadlines } from '../../vocabulary/protocol.js';

/**
 * Milliseconds of silence after which a client's place or permit, asked for with that lease, has ended; Infinity: it never
 * ends by itself; undefined: the lock does not say. All clients of a run have one lock, so the first speaks for them.
 */
export function deadlineMs({ rare }: History, of: keyof Deadlines, leaseMs: number): number | undefined {
  return lastsMs(rare.find((event) => event.type === 'client-up')?.deadlines?.[of], leaseMs);
}

/**
 * For how long, in milliseconds, places and permits may be in the way of others by the lock's own word, beside holds. What it does
 * not declare counts as none, and so does what never ends by itself: that a lock must give back.
 */
export function declaredMs(deadlines: Deadlines | undefined, leaseMs: number): number {
  return [deadlines?.place, deadlines?.permit]
    .map((said) => lastsMs(said, leaseMs) ?? 0)
    .reduce((sum, ms) => sum + (Number.isFinite(ms) ? ms : 0), 0);
}

function lastsMs(said: Deadline | undefined, leaseMs: number): number | undefined {
  if (said === 'never') return Number.POSITIVE_INFINITY;
  return said === 'lease' ? leaseMs : said;
}

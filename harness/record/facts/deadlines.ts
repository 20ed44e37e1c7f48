/** When what a client keeps on the servers ends if nothing more is heard of it: by the lock's own word. */
import type { History } from '../../vocabulary/history.js';
import type { Deadlines } from '../../vocabulary/protocol.js';

/**
 * Milliseconds of silence after which a client's place or permit, asked for with that lease, has ended; Infinity: it never
 * ends by itself; undefined: the lock does not say. All clients of a run have one lock, so the first speaks for them.
 */
export function deadlineMs({ rare }: History, of: keyof Deadlines, leaseMs: number): number | undefined {
  const said = rare.find((event) => event.type === 'client-up')?.deadlines?.[of];
  if (said === 'never') return Number.POSITIVE_INFINITY;
  return said === 'lease' ? leaseMs : said;
}

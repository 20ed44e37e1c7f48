/**
 * SET NX PX whose renewals are kept in a table of the process, by the name of the lock: who is in it is being renewed. What is
 * in the table, and for how long, is what canaries get wrong.
 */
import type { LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { keepRenewed, type Watchdog } from '../renewal.js';
import { attempt, PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

export interface TableParts {
  /** Whether the entry of a lock whose renewal failed is taken out. */
  forgetsTheLost: boolean;
  /** How many entries there is room for; when there are more, the oldest is dropped, and its renewal ends. */
  room: number;
}

export function renewalTable(name: string, parts: TableParts): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['renews'],
    async connect(access) {
      const redis = await access.redis();
      const table = new Map<string, Watchdog>();
      return {
        async acquire(key, options) {
          const hold = await tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () =>
            attempt(access, redis, key, options.leaseMs),
          );
          return tabledHold(access, key, hold, options.leaseMs, table, parts);
        },
      };
    },
  });
}

function tabledHold(
  access: TopologyAccess,
  key: string,
  plain: LockHold,
  leaseMs: number,
  table: Map<string, Watchdog>,
  { forgetsTheLost, room }: TableParts,
): LockHold {
  const drop = (name: string) => {
    table.get(name)?.stop();
    table.delete(name);
  };
  const hold: LockHold = {
    grantSentNs: plain.grantSentNs!,
    async release() {
      if (hold.lost?.aborted) return false;
      drop(key);
      return plain.release();
    },
  };
  if (table.has(key)) return hold;
  const watchdog = keepRenewed(access, {
    leaseMs,
    grantSentNs: plain.grantSentNs!,
    renew: async () => (await plain.extend!(leaseMs)) !== null,
    renewed: (sentNs) => access.renewed(hold, sentNs, leaseMs),
  });
  hold.lost = watchdog.lost;
  table.set(key, watchdog);
  if (forgetsTheLost) watchdog.lost.addEventListener('abort', () => drop(key));
  for (const oldest of [...table.keys()].slice(0, Math.max(0, table.size - room))) drop(oldest);
  return hold;
}

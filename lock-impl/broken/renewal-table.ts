/**
 * SET NX PX whose renewals are kept in a table of the process, by the name of the lock: who is in it is being renewed. What is
 * in the table, and for how long, is what canaries get wrong.
 *
 * A renewal that fails, for whatever reason, is the end of the hold, and its client is told.
 */
import type { LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOf } from '../owned-key.js';
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
      const table = new Map<string, AbortController>();
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
  table: Map<string, AbortController>,
  { forgetsTheLost, room }: TableParts,
): LockHold {
  const lost = new AbortController();
  const drop = (name: string) => {
    table.get(name)?.abort();
    table.delete(name);
  };
  const hold: LockHold = {
    grantSentNs: plain.grantSentNs!,
    lost: lost.signal,
    async release() {
      if (lost.signal.aborted) return false;
      drop(key);
      return plain.release();
    },
  };

  const renewAgainAndAgain = async (stopped: AbortSignal) => {
    for (;;) {
      await access.sleep(leaseMs / 3, stopped);
      if (stopped.aborted) return;
      const sentNs = access.nowNs();
      const answer = await answerOf(plain.extend!(leaseMs).then((extended) => extended !== null));
      if (stopped.aborted) return;
      if (answer.is !== 'yes') break;
      access.renewed(hold, sentNs, leaseMs);
    }
    if (forgetsTheLost) drop(key);
    lost.abort('a renewal failed');
  };

  if (!table.has(key)) {
    const renewing = new AbortController();
    table.set(key, renewing);
    for (const oldest of [...table.keys()].slice(0, Math.max(0, table.size - room))) drop(oldest);
    void renewAgainAndAgain(renewing.signal);
  }
  return hold;
}

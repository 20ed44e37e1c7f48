/**
 * SET NX PX whose renewals are kept in a table of the process, by the name of the lock: who is in it is being renewed. What is
 * in the table, and for how long, is what canaries get wrong.
 *
 * A renewal that fails, for whatever reason, is the end of the hold, and its client is told.
 */
import type { AcquireOptions, LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOf, answerOrRefusal, giveBack, heldKey, type OwnedKey, prolong, take } from '../owned-key.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

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
      const attempt = async (key: string, leaseMs: number): Promise<Attempt> => {
        const mine = { redis, key, owner: access.randomValue() };
        const sentNs = access.nowNs();
        const result = await answerOrRefusal(take(mine, leaseMs));
        if ('refusedBecause' in result) return result;
        if (!result.answer) return { refusedBecause: 'held' };
        if (heldKey(access, mine, sentNs, leaseMs).validForMs > 0) {
          return { hold: tabledHold(access, mine, sentNs, leaseMs, table, parts) };
        }
        await answerOf(giveBack(mine));
        return { refusedBecause: 'granted-late' };
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, options.leaseMs)),
      };
    },
  });
}

function tabledHold(
  access: TopologyAccess,
  mine: OwnedKey,
  grantSentNs: number,
  leaseMs: number,
  table: Map<string, AbortController>,
  { forgetsTheLost, room }: TableParts,
): LockHold {
  const { key } = mine;
  const lost = new AbortController();
  const { release } = heldKey(access, mine, grantSentNs, leaseMs);
  const drop = (name: string) => {
    table.get(name)?.abort();
    table.delete(name);
  };
  const hold: LockHold = {
    grantSentNs,
    lost: lost.signal,
    async release() {
      if (lost.signal.aborted) return false;
      drop(key);
      return release();
    },
  };

  const renewAgainAndAgain = async (stopped: AbortSignal) => {
    for (;;) {
      await access.sleep(leaseMs / 3, stopped);
      if (stopped.aborted) return;
      const sentNs = access.nowNs();
      const answer = await answerOf(prolong(mine, leaseMs));
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

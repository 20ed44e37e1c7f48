/**
 * SET NX PX with an owner value, put together from the parts that canaries get wrong; a part that is left out is right.
 * With all parts right it promises what `set-nx-px` does.
 */
import type { AcquireOptions, LockDefinition, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOf, answerOrRefusal, giveBack, heldKey, type OwnedKey, prolong, take } from '../owned-key.js';
import { type LaterCommand, needOneOf } from '../server-commands.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

export interface LeaseParts {
  /** The server must have one of these. */
  needs?: readonly LaterCommand[];
  /** Called once per client; the result is called once per try, for the value that says whose the lock is. */
  owners?(access: TopologyAccess): () => string;
  /** True if the lock is ours for `leaseMs` from now. */
  take?(mine: OwnedKey, leaseMs: number, access: TopologyAccess): Promise<boolean>;
  /** When the granted attempt left, as the lock says it; `sentNs` is when it did. */
  stamp?(access: TopologyAccess, sentNs: number): number;
  /** True if the lock is ours for another `leaseMs` from now. */
  extend?(mine: OwnedKey, leaseMs: number, access: TopologyAccess): Promise<boolean>;
}

/** A value for each try that no other try has. */
export function freshOwners(access: TopologyAccess): () => string {
  return access.randomValue;
}

export function leaseLock(name: string, parts: LeaseParts): LockDefinition {
  const { needs, owners = freshOwners, take: takeIt = take, stamp, extend = prolong } = parts;
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['extend'],
    async connect(access) {
      const redis = await access.redis();
      if (needs) await needOneOf(redis, needs);
      const nextOwner = owners(access);
      const attempt = async (key: string, leaseMs: number): Promise<Attempt> => {
        const mine = { redis, key, owner: nextOwner() };
        const sentNs = access.nowNs();
        const result = await answerOrRefusal(takeIt(mine, leaseMs, access));
        if ('refusedBecause' in result) return result;
        if (!result.answer) return { refusedBecause: 'held' };

        const held = heldKey(access, mine, sentNs, leaseMs);
        if (held.validForMs <= 0) {
          await answerOf(giveBack(mine));
          return { refusedBecause: 'granted-late' };
        }
        const extendIt = async (newLeaseMs: number) => {
          const extensionSentNs = access.nowNs();
          const extended = await certainOrDoubtful(extend(mine, newLeaseMs, access));
          return extended ? { validForMs: validForMs(access, extensionSentNs, newLeaseMs) } : null;
        };
        const grantSentNs = stamp ? stamp(access, sentNs) : sentNs;
        return { hold: { ...held, grantSentNs, extend: extendIt } };
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, options.leaseMs)),
      };
    },
  });
}

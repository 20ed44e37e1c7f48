/**
 * SET NX PX that counts only once a replica has it: WAIT follows the write, and a grant that no replica acknowledged is
 * rolled back. With no replica connected there is none to ask and the check is off, as it is in the family of locks that has
 * it.
 *
 * It promises what `set-nx-px` does, and that one replica had the grant when `acquire` returned, if any was connected. It
 * excludes a promise beyond that: of two replicas one may have acknowledged and the *other* be promoted, an isolated
 * primary is believed again as soon as it has dropped its replicas, and a replica may lose what it had.
 *
 * WAIT speaks of the writes of its own connection. If that were cut between write and WAIT, the new one would have
 * written nothing, and every replica would "have it". So the write that is waited for (the grant again, as an extension
 * that compares the owner) and WAIT leave in one pipeline, on one connection. On a Cluster that pipeline goes to the node
 * of its key, so the same holds there.
 *
 * Steps: `granted`, when the primary has granted and no acknowledgement was asked for yet.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted, validForMs } from './attempts.js';
import { defineLock, refused } from './define-lock.js';
import { answerOf, answerOrRefusal, giveBack, type OwnedKey } from './owned-key.js';
import { extendCountingReplicas } from './scripts/extend-counting-replicas.js';
import { extendIfMine } from './scripts/extend-if-mine.js';
import { takeCountingReplicas } from './scripts/take-counting-replicas.js';

const pause = { minMs: 10, maxMs: 30 };
const ACKNOWLEDGED_BY = 1;

export default defineLock({
  name: 'wait-replicated',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  features: ['extend'],
  async connect(access) {
    const redis = await access.redis();
    return {
      acquire: (key: string, options: AcquireOptions) =>
        tryUntilGranted(access, options, pause, () => attempt(access, redis, key, options.leaseMs)),
    };
  },
});

async function attempt(access: TopologyAccess, redis: Redis, key: string, leaseMs: number): Promise<Attempt> {
  const mine = { redis, key, owner: access.randomValue() };
  const sentNs = access.nowNs();
  const result = await answerOrRefusal(redis.eval(takeCountingReplicas, 1, key, mine.owner, leaseMs));
  if ('refusedBecause' in result) return result;
  const replicas = Number(result.answer);
  if (replicas < 0) return { refusedBecause: 'held' };

  await access.step('granted');
  const trusted = replicas === 0 ? 'yes' : await acknowledged(access, mine, leaseMs);
  const hold = replicatedHold(access, mine, sentNs, leaseMs);
  if (trusted === 'yes' && hold.validForMs! > 0) return { hold };
  await answerOf(giveBack(mine));
  return { refusedBecause: trusted === 'yes' ? 'granted-late' : trusted };
}

type Acknowledged = 'yes' | 'not-replicated' | 'lost-again';

/**
 * Whether a replica has the grant. Whatever kept us from knowing, the answer is no: the caller gives the grant back or
 * lets its lease end, and holds nothing.
 */
async function acknowledged(access: TopologyAccess, mine: OwnedKey, leaseMs: number): Promise<Acknowledged> {
  const { redis, key, owner } = mine;
  const waitMs = Math.max(1, Math.floor(Math.min(access.options.commandTimeoutMs / 2, leaseMs / 10)));
  const replies = await redis
    .pipeline()
    .eval(extendIfMine, 1, key, owner, leaseMs)
    .wait(ACKNOWLEDGED_BY, waitMs)
    .exec()
    .catch(() => null);
  const [extended, waited] = replies ?? [];
  if (!extended || extended[0] || !waited || waited[0]) return 'not-replicated';
  if (extended[1] !== 1) return 'lost-again';
  return Number(waited[1]) >= ACKNOWLEDGED_BY ? 'yes' : 'not-replicated';
}

function replicatedHold(access: TopologyAccess, mine: OwnedKey, sentNs: number, leaseMs: number): LockHold {
  const { redis, key, owner } = mine;
  return {
    validForMs: validForMs(access, sentNs, leaseMs),
    grantSentNs: sentNs,
    release: () => certainOrDoubtful(giveBack(mine)),
    async extend(newLeaseMs) {
      const extensionSentNs = access.nowNs();
      const script = redis.eval(extendCountingReplicas, 1, key, owner, newLeaseMs);
      const replicas = Number(await certainOrDoubtful(script));
      if (replicas < 0) return null;
      const trusted = replicas === 0 ? 'yes' : await acknowledged(access, mine, newLeaseMs);
      // The primary has the new lease and perhaps no replica does: the caller is to go by the old one.
      if (trusted !== 'yes') throw refused(trusted);
      return { validForMs: validForMs(access, extensionSentNs, newLeaseMs) };
    },
  };
}

/**
 * SET NX PX that counts only once it is acknowledged: by replicas that have it (WAIT), by disks that have it (WAITAOF). A
 * grant that is not is given back, and an extension that is not leaves its holder with the old lease.
 *
 * What waits speaks of the writes of its own connection. If that were cut between the write and the wait, the new one would have
 * written nothing, and everybody would "have it". So the write that is waited for (the grant again, as an extension that
 * compares the owner) and what waits leave in one pipeline, on one connection. On a Cluster that pipeline goes to the node of its
 * key, so the same holds there.
 *
 * Steps: `granted`, when the primary has granted and no acknowledgement was asked for yet.
 */
import type { ChainableCommander, Redis } from 'ioredis';
import type { AcquireOptions, LockClient, LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted, validForMs } from './attempts.js';
import { refused } from './define-lock.js';
import { answerOf, answerOrRefusal, giveBack, type OwnedKey } from './owned-key.js';
import { extendCountingReplicas } from './scripts/extend-counting-replicas.js';
import { extendIfMine } from './scripts/extend-if-mine.js';
import { takeCountingReplicas } from './scripts/take-counting-replicas.js';

/** How long after its wait was over a WAIT or WAITAOF is answered: an idle server looks ten times a second; then that travels. */
export const WAIT_ANSWER_MS = 200;

const pause = { minMs: 10, maxMs: 30 };

/** Who must have a grant before it counts. */
export interface Acknowledgement {
  /** Whether one is asked for at all where so many replicas are connected. */
  isAsked(replicas: number): boolean;
  /** Adds what waits for it, `waitMs` at most. */
  ask(pipeline: ChainableCommander, replicas: number, waitMs: number): ChainableCommander;
  /** Of what that was answered. */
  isEnough(answer: unknown, replicas: number): boolean;
  /** How long to wait for it, milliseconds. */
  patienceMs(commandTimeoutMs: number, leaseMs: number): number;
  /** Why a grant was not one, `not-replicated` say. */
  refusal: string;
}

export function acknowledgedLeases(access: TopologyAccess, redis: Redis, by: Acknowledgement): LockClient {
  return {
    acquire: (key: string, options: AcquireOptions) =>
      tryUntilGranted(access, options, pause, () => attempt(access, redis, key, options.leaseMs, by)),
  };
}

async function attempt(
  access: TopologyAccess,
  redis: Redis,
  key: string,
  leaseMs: number,
  by: Acknowledgement,
): Promise<Attempt> {
  const mine = { redis, key, owner: access.randomValue() };
  const sentNs = access.nowNs();
  const result = await answerOrRefusal(redis.eval(takeCountingReplicas, 1, key, mine.owner, leaseMs));
  if ('refusedBecause' in result) return result;
  const replicas = Number(result.answer);
  if (replicas < 0) return { refusedBecause: 'held' };

  await access.step('granted');
  const why = await whyNotTrusted(access, mine, leaseMs, replicas, by);
  const hold = acknowledgedHold(access, mine, sentNs, leaseMs, by);
  if (why === undefined && hold.validForMs! > 0) return { hold };
  await answerOf(giveBack(mine));
  return { refusedBecause: why ?? 'granted-late' };
}

/**
 * Why it is not acknowledged; undefined: it is, or needs not be. Whatever kept us from knowing, it is not: the caller gives the
 * grant back or lets its lease end, and holds nothing.
 */
async function whyNotTrusted(
  access: TopologyAccess,
  { redis, key, owner }: OwnedKey,
  leaseMs: number,
  replicas: number,
  { isAsked, ask, isEnough, patienceMs, refusal }: Acknowledgement,
): Promise<string | undefined> {
  if (!isAsked(replicas)) return undefined;
  const waitMs = Math.max(1, Math.floor(patienceMs(access.options.commandTimeoutMs, leaseMs)));
  const replies = await ask(redis.pipeline().eval(extendIfMine, 1, key, owner, leaseMs), replicas, waitMs)
    .exec()
    .catch(() => null);
  const [extended, waited] = replies ?? [];
  if (!extended || extended[0] || !waited || waited[0]) return refusal;
  if (extended[1] !== 1) return 'lost-again';
  return isEnough(waited[1], replicas) ? undefined : refusal;
}

function acknowledgedHold(
  access: TopologyAccess,
  mine: OwnedKey,
  sentNs: number,
  leaseMs: number,
  by: Acknowledgement,
): LockHold {
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
      const why = await whyNotTrusted(access, mine, newLeaseMs, replicas, by);
      // The primary has the new lease and perhaps nobody else does: the caller is to go by the old one.
      if (why !== undefined) throw refused(why);
      return { validForMs: validForMs(access, extensionSentNs, newLeaseMs) };
    },
  };
}

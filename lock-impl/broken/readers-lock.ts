/**
 * `read-write` without reentrance: each hold has a name of its own. Who is renewed, and for how long, is what canaries get wrong.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { LockMode } from '../../harness/vocabulary/protocol.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { companionKey } from '../keys.js';
import { answerOf, answerOrRefusal } from '../owned-key.js';
import { readWriteGiveBack } from '../scripts/read-write-give-back.js';
import { readWriteTake } from '../scripts/read-write-take.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

/** What a hold is on the server. `keys`: see scripts/read-write-state.ts. */
export interface ReaderOrWriter {
  redis: Redis;
  keys: [string, string];
  owner: string;
  mode: LockMode;
  leaseMs: number;
  grantSentNs: number;
}

/** From the grant of each hold on. */
export type KeepHolds = (hold: LockHold, its: ReaderOrWriter) => KeptHold;

export interface KeptHold {
  /** Absent: its holder is not told of a loss. */
  lost?: AbortSignal;
  /** Its holder gives it back. */
  stop(): void;
}

export function readersLock(name: string, keeper: (access: TopologyAccess) => KeepHolds): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['renews', 'shared'],
    model: { kind: 'read-write' },
    async connect(access) {
      const redis = await access.redis();
      const keep = keeper(access);

      const attempt = async (key: string, { leaseMs, mode = 'write' }: AcquireOptions): Promise<Attempt> => {
        const keys: [string, string] = [key, companionKey(key, 'leases')];
        const owner = access.randomValue();
        const grantSentNs = access.nowNs();
        const result = await answerOrRefusal(redis.eval(readWriteTake, 2, ...keys, owner, leaseMs, mode));
        if ('refusedBecause' in result) return result;
        if ((result.answer as [number, number])[0] !== 1) return { refusedBecause: 'held' };
        const giveBack = async () => {
          const left = redis.eval(readWriteGiveBack, 2, ...keys, owner, leaseMs, mode, companionKey(key, 'free'));
          return (await certainOrDoubtful(left)) !== null;
        };
        if (validForMs(access, grantSentNs, leaseMs) <= 0) {
          await answerOf(giveBack()); // else it ends with its lease
          return { refusedBecause: 'granted-late' };
        }
        const hold: LockHold = {
          grantSentNs,
          release() {
            kept.stop();
            return giveBack();
          },
        };
        const kept = keep(hold, { redis, keys, owner, mode, leaseMs, grantSentNs });
        return { hold: kept.lost ? Object.assign(hold, { lost: kept.lost }) : hold };
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, options)),
      };
    },
  });
}

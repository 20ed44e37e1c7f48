/**
 * `read-write` with one watchdog for each lock of a process, as libraries have it, which runs until a renewal finds nothing to
 * renew. What it renews is what canaries get wrong.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockDefinition, LockHold } from '../../harness/vocabulary/lock.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { companionKey } from '../keys.js';
import { answerOf, answerOrRefusal } from '../owned-key.js';
import { readWriteGiveBack } from '../scripts/read-write-give-back.js';
import { readWriteTake } from '../scripts/read-write-take.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

/** True if there was something to renew. KEYS of its scripts: see scripts/read-write-state.ts. */
export type RenewReaders = (redis: Redis, keys: [string, string], owner: string, leaseMs: number) => Promise<boolean>;

export function readersLock(name: string, renew: RenewReaders): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['renews', 'shared'],
    model: { kind: 'read-write' },
    async connect(access) {
      const redis = await access.redis();
      const owner = access.randomValue();
      const held = new Map<string, Set<LockHold>>();
      const watched = new Set<string>();

      const watch = async (key: string, keys: [string, string], leaseMs: number) => {
        if (watched.has(key)) return;
        watched.add(key);
        for (let goesOn = true; goesOn; ) {
          await access.sleep(leaseMs / 3);
          const sentNs = access.nowNs();
          const renewed = [...(held.get(key) ?? [])]; // not what is granted meanwhile
          const answer = await answerOf(renew(redis, keys, owner, leaseMs));
          if (answer.is === 'yes') for (const hold of renewed) access.renewed(hold, sentNs, leaseMs);
          goesOn = answer.is !== 'no';
        }
        watched.delete(key);
      };

      const attempt = async (key: string, { leaseMs, mode = 'write' }: AcquireOptions): Promise<Attempt> => {
        const keys: [string, string] = [key, companionKey(key, 'leases')];
        const grantSentNs = access.nowNs();
        const result = await answerOrRefusal(redis.eval(readWriteTake, 2, ...keys, owner, leaseMs, mode));
        if ('refusedBecause' in result) return result;
        if ((result.answer as [number, number])[0] !== 1) return { refusedBecause: 'held' };
        const hold: LockHold = {
          grantSentNs,
          async release() {
            held.get(key)?.delete(hold);
            const channel = companionKey(key, 'free');
            const left = redis.eval(readWriteGiveBack, 2, ...keys, owner, leaseMs, mode, channel);
            return (await certainOrDoubtful(left)) !== null;
          },
        };
        held.set(key, (held.get(key) ?? new Set()).add(hold));
        void watch(key, keys, leaseMs);
        return { hold };
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, options)),
      };
    },
  });
}

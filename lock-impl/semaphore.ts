/**
 * A counting semaphore as a plain counter of free permits, without owners and without expiry.
 *
 * It promises that no more permits are out than there are, as long as the server forgets nothing and everybody returns
 * what they took, once. It excludes leases (the one it is given is ignored), fairness, and any recovery: the permit of a
 * client that dies, or whose release does not arrive, is lost for ever, and as permits have no owners one that is
 * returned twice makes one too many.
 *
 * Steps: `granted`, when a permit was taken. A client that dies from there on leaks it.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted } from './attempts.js';
import { defineLock } from './define-lock.js';
import { answerOrRefusal } from './owned-key.js';
import { returnPermit } from './scripts/return-permit.js';
import { takePermit } from './scripts/take-permit.js';

const pause = { minMs: 10, maxMs: 30 };
const PERMITS = 2;

export default defineLock({
  name: 'semaphore',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  model: { kind: 'semaphore', permits: PERMITS },
  lease: 'none',
  deadlines: { permit: 'never' },
  async connect(access) {
    const redis = await access.redis();
    return {
      acquire: (key: string, options: AcquireOptions) =>
        new Semaphore(access, { redis, key, permits: PERMITS }).acquire(options),
    };
  },
});

export interface SemaphoreOptions {
  redis: Redis;
  key: string;
  /** How many may hold at once. All who use `key` must say the same. */
  permits: number;
}

export class Semaphore {
  constructor(
    private readonly access: TopologyAccess,
    private readonly options: SemaphoreOptions,
  ) {}

  acquire(options: Pick<AcquireOptions, 'waitMs' | 'signal'>): Promise<LockHold> {
    return tryUntilGranted(this.access, options, pause, () => this.#attempt());
  }

  async #attempt(): Promise<Attempt> {
    const { redis, key, permits } = this.options;
    const grantSentNs = this.access.nowNs();
    const result = await answerOrRefusal(redis.eval(takePermit, 1, key, permits));
    if ('refusedBecause' in result) return result;
    if (result.answer !== 1) return { refusedBecause: 'held' };
    await this.access.step('granted');
    const release = async () => (await certainOrDoubtful(redis.eval(returnPermit, 1, key))) === 1;
    return { hold: { grantSentNs, release } };
  }
}

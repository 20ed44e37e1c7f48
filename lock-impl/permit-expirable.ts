/**
 * A counting semaphore whose permits expire: a sorted set of permit ids by the time at which they end.
 *
 * It promises that no more permits are out than there are while the server forgets nothing *and all clients' wall clocks
 * agree*, and that the permit of a client that died is free again after its lease. It excludes fairness and renewal.
 *
 * The times are by the clients' own clocks, as they are in the family of locks that this is a model of: a client whose
 * clock is fast by more than a lease takes live permits for expired and hands them out again; one whose clock is slow
 * takes permits that others see expire early. `validForMs` is counted by the monotonic clock, so the holder is not told.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted, validForMs } from './attempts.js';
import { defineLock } from './define-lock.js';
import { answerOf, answerOrRefusal } from './owned-key.js';
import { extendExpirablePermit } from './scripts/extend-expirable-permit.js';
import { takeExpirablePermit } from './scripts/take-expirable-permit.js';

const pause = { minMs: 10, maxMs: 30 };
const PERMITS = 2;

export default defineLock({
  name: 'permit-expirable',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  features: ['extend'],
  model: { kind: 'semaphore', permits: PERMITS },
  deadlines: { permit: 'lease' },
  async connect(access) {
    const redis = await access.redis();
    return {
      acquire: (key: string, options: AcquireOptions) =>
        new ExpirablePermits(access, { redis, key, permits: PERMITS, wallMs: access.wallMs }).acquire(options),
    };
  },
});

export interface ExpirablePermitsOptions {
  redis: Redis;
  key: string;
  /** How many may hold at once. All who use `key` must say the same. */
  permits: number;
  /** The clock that says when permits end, milliseconds since 1970. */
  wallMs: () => number;
}

export class ExpirablePermits {
  constructor(
    private readonly access: TopologyAccess,
    private readonly options: ExpirablePermitsOptions,
  ) {}

  acquire(options: AcquireOptions): Promise<LockHold> {
    return tryUntilGranted(this.access, options, pause, () => this.#attempt(options.leaseMs));
  }

  async #attempt(leaseMs: number): Promise<Attempt> {
    const { access } = this;
    const { redis, key, permits, wallMs } = this.options;
    const id = access.randomValue();
    const sentNs = access.nowNs();
    const result = await answerOrRefusal(redis.eval(takeExpirablePermit, 1, key, permits, id, wallMs(), leaseMs));
    if ('refusedBecause' in result) return result;
    if (result.answer !== 1) return { refusedBecause: 'held' };

    const hold = this.#held(id, sentNs, leaseMs);
    if (hold.validForMs! > 0) return { hold };
    await answerOf(hold.release() as Promise<boolean>);
    return { refusedBecause: 'granted-late' };
  }

  #held(id: string, grantSentNs: number, leaseMs: number): LockHold {
    const { access } = this;
    const { redis, key, wallMs } = this.options;
    return {
      grantSentNs,
      validForMs: validForMs(access, grantSentNs, leaseMs),
      release: async () => (await certainOrDoubtful(redis.zrem(key, id))) === 1,
      async extend(newLeaseMs) {
        const sentNs = access.nowNs();
        const script = redis.eval(extendExpirablePermit, 1, key, id, wallMs(), newLeaseMs);
        return (await certainOrDoubtful(script)) === 1 ? { validForMs: validForMs(access, sentNs, newLeaseMs) } : null;
      },
    };
  }
}

/**
 * A latch that opens when it was counted down to zero. It is not a lock, excludes no client, and is no entry of the registry.
 *
 * It promises that a waiter goes on only after as many count-downs as were asked for, while the server forgets
 * nothing. It excludes owners and expiry: a client that dies before its count-down leaves everybody waiting, and a server
 * that forgets opens the latch, because an open latch is one that is not there.
 *
 * Everything rejects with a refusal when it certainly was not done, with any other error when it cannot tell: then a
 * count-down may have counted, and one that is sent again may count twice.
 */
import type { Redis } from 'ioredis';
import type { TopologyAccess } from '../harness/vocabulary/lock.js';
import { certainOrDoubtful } from './attempts.js';
import { countDown } from './scripts/count-down.js';

const POLL_MS = 10;

export class CountDownLatch {
  constructor(
    private readonly access: TopologyAccess,
    private readonly redis: Redis,
    private readonly key: string,
  ) {}

  /** Closes the latch; false if it is closed already, which leaves its count as it is. */
  async close(count: number): Promise<boolean> {
    if (!Number.isInteger(count) || count < 1) throw new RangeError(`a latch counts from 1 or more, not from ${count}`);
    return (await certainOrDoubtful(this.redis.set(this.key, count, 'NX'))) === 'OK';
  }

  /** The count that is left. */
  async countDown(): Promise<number> {
    return Number(await certainOrDoubtful(this.redis.eval(countDown, 1, this.key)));
  }

  async count(): Promise<number> {
    return Number((await certainOrDoubtful(this.redis.get(this.key))) ?? 0);
  }

  /** True once the latch is open; false when it was not within `waitMs`. Looks at it at least once. */
  async opened(waitMs: number, signal?: AbortSignal): Promise<boolean> {
    const giveUpNs = this.access.nowNs() + waitMs * 1e6;
    for (;;) {
      if ((await this.count()) === 0) return true;
      const leftMs = (giveUpNs - this.access.nowNs()) / 1e6;
      if (leftMs <= 0 || signal?.aborted) return false;
      await this.access.sleep(Math.min(POLL_MS, leftMs), signal);
    }
  }
}

/** SETNX, for the locks that begin with it. */
import type { Redis } from 'ioredis';
import { whyNotDone } from './attempts.js';

/** Resolves with undefined if the key was set, else with why it certainly was not; rejects when it cannot tell. */
export async function setnx(redis: Redis, key: string, value: string): Promise<string | undefined> {
  try {
    return (await redis.setnx(key, value)) === 1 ? undefined : 'held';
  } catch (error) {
    const reason = whyNotDone(error);
    if (reason === undefined) throw error;
    return reason;
  }
}

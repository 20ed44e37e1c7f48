/** The right way to release, for the canaries whose mistake lies elsewhere. */
import type { Redis } from 'ioredis';
import { releaseIfMine } from '../scripts/release-if-mine.js';

export async function releaseByScript(redis: Redis, key: string, owner: string): Promise<boolean> {
  return (await redis.eval(releaseIfMine, 1, key, owner)) === 1;
}

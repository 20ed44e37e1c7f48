/**
 * A janitor that takes every lock for an orphan whose owner it does not know, and it knows those of its own process. The idea
 * (a reaper that deletes live locks) is from mhenrixon/sidekiq-unique-jobs#488.
 *
 * Who waits for a lock sweeps it away from under its holder.
 */
import { releaseByScript } from './release.js';
import { sweptLock } from './swept-lock.js';

export default sweptLock('broken/janitor', async ({ redis, key, mine }) => {
  const owner = await redis.get(key);
  if (owner !== null && !mine.has(owner)) await releaseByScript(redis, key, owner);
});

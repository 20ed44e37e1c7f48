/**
 * Clears its token before the round trip of the release. If that fails, the next try has no token to release with: it says that
 * the lock is not held. The idea is from redis/redis-py#4258.
 *
 * The server keeps the lock, and its watchdog renews it for as long as the process lives.
 */
import { releaseRetried } from './release-retried.js';

export default releaseRetried('broken/token-cleared-first', async (token, giveItBack) => {
  const owner = token.current;
  token.current = undefined;
  return owner !== undefined && giveItBack(owner);
});

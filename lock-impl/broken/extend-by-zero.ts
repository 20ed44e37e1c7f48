/**
 * Extends by the time that its caller gave, which is 0 for "the usual one". Redis takes an expiry of 0 for "now": PEXPIRE
 * deletes the key, and answers 1. The idea is from redis/redis-py#4279.
 *
 * The extension is confirmed, and another client gets in beside the one that was told that it goes on.
 */
import { prolong } from '../owned-key.js';
import { leaseLock } from './lease-lock.js';
import { NO_TIME_GIVEN } from './usual-time.js';

export default leaseLock('broken/extend-by-zero', {
  extend: (mine) => prolong(mine, NO_TIME_GIVEN),
});

/** The twin of `ifeq-any-answer`: what was there must have been its own. */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/ifeq-any-answer-mended', {
  needs: ['DELIFEQ', 'DELEX'],
  extend: async ({ redis, key, owner }, leaseMs) =>
    (await redis.call('SET', key, owner, 'IFEQ', owner, 'GET', 'PX', leaseMs)) === owner,
});

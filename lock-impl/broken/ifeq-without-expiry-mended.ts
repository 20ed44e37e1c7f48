/** The twin of `ifeq-without-expiry`: it gives the expiry again. */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/ifeq-without-expiry-mended', {
  needs: ['DELIFEQ', 'DELEX'],
  extend: async ({ redis, key, owner }, leaseMs) =>
    (await redis.call('SET', key, owner, 'IFEQ', owner, 'PX', leaseMs)) === 'OK',
});

/** The twin of `ifne-extends`: it compares with its own value. */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/ifne-extends-mended', {
  needs: ['DELEX'],
  extend: async ({ redis, key, owner }, leaseMs) =>
    (await redis.call('SET', key, owner, 'IFEQ', owner, 'PX', leaseMs)) === 'OK',
});

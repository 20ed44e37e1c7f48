/**
 * Extends by SET … IFEQ … GET and takes any answer but nil for a yes: so it is without GET. With it the answer is what was there,
 * whether that was equal or not.
 *
 * A holder whose lease ran out is answered with the owner of the next one, takes that for its extension, and works beside it.
 */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/ifeq-any-answer', {
  needs: ['DELIFEQ', 'DELEX'],
  extend: async ({ redis, key, owner }, leaseMs) =>
    (await redis.call('SET', key, owner, 'IFEQ', owner, 'GET', 'PX', leaseMs)) !== null,
});

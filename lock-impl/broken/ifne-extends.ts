/**
 * Extends by SET … IFNE with an empty value: "if there is anything". What is not there is not equal to that either, and what is
 * another's is as good.
 *
 * A holder whose lease ran out extends it over the next holder, or makes it anew where others held meanwhile.
 */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/ifne-extends', {
  needs: ['DELEX'],
  extend: async ({ redis, key, owner }, leaseMs) =>
    (await redis.call('SET', key, owner, 'IFNE', '', 'PX', leaseMs)) === 'OK',
});

/**
 * Extends by SET … IFEQ without PX: "the value stays what it was". SET makes the key anew, and one that is given no expiry has
 * none.
 *
 * From its first extension on the lock of a holder never ends by itself: when the holder dies, it is everybody's last.
 */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/ifeq-without-expiry', {
  needs: ['DELIFEQ', 'DELEX'],
  extend: async ({ redis, key, owner }) => (await redis.call('SET', key, owner, 'IFEQ', owner)) === 'OK',
});

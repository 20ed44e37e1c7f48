/**
 * Stores its owner by way of a serialiser, and compares it without one: the client library serialises the values of SET, but
 * not the arguments of scripts. The idea is from laravel/framework#36337.
 *
 * No release ever finds its own value. Each hold ends with its lease, however soon its work was done.
 */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/serialised-owner', {
  px: leaseInMs,
  stored: JSON.stringify,
  release: releaseByScript,
});

/**
 * Compares before it releases, and does not report the result. Production code drops the script's answer: its `unlock`
 * returns nothing, and logs "released" either way.
 *
 * A holder that outlived its lease gets the answer that all went well. Exclusion is not worse for it. But another client may
 * have held meanwhile, so that the work has to be checked or undone, and that goes unnoticed for ever.
 */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/silent-unlock', {
  px: leaseInMs,
  async release(redis, key, owner) {
    await releaseByScript(redis, key, owner);
    return true;
  },
});

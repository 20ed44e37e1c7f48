/**
 * Compares before it releases, and tells nobody what came of it. Production code drops the script's answer: its `unlock`
 * returns nothing, and logs "released" either way.
 *
 * A holder that outlived its lease is told that all went well. Exclusion is not worse for it; but that somebody else may have
 * held meanwhile, so that the work has to be checked or undone, goes unnoticed for ever.
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

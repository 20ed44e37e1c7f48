/**
 * One owner value for all that a client ever takes. Production code makes it in the constructor (`this.id = uuid()`) instead
 * of at each lock, and shares that object between requests.
 *
 * A client whose lease ran out takes the lock again, and then the `finally` of its first try comes: it finds "its own" value
 * and releases the *second* hold, under which another part of the same process still works. The next client gets in beside it.
 */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/reused-owner', {
  owners(access) {
    const madeOnce = access.randomValue();
    return () => madeOnce;
  },
});

/**
 * A read-write lock in one hash, in which each holder's field expires by itself (HPEXPIRE): readers share it, a writer excludes
 * everybody else. `expiring-fields.ts` says what it promises; it excludes fairness, renewal, and locking again.
 */
import { readWriteOfFields } from './expiring-fields.js';
import { EXPIRES_BY_ITSELF } from './scripts/hash-ttl-take.js';

export default readWriteOfFields('hash-ttl', EXPIRES_BY_ITSELF);

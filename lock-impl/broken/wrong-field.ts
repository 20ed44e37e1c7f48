/**
 * `hash-ttl`, whose script gives the expiry to a field of another name: the number of holders was kept under it once. HPEXPIRE
 * answers -2 for a field that is not there, which is no error, and nobody looks.
 *
 * All goes well until a holder dies: its field stays, and no writer (or nobody, if it wrote) is ever granted the lock again.
 */
import { readWriteOfFields } from '../expiring-fields.js';

export default readWriteOfFields(
  'broken/wrong-field',
  `redis.call('hpexpire', KEYS[1], ARGV[2], 'FIELDS', 1, 'holders')`,
);

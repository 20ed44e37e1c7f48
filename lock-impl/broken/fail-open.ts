/**
 * Takes an error for a grant. Production code does it on purpose ("when Redis is down the work must go on"), and forgets
 * that everybody else does so too. The idea is from simstudioai/sim#6864.
 *
 * While the server is down all who ask are holders at once.
 */
import { take } from '../owned-key.js';
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/fail-open', {
  take: (mine, leaseMs) => take(mine, leaseMs).catch(() => true),
});

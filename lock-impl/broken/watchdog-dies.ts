/**
 * A watchdog that ends with the first renewal that fails. Production code schedules the next renewal where the last one
 * succeeded, so that an exception ends the chain; widely used libraries did so for years.
 *
 * One lost connection, one failover, one time-out is enough: the server is back long before the lease is over, but the
 * renewals have stopped. The lock expires under a holder that does not learn of it, and the next one gets in.
 */
import { prolong } from '../owned-key.js';
import { renewedLock } from './renewed-lock.js';

export default renewedLock('broken/watchdog-dies', {
  renew: prolong,
  afterFailure: 'end',
});

/** The twin of `renews-dead-readers`: a watchdog for each hold, which renews that one until it is released. */
import { keepRenewed } from '../renewal.js';
import { readWriteRenew } from '../scripts/read-write-renew.js';
import { readersLock } from './readers-lock.js';

export default readersLock(
  'broken/renews-dead-readers-mended',
  (access) =>
    (hold, { redis, keys, owner, mode, leaseMs, grantSentNs }) =>
      keepRenewed(access, {
        leaseMs,
        grantSentNs,
        renew: async () => (await redis.eval(readWriteRenew, 2, ...keys, owner, leaseMs, mode)) === 1,
        renewed: (sentNs) => access.renewed(hold, sentNs, leaseMs),
      }),
);

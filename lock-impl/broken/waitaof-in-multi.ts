/**
 * Takes the lock by MULTI, SET NX PX, WAITAOF, EXEC: "so that both happen at once". Within a transaction WAITAOF does not wait: it
 * tells at once what is on disk by then, which is not the SET, and as it came back it is believed to have waited.
 *
 * A server that loses its power comes back without the grants of its last second, and grants them again.
 */
import { leaseLock } from './lease-lock.js';

const PATIENCE_MS = 400;

export default leaseLock('broken/waitaof-in-multi', {
  needs: ['WAITAOF'],
  async take({ redis, key, owner }, leaseMs) {
    const transaction = redis.multi().set(key, owner, 'PX', leaseMs, 'NX').call('WAITAOF', 1, 0, PATIENCE_MS);
    const [taken] = (await transaction.exec()) ?? [];
    if (taken?.[0]) throw taken[0];
    return taken?.[1] === 'OK';
  },
});

/**
 * Takes the answer of SET NX for a yes, whatever it says. Production code awaits the command, and a client that throws for
 * errors only does not throw for the nil of a key that is there already.
 *
 * All clients "hold" at once, and only the first one's value was ever stored: no other release finds its own.
 */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/refusal-ignored', {
  async take({ redis, key, owner }, leaseMs) {
    await redis.set(key, owner, 'PX', leaseMs, 'NX');
    return true;
  },
});

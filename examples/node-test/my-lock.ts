import { defineLock } from 'lock-torture';

const RELEASE = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;

/** A release that deletes only what is its own, in one step. */
export default defineLock({
  name: 'my-lock',
  async connect(topology) {
    const redis = await topology.redis();
    return {
      async acquire(key, { leaseMs }) {
        const owner = topology.randomValue();
        if ((await redis.set(key, owner, 'PX', leaseMs, 'NX')) === null) return null;
        return { release: async () => (await redis.eval(RELEASE, 1, key, owner)) === 1 };
      },
    };
  },
});

import { defineLock } from 'lock-torture';

/** A release that deletes whatever is there: after its lease, the lock of somebody else. */
export default defineLock({
  name: 'blind-delete',
  async connect(topology) {
    const redis = await topology.redis();
    return {
      async acquire(key, { leaseMs }) {
        const granted = await redis.set(key, topology.randomValue(), 'PX', leaseMs, 'NX');
        if (granted === null) return null;
        return {
          release: async () => {
            await redis.del(key);
          },
        };
      },
    };
  },
});

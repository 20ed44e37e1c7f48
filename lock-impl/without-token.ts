/** A lock as it is, but for its fencing tokens: what it promises to those who have nothing that checks them. */
import type { LockDefinition } from '../harness/vocabulary/lock.js';

export function withoutToken(lock: LockDefinition, name: string): LockDefinition {
  const { model: _model, features = [], ...rest } = lock;
  return {
    ...rest,
    name,
    features: features.filter((feature) => feature !== 'fencing'),
    async connect(access) {
      const client = await lock.connect(access);
      return {
        ...client,
        async acquire(key, options) {
          const hold = await client.acquire(key, options);
          if (hold) delete hold.token;
          return hold;
        },
      };
    },
  };
}

/** `set-nx-px` over Redis' own client for Node (npm `redis`, version 5 or 6) in place of ioredis. What it promises is the same. */
import type { NodeRedis } from '../harness/vocabulary/node-redis.js';
import { ONE_SERVER } from './builtin-lock.js';
import { defineLock } from './define-lock.js';
import type { OwnedKeyCommands } from './owned-key.js';
import { extendIfMine } from './scripts/extend-if-mine.js';
import { releaseIfMine } from './scripts/release-if-mine.js';
import { leasesBy } from './set-nx-px.js';

const byNodeRedis: OwnedKeyCommands<NodeRedis> = {
  async take({ redis, key, owner }, leaseMs) {
    return (await redis.set(key, owner, { PX: leaseMs, NX: true })) === 'OK';
  },
  async giveBack({ redis, key, owner }) {
    return (await redis.eval(releaseIfMine, { keys: [key], arguments: [owner] })) === 1;
  },
  async prolong({ redis, key, owner }, leaseMs) {
    return (await redis.eval(extendIfMine, { keys: [key], arguments: [owner, String(leaseMs)] })) === 1;
  },
};

export default defineLock({
  name: 'set-nx-px-node-redis',
  topologies: ONE_SERVER,
  features: ['extend'],
  async connect(access) {
    return leasesBy(access, await access.nodeRedis(), byNodeRedis);
  },
});

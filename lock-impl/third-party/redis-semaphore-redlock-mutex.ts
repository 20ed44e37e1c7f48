/** `RedlockMutex` of npm `redis-semaphore`. It waits for every node, with no time-out of its own, and never looks at the lease. */
import { INDEPENDENT_NODES } from '../builtin-lock.js';
import { redisSemaphore } from './redis-semaphore.js';

export default redisSemaphore({
  name: 'third-party/redis-semaphore-redlock-mutex',
  topologies: INDEPENDENT_NODES,
  keys: ['mutex:{key}'],
  classOf: ({ RedlockMutex }) => RedlockMutex,
  whatToLock: (clients, key) => [clients, key],
});

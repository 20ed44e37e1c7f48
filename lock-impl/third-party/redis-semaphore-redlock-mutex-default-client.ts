/** The same `RedlockMutex`, over clients with ioredis's own settings: one node that hangs keeps every refresh waiting. */
import { redisSemaphore } from './redis-semaphore.js';

export default redisSemaphore({
  name: 'third-party/redis-semaphore-redlock-mutex-default-client',
  topologies: ['redlock'],
  clients: 'defaults',
  keys: ['mutex:{key}'],
  classOf: ({ RedlockMutex }) => RedlockMutex,
  whatToLock: (clients, key) => [clients, key],
});

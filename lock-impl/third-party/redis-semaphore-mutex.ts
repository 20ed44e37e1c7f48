/** `Mutex` of npm `redis-semaphore`: one server. */
import { redisSemaphore } from './redis-semaphore.js';

export default redisSemaphore({
  name: 'third-party/redis-semaphore-mutex',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  keys: ['mutex:{key}'],
  classOf: ({ Mutex }) => Mutex,
  whatToLock: ([client], key) => [client, key],
});

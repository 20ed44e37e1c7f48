/** `Semaphore` of npm `redis-semaphore`, with two permits: one server, and permits that end by the clients' wall clocks. */
import { redisSemaphore } from './redis-semaphore.js';

const PERMITS = 2;

export default redisSemaphore({
  name: 'third-party/redis-semaphore-semaphore',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  model: { kind: 'semaphore', permits: PERMITS },
  deadlines: { permit: 'lease' },
  keys: ['semaphore:{key}'],
  classOf: ({ Semaphore }) => Semaphore,
  whatToLock: ([client], key) => [client, key, PERMITS],
});

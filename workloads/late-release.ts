/**
 * The `finally` of a task that took too long: a client stops working when its lease runs out, takes the lock again for its
 * next task, and only then the release of the first one comes. It must not free what the second one holds.
 */
import type { Workload } from '../harness/vocabulary/workload.js';
import { outlive, release, turns, work } from './turns.js';

/** How many of ten holds outlive their lease. */
const LATE_IN_TEN = 5;
/** How long a task works, in parts of the lease. */
const TASK = 0.3;

export const lateRelease: Workload = {
  name: 'late-release',
  summary: 'clients release a hold that ran out when they hold the lock again for their next task',
  model: { kind: 'mutex' },
  defaults: { nemesis: 'none', clients: 4, leaseMs: 500, keys: 2, waitMs: 1_000, hold: { min: TASK, max: TASK } },
  script: (options, random, lock) =>
    turns(options, random, function* (first, _, { key }) {
      const taskMs = options.leaseMs * TASK;
      yield* work(options, first, taskMs);
      if (random.int(1, 10) > LATE_IN_TEN) return yield* release(first);
      yield* outlive(options, lock, first, taskMs, key, taskMs);
    }),
};

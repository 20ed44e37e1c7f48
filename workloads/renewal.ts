/** Work that is longer than the lease: the lock is extended meanwhile, by its own watchdog or by the client. */
import type { Workload } from '../harness/vocabulary/workload.js';
import { longHolds } from './hold-times.js';
import { release, turns, workOn } from './turns.js';

export const renewal: Workload = {
  name: 'renewal',
  summary: 'clients work for longer than the lease, under a lock that is renewed by itself or that they extend',
  model: { kind: 'mutex' },
  needs: ['renews', 'extend'],
  defaults: { lock: 'watchdog', nemesis: 'pause:holder,partition:client', leaseMs: 2_000, hold: { min: 0.5, max: 3 } },
  script: (options, random, lock) =>
    turns(options, random, function* (granted) {
      const { min, max } = longHolds(options.hold);
      const workMs = options.leaseMs * (min + random.float() * (max - min));
      yield* workOn(options, granted, workMs, lock, granted);
      yield* release(granted);
    }),
};

/** Clients wait for a key that others hold, and give up at any moment: before the lock is theirs, as it becomes theirs, after. */
import type { Workload } from '../harness/vocabulary/workload.js';
import { release, turns, work } from './turns.js';

const LONGEST_PATIENCE_MS = 120;

export const cancel: Workload = {
  name: 'cancel',
  summary: 'clients wait for one key, and most give up soon: what is granted to nobody is to be given back',
  model: { kind: 'mutex' },
  needs: ['cancel'],
  defaults: { keys: 1, waitMs: 1_000, hold: { min: 0.002, max: 0.02 } },
  script: (options, random) =>
    turns(
      options,
      random,
      function* (granted, workMs) {
        yield* work(options, granted, workMs());
        yield* release(granted);
      },
      // Most within the time of a command or two, when a grant may be on its way.
      (keys) => ({
        key: random.pick(keys),
        cancelAfterMs: random.pick([random.float() * 3, random.float() * 10, random.int(1, LONGEST_PATIENCE_MS)]),
      }),
    ),
};

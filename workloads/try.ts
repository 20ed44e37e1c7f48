/** Many clients try for one key with time-outs of every length, none of them long: most are refused. */
import type { Workload } from '../harness/vocabulary/workload.js';
import { release, turns, work } from './turns.js';

const LONGEST_WAIT_MS = 300;

export const tries: Workload = {
  name: 'try',
  summary: 'clients try for one key, at once or with a short time-out, and are mostly refused',
  model: { kind: 'mutex' },
  defaults: { keys: 1, hold: { min: 0.005, max: 0.1 } },
  script: (options, random) =>
    turns(
      options,
      random,
      function* (granted, workMs) {
        yield* work(options, granted, workMs());
        yield* release(granted);
      },
      (keys) => ({ key: random.pick(keys), waitMs: random.pick([0, random.int(1, LONGEST_WAIT_MS)]) }),
    ),
};

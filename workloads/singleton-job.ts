/**
 * One node runs the job: who gets the lock is the leader, works for as long as it can keep it, and writes its progress down
 * now and then. The others look again and again whether the place is free.
 */
import type { Completion } from '../harness/vocabulary/history.js';
import type { Workload } from '../harness/vocabulary/workload.js';
import { longHolds } from './hold-times.js';
import { extend, type Granted, release, type ScriptPart, turns, workOn } from './turns.js';

/** How often a leader writes, in parts of the lease. */
const WRITES_EVERY = 0.25;

export const singletonJob: Workload = {
  name: 'singleton-job',
  summary: 'the holder of the lock is the leader, keeps it for long, and writes its progress to a resource',
  habit: 'writes',
  model: { kind: 'mutex' },
  needs: ['renews', 'extend'],
  resource: true,
  defaults: {
    lock: 'watchdog',
    nemesis: 'kill:holder,pause:holder',
    keys: 2,
    leaseMs: 2_000,
    waitMs: 0,
    hold: { min: 0.5, max: 2 },
  },
  script: (options, random, lock) =>
    turns(options, random, function* (granted) {
      const { leaseMs } = options;
      const { min, max } = longHolds(options.hold);
      let promise: Completion = granted;
      let leftMs = leaseMs * (min + random.float() * (max - min));
      for (let leader = true; leader && leftMs > 0; leftMs -= leaseMs * WRITES_EVERY) {
        leader = yield* workOn(options, granted, leaseMs * WRITES_EVERY, lock, promise);
        if (leader) leader = yield* writeProgress(granted);
        if (!leader || lock.features.includes('renews')) continue;
        const extended = yield* extend(options, granted, lock, promise);
        if (extended.type === 'ok') promise = extended;
        else leader = options.careless;
      }
      yield* release(granted);
    }),
};

function* writeProgress({ id }: Granted): ScriptPart<boolean> {
  const read = yield { do: 'read', hold: id };
  if (read.type !== 'ok') return false;
  return (yield { do: 'write', hold: id, value: read.value! + 1 }).type === 'ok';
}

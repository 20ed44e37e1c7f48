/** Work that is longer than the lease: the lock is extended meanwhile, by its own watchdog or by the client. */
import type { Completion } from '../harness/vocabulary/history.js';
import type { HandshakeValue } from '../harness/vocabulary/protocol.js';
import type { Workload, WorkloadOptions } from '../harness/vocabulary/workload.js';
import { longHolds } from './hold-times.js';
import { type Granted, release, type ScriptPart, stillPromisedMs, turns } from './turns.js';

/** When a client extends, in parts of the lease: what is not answered can be tried once more. */
const EXTEND_AFTER = 1 / 3;

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

/**
 * Works for `ms`, extending where the lock does not by itself; careful clients stop as soon as they know that it is lost, and
 * extend sooner, or stop, where the lock promised less than it was asked for. `promise`: what it said last.
 */
export function* workOn(
  options: Pick<WorkloadOptions, 'leaseMs' | 'careless' | 'nowMs'>,
  { id }: Granted,
  ms: number,
  { features }: Pick<HandshakeValue, 'features'>,
  promise: Completion,
): ScriptPart<boolean> {
  const { leaseMs, careless } = options;
  const untilLost = careless ? {} : { untilLost: id };
  const byItself = features.includes('renews');
  let said = promise;
  for (let leftMs = ms; leftMs > 0; ) {
    const promisedMs = careless || byItself ? Number.POSITIVE_INFINITY : stillPromisedMs(options, said);
    if (promisedMs === 0) return false;
    const workMs = Math.min(leftMs, byItself ? ms : leaseMs * EXTEND_AFTER, promisedMs);
    const woke = yield { do: 'idle', ms: workMs, ...untilLost };
    if (woke.type === 'woke' && woke.lost) return false;
    leftMs -= workMs;
    if (leftMs <= 0) return true;
    const extended = yield { do: 'extend', hold: id, leaseMs };
    if (extended.type === 'ok') said = extended;
    else if (!careless) return false;
  }
  return true;
}

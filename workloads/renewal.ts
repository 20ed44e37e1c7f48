/** Work that is longer than the lease: the lock is extended meanwhile, by its own watchdog or by the client. */
import type { HandshakeValue } from '../harness/vocabulary/protocol.js';
import type { Workload, WorkloadOptions } from '../harness/vocabulary/workload.js';
import { longHolds } from './hold-times.js';
import { type Granted, release, type ScriptPart, turns } from './turns.js';

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
      yield* workOn(options, granted, workMs, lock);
      yield* release(granted);
    }),
};

/** Works for `ms`, extending where the lock does not by itself; careful clients stop as soon as they know it is lost. */
export function* workOn(
  options: Pick<WorkloadOptions, 'leaseMs' | 'careless'>,
  { id }: Granted,
  ms: number,
  { features }: Pick<HandshakeValue, 'features'>,
): ScriptPart<boolean> {
  const { leaseMs, careless } = options;
  const untilLost = careless ? {} : { untilLost: id };
  const everyMs = features.includes('renews') ? ms : leaseMs * EXTEND_AFTER;
  for (let leftMs = ms; leftMs > 0; leftMs -= everyMs) {
    const woke = yield { do: 'idle', ms: Math.min(leftMs, everyMs), ...untilLost };
    if (woke.type === 'woke' && woke.lost) return false;
    if (leftMs <= everyMs) return true;
    const extended = yield { do: 'extend', hold: id, leaseMs };
    if (extended.type !== 'ok' && !careless) return false;
  }
  return true;
}

/** Contended mutual exclusion: every client takes one of a few keys, works under it for a while, lets it go, and again. */
import type { HandshakeValue } from '../harness/vocabulary/protocol.js';
import type { Random } from '../harness/vocabulary/time.js';
import type { ClientScript, Workload, WorkloadOptions } from '../harness/vocabulary/workload.js';
import { isMutex, underHabit } from './habits.js';
import { openRun, turns } from './turns.js';

export const mutex: Workload = {
  name: 'mutex',
  summary: 'clients contend for a few keys and work under the lock for a part of the lease',
  model: { kind: 'mutex' },
  opens: true,
  script: contend,
};

/** Also what other workloads do with another lock, or under other faults. */
export function* contend(options: WorkloadOptions, random: Random, lock: HandshakeValue): ClientScript {
  yield* openRun(options, lock);
  const canBeCancelled = isMutex(lock) && lock.features.includes('cancel');
  yield* turns(options, random, underHabit(options, random, lock), (keys, times) => {
    const key = random.pick(keys);
    const cancelAfterMs = canBeCancelled ? times.cancelAfterMs(key) : undefined;
    return { key, ...(cancelAfterMs !== undefined && { cancelAfterMs }) };
  });
}

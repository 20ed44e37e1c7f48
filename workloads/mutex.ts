/**
 * Contended mutual exclusion: every client takes one of a few keys, works under it for a while, lets it go, and again.
 *
 * Half of the holds are short, so that the lock changes hands often; the other half may be as long as `hold` allows, so
 * that there is something to lose when a primary dies.
 */
import type { ClientScript, Random, Workload, WorkloadOptions } from '../harness/api.js';

/** A careful client ends its work when this much of what the lock promised is left: the way back takes time too. */
const VALIDITY_LEFT = 0.2;
/** After a refusal or a release, so that others get their turn. */
const PAUSE_MS = { min: 1, max: 40 };

export const mutex: Workload = {
  name: 'mutex',
  summary: 'clients contend for a few keys and work under the lock for a part of the lease',
  checkers: [
    'mutual-exclusion',
    'ownership',
    'liveness',
    'waiting',
    'vacuity',
    'availability',
    'latency',
    'loss-to-notice',
  ],
  model: { kind: 'mutex' },
  script: contend,
};

function* contend(options: WorkloadOptions, random: Random): ClientScript {
  for (;;) {
    const key = random.pick(options.keys);
    const granted = yield { do: 'acquire', key, leaseMs: options.leaseMs, waitMs: options.waitMs };
    if (granted.type === 'ok') {
      const workMs = holdMs(options, random);
      const promisedMs = granted.validForMs ?? options.leaseMs;
      const allowedMs = options.careless ? workMs : Math.min(workMs, promisedMs * (1 - VALIDITY_LEFT));
      yield { do: 'idle', ms: Math.max(0, allowedMs), ...(options.careless ? {} : { untilLost: granted.id }) };
      yield { do: 'release', hold: granted.id };
    }
    yield { do: 'idle', ms: random.int(PAUSE_MS.min, PAUSE_MS.max) };
  }
}

function holdMs({ hold, leaseMs }: WorkloadOptions, random: Random): number {
  const short = random.float() < 0.5;
  const span = (hold.max - hold.min) * (short ? 0.1 : 1);
  return leaseMs * (hold.min + random.float() * span);
}

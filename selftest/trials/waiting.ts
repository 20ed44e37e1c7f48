/** Trials of canaries whose mistake lies with those who wait. */
import type { Trial } from '../trial.js';
import { atWork, calm, planFile } from './parts.js';

export const waitingTrials: readonly Trial[] = [
  {
    canary: 'lost-wake-up',
    flags: ['--keys', '1', '--lease', '1s', '--wait', '10s', ...atWork, ...planFile('a-holder-dies')],
    limitMs: 15_000,
    quickMs: 15_000,
    caught: { checker: 'waiting', class: 'liveness', kind: 'slept' },
    story: 'a holder dies, its lease ends, and all others sleep beside the free lock',
  },
  {
    canary: 'queue-jumper',
    flags: ['--workload', 'fair', '--clients', '12', '--hold', '0.001x..0.01x', ...calm],
    limitMs: 30_000,
    quickMs: 10_000,
    caught: { checker: 'fifo', class: 'liveness' },
    story: 'a newcomer takes the lock in the moment between a release and the one who is next',
  },
  {
    canary: 'overstayed-try',
    flags: ['--workload', 'try', ...calm],
    limitMs: 20_000,
    quickMs: 8_000,
    caught: { checker: 'overstayed', class: 'liveness', kind: 'overstayed', cause: 'went-on-trying' },
    story: 'a client that asked not to wait is answered three seconds later',
  },
  {
    canary: 'abandoned-ticket',
    flags: calm,
    limitMs: 20_000,
    quickMs: 8_000,
    caught: { checker: 'liveness', class: 'liveness', kind: 'deadlock', cause: 'queue-head-gone' },
    story: 'a client gives up, and its ticket comes to the head of the queue',
  },
  {
    canary: 'first-try-clock',
    flags: ['--keys', '1', '--lease', '1s', '--wait', '10s', ...planFile('a-holder-dies')],
    limitMs: 15000,
    caught: { checker: 'waiting', class: 'liveness', kind: 'slept' },
    needs: 'left-free-for-a-lease',
    story: 'a holder dies, its lease ends, and who had waited for it asks no more',
  },
  {
    canary: 'waiter-dropped',
    flags: ['--workload', 'fair', ...calm],
    limitMs: 20000,
    quickMs: 8000,
    caught: { checker: 'fifo', class: 'liveness' },
    story: 'a client that waits for its turn is taken for dead, and overtaken',
  },
];

/** Trials of canaries whose mistake lies with how a lock is let go. */
import type { Trial } from '../trial.js';
import { calm, overlap, overrun } from './parts.js';

export const lettingGoTrials: readonly Trial[] = [
  {
    canary: 'blind-del',
    flags: [...overrun, ...calm],
    limitMs: 20_000,
    quickMs: 8_000,
    caught: overlap,
    story: 'a client that worked for longer than its lease deletes the lock of the next, and a third one gets in',
  },
  {
    canary: 'reused-owner',
    flags: ['--workload', 'late-release'],
    limitMs: 25_000,
    quickMs: 10_000,
    caught: overlap,
    story: 'the release of a hold that ran out frees the next one of the same client',
  },
  {
    canary: 'swapped-arguments',
    flags: ['--lease', '1s', ...calm],
    limitMs: 6_000,
    quickMs: 4_000,
    caught: { checker: 'liveness', class: 'liveness', kind: 'deadlock' },
    story: 'what was unlocked is renewed for ever',
  },
  {
    canary: 'silent-unlock',
    flags: [...overrun, ...calm],
    limitMs: 20_000,
    quickMs: 8_000,
    caught: { checker: 'ownership', class: 'stale', kind: 'silent-release' },
    story: 'the release of a client that worked for longer than its lease answers that it worked',
  },
];

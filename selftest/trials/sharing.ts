/** Trials of canaries whose mistake lies with read-write locks, permits and fencing tokens. */
import type { Trial } from '../trial.js';
import { calm, overlap } from './parts.js';

export const sharingTrials: readonly Trial[] = [
  {
    canary: 'upgrade-beside-readers',
    flags: ['--workload', 'read-write', ...calm],
    limitMs: 20_000,
    quickMs: 8_000,
    caught: overlap,
    story: 'a reader becomes a writer while others read',
  },
  {
    canary: 'fence-per-client',
    flags: ['--workload', 'fenced-resource', '--lease', '1s', ...calm],
    limitMs: 20_000,
    quickMs: 6_000,
    caught: { checker: 'fencing', class: 'harm' },
    story: 'a later grant has a lower token',
  },
  {
    canary: 'token-before-wait',
    flags: ['--workload', 'fenced-resource', ...calm],
    limitMs: 20_000,
    quickMs: 8_000,
    caught: { checker: 'fencing', class: 'harm', kind: 'fence-inversion', cause: 'token-drawn-early' },
    story: 'a client that drew its token first is granted after one that drew later',
  },
  {
    canary: 'permit-returned-twice',
    flags: ['--workload', 'semaphore', '--lease', '1s', ...calm],
    limitMs: 20_000,
    quickMs: 8_000,
    caught: overlap,
    story: 'a permit comes back from its holder and once more from a timer',
  },
];

/** Trials of canaries whose mistake lies with how a lease is renewed or extended. */
import type { Trial } from '../trial.js';
import { planFile, revived, stale } from './parts.js';

/** Holders sleep for longer than their lease in the midst of long work, and renew when they wake. */
const renewedLate = {
  flags: [
    '--workload',
    'renewal',
    '--careless',
    '--lease',
    '1s',
    '--hold',
    '5x..8x',
    '--keys',
    '2',
    '--wait',
    '3s',
    ...planFile('holders-paused'),
  ],
  limitMs: 25_000,
  quickMs: 25_000,
  caught: revived,
};

export const renewingTrials: readonly Trial[] = [
  {
    canary: 'renewal-unchecked',
    ...renewedLate,
    story: 'a client that slept for longer than its lease renews the lock of the next',
  },
  {
    canary: 'renewal-recreates',
    flags: [
      '--clients',
      '2',
      '--keys',
      '1',
      '--lease',
      '500ms',
      '--wait',
      '0ms',
      '--careless',
      '--hold',
      '5x..12x',
      ...planFile('a-holder-sleeps-the-next-dies'),
    ],
    limitMs: 26_000,
    quickMs: 26_000,
    caught: revived,
    story: 'a client that slept for longer than its lease makes the key again, although others held meanwhile',
  },
  {
    canary: 'watchdog-dies',
    flags: [
      '--clients',
      '12',
      '--keys',
      '6',
      '--lease',
      '3s',
      '--careless',
      '--hold',
      '2.5x..3x',
      '--wait',
      '2s',
      ...planFile('clients-cut-off-for-a-moment'),
    ],
    limitMs: 60_000,
    quickMs: 20_000,
    caught: stale,
    story: 'one renewal fails while the client is cut off for a moment, and no other follows',
  },
  {
    canary: 'extend-expired',
    ...renewedLate,
    story: 'a client that slept for longer than its lease extends it over the next holder',
  },
];

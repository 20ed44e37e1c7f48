/** Trials of canaries whose mistake lies with how a lock is let go. */
import type { Trial } from '../trial.js';
import { calm, overlap, overrun, planFile } from './parts.js';

export const lettingGoTrials: readonly Trial[] = [
  {
    canary: 'blind-del',
    flags: [...overrun, ...calm],
    limitMs: 20_000,
    quickMs: 8_000,
    caught: overlap,
    needs: 'held-beside-the-next',
    story: 'a client that worked for longer than its lease deletes the lock of the next, and a third one gets in',
  },
  {
    canary: 'resent-del',
    flags: ['--topology', 'single', '--nemesis', 'reset-on-reply'],
    limitMs: 20_000,
    caught: { ...overlap, cause: 'released-by-other' },
    story:
      'the answer to a DEL is lost with its connection, and the DEL that is sent again deletes the lock of the next',
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
    needs: 'held-beside-the-next',
    story: 'the release of a client that worked for longer than its lease answers that it worked',
  },
  {
    canary: 'deleted-until-gone',
    flags: ['--clients', '12', '--keys', '1', '--hold', '0.001x..0.01x', ...calm],
    limitMs: 20000,
    quickMs: 10000,
    caught: { ...overlap, cause: 'released-by-other' },
    story: 'a client that has released deletes the lock of the next',
  },
  {
    canary: 'serialised-owner',
    flags: ['--lease', '2s', ...calm],
    limitMs: 15000,
    quickMs: 6000,
    caught: { checker: 'left-behind', class: 'liveness', kind: 'left-behind' },
    story: 'what was released is still there',
  },
  {
    canary: 'token-cleared-first',
    flags: [
      '--persistence',
      'aof-always',
      // On a busy machine the server is away for two seconds; it must be back before the last renewal's lease is over.
      '--lease',
      '5s',
      '--hold',
      '0.04x..0.12x',
      ...planFile('the-server-restarts-again-and-again'),
    ],
    limitMs: 10000,
    caught: { checker: 'liveness', class: 'liveness', kind: 'deadlock' },
    needs: 'release-failed-for-a-moment',
    story: 'a release fails while the server restarts, and the lock is renewed for ever',
  },
  {
    canary: 'janitor',
    flags: ['--keys', '1', ...calm],
    limitMs: 15000,
    quickMs: 6000,
    caught: { ...overlap, cause: 'released-by-other' },
    story: 'a client that waits removes the lock of the holder',
  },
  {
    canary: 'part-kept',
    flags: calm,
    limitMs: 15_000,
    quickMs: 6_000,
    caught: { checker: 'left-behind', class: 'liveness', kind: 'left-behind' },
    story: 'a try that got one of two keys keeps it',
  },
];

/** Trials of canaries whose mistake lies with read-write locks, permits and fencing tokens. */
import type { Trial } from '../trial.js';
import { calm, overlap, planFile } from './parts.js';

export const sharingTrials: readonly Trial[] = [
  {
    canary: 'upgrade-beside-readers',
    flags: ['--workload', 'read-write', ...calm],
    limitMs: 20_000,
    quickMs: 8_000,
    caught: { ...overlap, cause: 'granted-beside' },
    story: 'a reader becomes a writer while others read',
  },
  {
    canary: 'downgrade-drops-readers',
    // Among many readers hardly anybody writes.
    flags: ['--workload', 'read-write', '--clients', '3', '--keys', '1', ...calm],
    limitMs: 20_000,
    quickMs: 8_000,
    caught: { ...overlap, cause: 'released-by-itself' },
    story: 'a writer stops writing and reads on, and another one writes',
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
  {
    canary: 'renews-dead-readers',
    flags: ['--workload', 'read-write', '--keys', '1', '--lease', '2s', ...planFile('a-holder-dies')],
    limitMs: 6000,
    caught: { checker: 'liveness', class: 'liveness', kind: 'deadlock' },
    story: 'a holder dies, and the others renew its hold for ever',
  },
  {
    canary: 'short-reader-shortens',
    // Half of the work is done under a hold that is not nested, and must outlast the short lease, a quarter of the whole.
    flags: ['--workload', 'read-write', '--keys', '1', '--lease', '2s', '--hold', '0.8x..1.5x', ...calm],
    limitMs: 20000,
    quickMs: 8000,
    caught: overlap,
    story: 'a reader with a short lease ends that of all readers',
  },
  {
    canary: 'first-reader-expires',
    flags: ['--workload', 'read-write', '--lease', '2s', '--hold', '0.3x..0.7x', ...calm],
    limitMs: 20000,
    quickMs: 8000,
    caught: overlap,
    story: 'the number of readers expires with the lease of the first',
  },
  {
    canary: 'latch-expires',
    flags: ['--workload', 'latch', '--lease', '2s', '--hold', '0.01x..0.1x', ...calm],
    limitMs: 12000,
    quickMs: 6000,
    caught: { checker: 'latch', class: 'exclusion', kind: 'passed-early' },
    story: 'a counter is still at work when the count expires, and the others pass',
  },
  {
    canary: 'return-sent-again',
    // Holders are struck, which hold for long enough to be met while they do: the next answer to one is that to its return. Of a
    // grant whose answer is lost the permit is gone for ever, and a key that loses two shows nothing any more.
    flags: [
      ...['--workload', 'semaphore', '--clients', '12', '--keys', '4', '--hold', '0.05x..0.15x'],
      ...planFile('returns-are-reset'),
    ],
    limitMs: 15000,
    caught: overlap,
    story: 'a permit is returned, the answer is lost, and it is returned again',
  },
  {
    canary: 'permits-expire-together',
    flags: ['--workload', 'semaphore', '--lease', '1s', '--hold', '0.3x..0.7x', ...calm],
    limitMs: 15000,
    quickMs: 6000,
    caught: overlap,
    story: 'the number of permits that are out expires while some are',
  },
  {
    canary: 'wrong-field',
    // Long holds: of those that last for milliseconds the one that dies may have been given back.
    flags: [
      '--workload',
      'read-write',
      '--keys',
      '1',
      '--lease',
      '2s',
      '--hold',
      '0.3x..0.7x',
      ...planFile('a-holder-dies'),
    ],
    limitMs: 6_000,
    caught: { checker: 'liveness', class: 'liveness', kind: 'deadlock' },
    story: 'a holder dies, and its field never expires',
  },
];

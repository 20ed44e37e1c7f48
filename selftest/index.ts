/** The self-test: every canary with the torture that shows its mistake, and sound locks under faults that they must survive. */
import type { SoundRun, Trial } from './trial.js';

export type { Detection, SoundRun, Trial, Untold } from './trial.js';

const plan = (name: string) => ['--plan', `selftest/plans/${name}.json`];
const calm = ['--nemesis', 'none'];
/** Work that outlives the lease now and then. */
const overrun = ['--careless', '--hold', '0.5x..1.5x', '--lease', '1s'];

const overlap = { checker: 'mutual-exclusion', class: 'exclusion' } as const;
const stale = { checker: 'mutual-exclusion', class: 'stale' } as const;
const grantedLate = { ...stale, cause: 'granted-late' } as const;
const revived = { checker: 'ownership', class: 'exclusion', kind: 'revived' } as const;
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
    ...plan('holders-paused'),
  ],
  limitMs: 25_000,
  quickMs: 25_000,
  caught: revived,
};

export const trials: readonly Trial[] = [
  {
    canary: 'blind-del',
    flags: [...overrun, ...calm],
    limitMs: 20_000,
    quickMs: 8_000,
    caught: overlap,
    story: 'a client that worked for longer than its lease deletes the lock of the next, and a third one gets in',
  },
  {
    canary: 'lease-in-seconds',
    flags: ['--lease', '2s', ...calm],
    limitMs: 20_000,
    quickMs: 6_000,
    caught: overlap,
    story: 'the lock ends long before the work under it',
  },
  {
    canary: 'half-quorum',
    flags: [
      '--topology',
      'redlock',
      '--nodes',
      '4',
      '--clients',
      '8',
      '--keys',
      '1',
      '--hold',
      '0.001x..0.01x',
      ...calm,
    ],
    limitMs: 20_000,
    quickMs: 8_000,
    caught: overlap,
    story: 'two clients that start at once get two of four nodes each',
  },
  {
    canary: 'shared-owner',
    flags: ['--lease', '2s', ...calm],
    limitMs: 20_000,
    quickMs: 6_000,
    caught: overlap,
    story: 'everybody finds their own owner id in the lock',
  },
  {
    canary: 'no-validity-check',
    flags: ['--topology', 'redlock', '--keys', '2', '--lease', '300ms', ...plan('slow-node')],
    limitMs: 25_000,
    quickMs: 10_000,
    caught: grantedLate,
    story: 'a node that answers late makes a majority come together when its lease is over',
  },
  {
    canary: 'wall-clock-validity',
    flags: ['--topology', 'redlock', '--keys', '1', '--lease', '300ms', ...plan('slow-node-clocks-back')],
    limitMs: 25_000,
    quickMs: 10_000,
    caught: grantedLate,
    story: 'the clock of the client is set back while it asks the nodes, and it takes what came too late for good',
  },
  {
    canary: 'release-where-acquired',
    flags: ['--topology', 'redlock', '--workload', 'try', '--hold', '0.001x..0.02x', ...plan('slow-node')],
    limitMs: 20_000,
    quickMs: 10_000,
    caught: { checker: 'left-behind', class: 'liveness', kind: 'left-behind' },
    story: 'a node that answers late keeps what a failed try asked it for',
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
      ...plan('a-holder-sleeps-the-next-dies'),
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
      ...plan('clients-cut-off-for-a-moment'),
    ],
    limitMs: 60_000,
    quickMs: 20_000,
    caught: stale,
    story: 'one renewal fails while the client is cut off for a moment, and no other follows',
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
    canary: 'negative-expiry',
    flags: ['--lease', '1s', ...calm],
    limitMs: 20_000,
    quickMs: 6_000,
    caught: overlap,
    story: 'the key is gone as soon as it is set',
  },
  {
    canary: 'count-not-reset',
    flags: ['--clients', '4', '--keys', '1', ...overrun, ...calm],
    limitMs: 20_000,
    quickMs: 12_000,
    caught: overlap,
    story: 'a client whose lease ran out believes to hold still, and nests its next lock in it',
  },
  {
    canary: 'lost-wake-up',
    flags: ['--keys', '1', '--lease', '1s', '--wait', '10s', ...plan('a-holder-dies')],
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
    caught: { checker: 'fencing', class: 'harm', kind: 'fence-inversion' },
    story: 'a client that drew its token first is granted after one that drew later',
  },
  {
    canary: 'refusal-ignored',
    flags: calm,
    limitMs: 20_000,
    quickMs: 6_000,
    caught: overlap,
    story: 'a client is refused, and takes the answer for a yes',
  },
  {
    canary: 'wall-clock-stamps',
    flags: calm,
    limitMs: 8_000,
    quickMs: 4_000,
    caught: { verdict: 'unknown', counted: 'answersLost' },
    story: 'every grant is said to have left decades from now, so that what its client held is unknown',
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
    caught: { checker: 'liveness', class: 'liveness', kind: 'deadlock' },
    story: 'a client gives up, and its ticket comes to the head of the queue',
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
    canary: 'extend-expired',
    ...renewedLate,
    story: 'a client that slept for longer than its lease extends it over the next holder',
  },
  {
    canary: 'silent-unlock',
    flags: [...overrun, ...calm],
    limitMs: 20_000,
    quickMs: 8_000,
    caught: { checker: 'ownership', class: 'stale', kind: 'silent-release' },
    story: 'the release of a client that worked for longer than its lease answers that it worked',
  },
  {
    canary: 'one-acknowledgement',
    flags: [
      '--topology',
      'sentinel',
      '--clients',
      '5',
      '--lease',
      '15s',
      '--hold',
      '0.65x..0.69x',
      ...plan('the-replica-that-lags-is-promoted'),
    ],
    limitMs: 32_000,
    quickMs: 32_000,
    caught: { ...overlap, cause: 'failover-lost-write' },
    story: 'one replica acknowledges, and the other one is promoted',
  },
];

const onOne = ['--topology', 'single'];
const careful = 'careful clients, and no server forgets anything';

/** Faults that no lock with a lease may break under. */
const survivable: readonly (readonly [flags: readonly string[], story: string, quick?: true])[] = [
  [['--nemesis', 'kill:holder,partition:client'], `${careful}: holders die and are cut off`, true],
  [
    ['--nemesis', 'kill', '--persistence', 'aof-always'],
    `${careful}: the server dies, and comes back with all that it granted`,
  ],
  [['--nemesis', 'clock:client'], `${careful}: the clocks of clients jump`],
];
const locksOfOneServer = ['set-nx-px', 'watchdog', 'reentrant', 'spin', 'multi', 'wait-replicated'];

export const sounds: readonly SoundRun[] = [
  ...survivable.flatMap(([flags, story, quick]) => [
    ...locksOfOneServer.map(
      (lock): SoundRun => sound(lock, [...onOne, ...flags], story, quick && lock === 'reentrant'),
    ),
    sound('redlock', ['--topology', 'redlock', ...flags], story, quick),
    sound('fair', [...onOne, '--workload', 'fair', ...flags], story),
    sound('read-write', [...onOne, '--workload', 'read-write', ...flags], story),
    sound('fenced', [...onOne, '--workload', 'fenced-resource', ...flags], story),
  ]),
  sound('redlock', ['--topology', 'redlock', '--nemesis', 'partition'], 'a minority of the nodes is cut off'),
  sound('set-nx-px', ['--topology', 'sentinel', ...calm], 'nothing happens', true),
  sound('set-nx-px', ['--topology', 'cluster', ...calm], 'nothing happens', true),
  sound('set-nx-px', ['--topology', 'replica', ...calm], 'nothing happens'),
  sound(
    'semaphore',
    [...onOne, '--workload', 'semaphore', '--nemesis', 'clock:client'],
    'no client dies with a permit, which would be lost',
  ),
  sound(
    'permit-expirable',
    [...onOne, '--workload', 'semaphore', '--nemesis', 'kill:holder', '--lease', '2s'],
    'a permit comes back when the lease of who died with it is over',
  ),
  sound(
    'fenced',
    [...onOne, '--workload', 'fenced-resource', '--lease', '1s', '--nemesis', 'pause:holder'],
    'holders are stopped, and the resource refuses what they write when they wake',
    true,
  ),
  sound(
    'watchdog',
    [...onOne, '--workload', 'renewal', ...calm],
    'work is longer than the lease, and is renewed',
    true,
  ),
];

function sound(lock: string, flags: readonly string[], story: string, quick?: boolean): SoundRun {
  return { lock, flags, limitMs: 20_000, ...(quick && { quick: true }), story };
}

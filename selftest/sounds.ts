/** Sound locks, under faults that they must survive. */
import type { SoundRun } from './trial.js';

const calm = ['--nemesis', 'none'];
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
const locksOfOneServer = [
  'set-nx-px',
  'ifeq',
  'delex',
  'fcall',
  'watchdog',
  'reentrant',
  'spin',
  'multi',
  'wait-replicated',
];
/** Those that compare by a command where the server has it, which is tried there; they have scripts for all others, as above. */
const comparing: readonly (readonly [lock: string, command: string, server: string])[] = [
  ['ifeq', 'DELIFEQ', 'valkey@9'],
  ['delex', 'DELEX', 'redis@8.4'],
];

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
  ...comparing.map(
    ([lock, command, server]): SoundRun => ({
      ...sound(lock, [...onOne, '--nemesis', 'kill:holder,partition:client'], careful),
      serverNeeds: { oneOf: [command], server },
    }),
  ),
  sound('hash-ttl', [...onOne, '--workload', 'read-write', '--nemesis', 'kill:holder'], careful, true),
  sound(
    'hash-ttl-semaphore',
    [...onOne, '--workload', 'semaphore', '--nemesis', 'kill:holder,clock:client', '--lease', '2s'],
    'a permit comes back when the lease of who died with it is over, whatever the clocks of clients say',
  ),
  sound(
    'waitaof',
    [...onOne, '--persistence', 'aof-everysec', '--wait', '3s', '--hold', '0.4x..0.7x', '--nemesis', 'power-cut'],
    'the server loses its power, and no grant that was on disk',
  ),
  sound('redlock', ['--topology', 'redlock', '--nemesis', 'partition'], 'a minority of the nodes is cut off'),
  sound('set-nx-px', ['--topology', 'sentinel', ...calm], 'nothing happens', true),
  sound('set-nx-px', ['--topology', 'cluster', ...calm], 'nothing happens', true),
  sound('set-nx-px', ['--topology', 'replica', ...calm], 'nothing happens'),
  {
    ...sound(
      'semaphore',
      [...onOne, '--workload', 'semaphore', '--nemesis', 'clock:client'],
      'no client dies with a permit, nor is cut off with one, which would be lost',
    ),
    hunted: ['clock', 'drift'],
  },
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

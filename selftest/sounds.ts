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
const locksOfOneServer = ['set-nx-px', 'ifeq', 'fcall', 'watchdog', 'reentrant', 'spin', 'multi', 'wait-replicated'];

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

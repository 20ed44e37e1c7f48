/**
 * The flags of each kind of lock. They were fixed before any entry was played, and name no library: a kind is what a reader of the
 * lock's documentation would say that it is.
 */
import type { LockKind } from './entry.js';

export const kinds: Readonly<Record<LockKind, readonly string[]>> = {
  mutex: [
    '--topology',
    'single',
    '--workload',
    'mutex',
    '--nemesis',
    'pause:holder,kill:holder,slow:primary',
    '--lease',
    '2s',
  ],
  renewing: ['--topology', 'single', '--workload', 'renewal', '--nemesis', 'slow:primary,reset', '--lease', '2s'],
  try: ['--topology', 'single', '--workload', 'try', '--nemesis', 'clock:client', '--clients', '4', '--keys', '1'],
  callers: [
    '--topology',
    'single',
    '--workload',
    'callers',
    '--nemesis',
    'partition:client,slow:client',
    '--lease',
    '2s',
  ],
  fair: ['--topology', 'single', '--workload', 'fair', '--nemesis', 'kill:holder,slow:client', '--lease', '2s'],
  'read-write': ['--topology', 'single', '--workload', 'read-write', '--nemesis', 'pause:holder', '--lease', '2s'],
  semaphore: ['--topology', 'single', '--workload', 'semaphore', '--nemesis', 'slow:primary', '--lease', '2s'],
  'several-nodes': [
    '--topology',
    'redlock',
    '--workload',
    'renewal',
    '--nemesis',
    'slow:majority,pause:one,strobe:client',
    '--lease',
    '2s',
  ],
  replicated: [
    '--topology',
    'sentinel',
    '--workload',
    'mutex',
    '--nemesis',
    'lag,partition:replica,failover',
    '--lease',
    '4s',
  ],
  cluster: ['--topology', 'cluster', '--workload', 'mutex', '--nemesis', 'cluster-failover,reset', '--lease', '4s'],
};

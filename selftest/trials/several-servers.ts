/** Trials of canaries whose mistake lies with independent nodes, and replicas. */
import type { Trial } from '../trial.js';
import { calm, grantedLate, overlap, planFile } from './parts.js';

export const severalServersTrials: readonly Trial[] = [
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
    canary: 'no-validity-check',
    flags: ['--topology', 'redlock', '--keys', '2', '--lease', '300ms', ...planFile('slow-node')],
    limitMs: 25_000,
    quickMs: 10_000,
    caught: grantedLate,
    story: 'a node that answers late makes a majority come together when its lease is over',
  },
  {
    canary: 'wall-clock-validity',
    flags: ['--topology', 'redlock', '--keys', '1', '--lease', '300ms', ...planFile('slow-node-clocks-back')],
    limitMs: 25_000,
    quickMs: 10_000,
    caught: grantedLate,
    story: 'the clock of the client is set back while it asks the nodes, and it takes what came too late for good',
  },
  {
    canary: 'release-where-acquired',
    flags: ['--topology', 'redlock', '--workload', 'try', '--hold', '0.001x..0.02x', ...planFile('slow-node')],
    limitMs: 20_000,
    quickMs: 10_000,
    caught: { checker: 'left-behind', class: 'liveness', kind: 'left-behind' },
    story: 'a node that answers late keeps what a failed try asked it for',
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
      ...planFile('the-replica-that-lags-is-promoted'),
    ],
    limitMs: 32_000,
    quickMs: 32_000,
    caught: { ...overlap, cause: 'failover-lost-write' },
    story: 'one replica acknowledges, and the other one is promoted',
  },
];

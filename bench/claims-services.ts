/** What plain runs of locks on services beside Redis must say. */
import { findOnPath } from '../harness/machine/command.js';
import type { Results, ViolationClass } from '../harness/vocabulary/verdict.js';

const TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const QUORUM_FAULTS = 'kill:primary,partition:primary,pause:primary,pause:holder,partition:client';
/** Few clients and locks that are held for long: what is lost is asked for while it is still held. */
const FAILOVERS = ['--nemesis', 'failover', '--clients', '4', '--hold', '0.4x..0.9x', '--time-limit', '25s'];
const CONTENDED = [...FAILOVERS, '--keys', '3'];

/** No distribution has a `mongod`: the one that is named, or one on PATH; else nothing is claimed of it here. */
const MONGOD = process.env.LOCK_TORTURE_TEST_MONGOD ?? findOnPath('mongod');
const ON_MONGODB = ['--service', 'mongodb', ...(MONGOD === undefined ? [] : ['--server', MONGOD])];
const FEW = ['--clients', '4', '--keys', '2'];

interface ServiceCanary {
  argv: readonly string[];
  /** Each is one that its mistake has; any of them will do. */
  causes: readonly string[];
  /** Absent: of any. */
  class?: ViolationClass;
  twin: string;
}

/** Of other services: how each is tortured, by what cause it is known, and the lock that has one mistake less. */
export const SERVICE_CANARIES: Record<string, ServiceCanary> = {
  'etcd-read-then-put': {
    argv: ['--service', 'etcd', '--topology', 'single', '--nemesis', 'none', '--time-limit', '8s'],
    causes: ['overwritten'],
    twin: 'etcd-lease',
  },
  'etcd-blind-delete': {
    argv: ['--service', 'etcd', '--nemesis', 'pause:holder', '--time-limit', '20s'],
    causes: ['removed-early'],
    twin: 'etcd-lease',
  },
  'etcd-lock-api-unwatched': {
    argv: [
      ...['--service', 'etcd', '--nemesis', 'partition:client', '--lease', '2s', '--hold', '1.5x..3x'],
      // Some twenty holds in 20 s, of which few are of a client that is cut off.
      ...['--time-limit', '40s'],
    ],
    // Whether it was still cut off when its lease ended is chance; it was not told either way.
    causes: ['client-cut-off', 'not-told'],
    twin: 'etcd-lock-api',
  },
  'zk-lost-create': {
    // What was under way is carried out when it goes on, and its clients have given up by then.
    argv: ['--service', 'zookeeper', '--topology', 'single', '--nemesis', 'pause:primary', '--time-limit', '20s'],
    // A deadlock, which is the lock's whatever stands in the way.
    causes: ['unexplained'],
    class: 'liveness',
    twin: 'zk-lock',
  },
  'zk-no-session-check': {
    argv: [
      ...['--service', 'zookeeper', '--nemesis', 'partition:client', '--lease', '2s', '--hold', '1.5x..3x'],
      // Some twenty holds in 20 s, of which few are of a client that is cut off.
      ...['--time-limit', '40s'],
    ],
    // Whether it was still cut off when its lease ended is chance; it was not told either way.
    causes: ['client-cut-off', 'not-told'],
    twin: 'zk-lock',
  },
  'pg-row-read-then-write': {
    argv: ['--service', 'postgres', '--topology', 'single', '--nemesis', 'none', '--time-limit', '8s'],
    causes: ['overwritten'],
    twin: 'pg-row',
  },
  'pg-advisory-anywhere': {
    // Who has one for less than that is not seen: it is asked now and then.
    argv: ['--service', 'postgres', '--nemesis', 'none', '--time-limit', '10s', '--hold', '0.05x..0.2x'],
    causes: ['local-to-one-server'],
    twin: 'pg-advisory',
  },
  ...canariesOn('mariadb'),
  ...canariesOn('mysql'),
  'mongo-read-then-write': {
    argv: [...ON_MONGODB, ...FEW, '--nemesis', 'none', '--time-limit', '8s'],
    // A server by itself keeps no record that could prove more.
    causes: ['unexplained'],
    class: 'exclusion',
    // On FerretDB, mongo-lease is held twice as well.
    twin: 'mongo-terms',
  },
};

/** Of MySQL and MariaDB alike. */
function canariesOn(service: 'mysql' | 'mariadb'): Record<string, ServiceCanary> {
  return {
    [`${service}-row-read-then-write`]: {
      argv: ['--service', service, '--topology', 'single', '--nemesis', 'none', '--time-limit', '8s'],
      causes: ['overwritten'],
      twin: `${service}-row`,
    },
    [`${service}-get-lock-anywhere`]: {
      argv: ['--service', service, '--nemesis', 'none', '--time-limit', '10s', '--hold', '0.05x..0.2x'],
      causes: ['local-to-one-server'],
      twin: `${service}-get-lock`,
    },
  };
}

/** Those whose servers are here, or can be had. */
const canariesHere = Object.entries(SERVICE_CANARIES).filter(
  ([name]) => MONGOD !== undefined || !name.startsWith('mongo-'),
);

const ofMongodb = [
  {
    cases: [
      {
        name: 'mongo-terms',
        argv: [
          ...[...ON_MONGODB, '--lock', 'mongo-terms', ...FEW, '--time-limit', '20s'],
          ...['--nemesis', 'kill,pause,pause:holder,partition:client,kill:client'],
        ],
      },
    ],
    seeds: TEN,
    claims: [
      {
        what: 'a lock by terms is never held twice while its server and its clients are killed, paused and cut off',
        of: 'runs' as const,
        least: 10,
        says: ({ found, stats }: Results) => (found.exclusion ?? 0) === 0 && (stats.struckHolds ?? 0) >= 1,
      },
    ],
  },
];

export const servicesClaims = [
  {
    cases: [
      ['etcd', 'etcd-lease'],
      ['etcd', 'etcd-lock-api'],
      ['zookeeper', 'zk-lock'],
      ['zookeeper', 'curator/mutex'],
    ].map(([service, lock]) => ({
      name: lock!,
      argv: ['--service', service!, '--lock', lock!, '--time-limit', '20s', '--nemesis', QUORUM_FAULTS],
    })),
    seeds: TEN,
    claims: [
      {
        what: 'a lock by majority is never held twice while leaders die and are cut off, with at least 5 struck holds',
        of: 'runs' as const,
        least: 40,
        says: ({ found, stats }: Results) => (found.exclusion ?? 0) === 0 && (stats.struckHolds ?? 0) >= 5,
      },
    ],
  },
  {
    cases: canariesHere.map(([name, { argv }]) => ({ name, argv: ['--lock', name, ...argv] })),
    seeds: TEN,
    claims: canariesHere.map(([canary, { causes, class: of }]) => ({
      what: `${canary} is caught, with the cause ${causes.join(' or ')}`,
      of: 'runs' as const,
      least: 9,
      says: ({ violations }: Results, name: string) =>
        name === canary &&
        violations.some((one) => causes.includes(one.cause.name) && (of === undefined || one.class === of)),
    })),
  },
  {
    cases: canariesHere.map(([name, { argv, twin }]) => ({
      name,
      argv: ['--lock', twin, ...argv],
    })),
    seeds: [1, 2, 3],
    claims: [
      {
        what: 'its twin is not accused of it',
        of: 'runs' as const,
        least: 3 * canariesHere.length,
        says: ({ violations }: Results, name: string) =>
          !violations.some(
            (one) => SERVICE_CANARIES[name]!.causes.includes(one.cause.name) && one.blame?.on === 'lock',
          ),
      },
    ],
  },
  {
    cases: [
      { name: 'failover-lost-row', argv: ['--service', 'postgres', ...CONTENDED] },
      { name: 'session-lost', argv: ['--service', 'postgres', '--lock', 'pg-advisory', ...FAILOVERS] },
      { name: 'failover-lost-row', argv: ['--service', 'mariadb', ...CONTENDED] },
      { name: 'session-lost', argv: ['--service', 'mariadb', '--lock', 'mariadb-get-lock', ...FAILOVERS] },
    ],
    seeds: TEN,
    claims: [
      {
        what: 'what an asynchronous failover loses is found with its cause',
        of: 'runs' as const,
        least: 36,
        says: ({ violations }: Results, name: string) => violations.some((one) => one.cause.name === name),
      },
    ],
  },
  {
    cases: [
      {
        name: 'postgres-sync',
        argv: ['--service', 'postgres', '--topology', 'primary-replica-sync', ...CONTENDED],
      },
      {
        name: 'mariadb-semi-sync',
        argv: ['--service', 'mariadb', '--topology', 'primary-replica-semi-sync', ...CONTENDED],
      },
    ],
    seeds: TEN,
    claims: [
      {
        what: 'a commit that waits for the replica mends it',
        of: 'runs' as const,
        least: 20,
        says: ({ found }: Results) => (found.exclusion ?? 0) === 0,
      },
    ],
  },
  ...(MONGOD === undefined ? [] : ofMongodb),
];

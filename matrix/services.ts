/**
 * Locks on Redis and on other services, under the same faults: what somebody asks who has to choose. What is shown of Redis
 * elsewhere is taken from there; what a service cannot be asked is a cell, too, and the tool must refuse it.
 */
import type { Cell } from './cell.js';
import { clientRows } from './clients.js';
import { elsewhere, flags, type LockColumn, onRedlock, plainMutex, play, row } from './columns.js';
import { serverRows } from './servers.js';

const on = (lock: string, ...topologies: string[]): LockColumn => ({ lock, topologies });

const [onSentinel] = elsewhere([plainMutex], 'sentinel') as [LockColumn];
const etcd = [on('etcd-lease', 'etcd'), on('etcd-lock-api', 'etcd')];
const zookeeper = [on('zk-lock', 'zookeeper')];
const quorums = [...etcd, ...zookeeper];
const postgresRow = on('pg-row', 'postgres', 'postgres-sync');
const postgresSession = on('pg-advisory', 'postgres', 'postgres-sync');
const mariadbRow = on('mariadb-row', 'mariadb');
const mariadbSession = on('mariadb-get-lock', 'mariadb');
const mysqlRow = on('mysql-row', 'mysql');
const mysqlSession = on('mysql-get-lock', 'mysql');
const mysqlInsert = on('mysql-insert', 'mysql');
const rows = [postgresRow, mariadbRow, mysqlRow];
const sessions = [postgresSession, mariadbSession, mysqlSession];
const databases = [...rows, ...sessions, mysqlInsert];
/** Of MongoDB: on FerretDB, `mongo-lease` is held twice by itself (docs/services.md). */
const mongodb = [on('mongo-lease', 'mongodb'), on('mongo-terms', 'mongodb')];
const others = [...quorums, ...databases, ...mongodb];

/** In the order of the table; the first is what the costs of the others are told by. */
export const comparedColumns: readonly LockColumn[] = [
  plainMutex,
  onSentinel,
  onRedlock,
  ...quorums,
  ...elsewhere([postgresRow, postgresSession], 'postgres'),
  ...elsewhere([postgresRow, postgresSession], 'postgres-sync'),
  mariadbRow,
  mariadbSession,
  mysqlRow,
  mysqlSession,
  mysqlInsert,
  ...mongodb,
];

/** The same, lock by lock and deployment by deployment. */
export const comparedPlaces: readonly Pick<Cell, 'lock' | 'topology'>[] = comparedColumns.flatMap(
  ({ lock, topologies }) => topologies.map((topology) => ({ lock, topology })),
);

/** The table's own, in its order. */
const COMPARED_FAULTS = [
  'client-paused',
  'holder-cut-off',
  'client-crash',
  'leader-lost',
  'node-forgets',
  'node-clock-forward',
  'planned-failover',
  'whole-restart',
];

/** Few clients and long holds: what is lost is asked for while it is still held. */
const LONG = ['--clients', '4', '--hold', '0.4x..0.9x', '--wait', '3s'];
/** Holds that a fault strikes, and enough of them in a short run: where nothing is to be found. */
const MANY = ['--hold', '0.1x..0.5x', '--wait', '2s'];
const failover = flags('--nemesis', 'failover', ...LONG);
const restart = ['--nemesis', 'kill:all', ...MANY];
/** The data of the others are on disk before they answer. */
const redisRestart = flags(...restart, '--persistence', 'aof-always');
const amnesia = flags('--nemesis', 'amnesia', ...LONG);
const clock = flags('--nemesis', 'clock:primary', ...LONG);
const plannedFailover = flags('--nemesis', 'failover-to');
const nothingToReplace = 'nothing takes the place of a node that is lost';

/** Of those that are not shown elsewhere. */
export const serviceRows: readonly Cell[] = [
  ...row('client-paused', flags('--nemesis', 'pause:holder', '--lease', '2s'), [
    [
      [onSentinel, ...rows, ...mongodb, ...etcd.slice(0, 1)],
      'stale',
      'a holder that sleeps past its lease cannot know',
    ],
    [
      [...sessions, ...zookeeper, ...etcd.slice(1)],
      'stale',
      'a holder that sleeps past the time-out of its session cannot know',
    ],
    [[mysqlInsert], 'safe', 'it has no lease that could end while it sleeps: the others wait'],
  ]),
  ...row('holder-cut-off', flags('--workload', 'renewal', '--nemesis', 'partition:holder', '--lease', '2s'), [
    [
      [plainMutex, onSentinel, ...rows, ...mongodb, ...etcd.slice(0, 1)],
      'safe',
      'a client whose extension is not answered stops before its lease is over',
    ],
    [
      [...sessions, ...zookeeper, ...etcd.slice(1)],
      'safe',
      'a client that cannot keep its session alive stops before the service ends it',
    ],
    [
      [mysqlInsert],
      'liveness',
      'a release that does not arrive leaves the row, and nothing ends it',
      flags('--nemesis', 'partition:holder', '--lease', '2s'),
    ],
  ]),
  ...row('client-crash', flags('--nemesis', 'kill:holder', '--lease', '2s'), [
    [[onSentinel, ...rows, ...mongodb, ...etcd.slice(0, 1)], 'safe', 'the lease ends, and the lock is free again'],
    [[...zookeeper, ...etcd.slice(1)], 'safe', 'the session times out, and the lock is free again'],
    [sessions, 'safe', 'the server sees the connection end, and frees the lock at once'],
    [[on('mariadb-insert', 'mariadb'), mysqlInsert], 'liveness', 'nothing ends the row of a holder that died'],
  ]),
  ...row('leader-lost', failover, [
    [[plainMutex, ...mongodb], 'refused', nothingToReplace],
    [[onRedlock], 'refused', 'no node leads', flags('--nemesis', 'kill:primary')],
    [[onSentinel], 'exclusion', 'the promoted replica never heard of the grant'],
    [
      quorums,
      'safe',
      'a grant is answered once a majority has it, and who leads next has it',
      flags('--nemesis', 'kill:primary,partition:primary,pause:primary', ...MANY),
    ],
    [
      [...elsewhere([postgresRow], 'postgres'), mariadbRow, mysqlRow],
      'exclusion',
      'the replica that takes over was not told in time',
    ],
    [
      [mysqlInsert],
      'liveness',
      'an INSERT or a release that is not answered leaves the row, and nothing ends it',
      // A lock that is taken for ever is not asked for again with success: there must be others.
      flags('--nemesis', 'failover', '--keys', '32', ...MANY),
    ],
    [
      elsewhere([postgresRow], 'postgres-sync'),
      'safe',
      'a commit is answered once the replica has it',
      flags('--nemesis', 'failover', ...MANY),
    ],
    [
      sessions,
      'exclusion',
      'sessions and their locks are in the memory of one server, and go with it',
      // Who waits for a lock waits at the old server: only who does not is granted it by the new one in time.
      flags('--nemesis', 'failover', '--clients', '4', '--hold', '0.4x..0.9x'),
    ],
  ]),
  ...row('node-forgets', amnesia, [
    [
      [onSentinel],
      'safe',
      'the primary stays away until a replica, which has what it had, has taken its place',
      flags('--nemesis', 'amnesia:primary', '--persistence', 'none', ...MANY),
    ],
    [others, 'refused', 'what makes a server forget is made for Redis'],
  ]),
  ...row('node-clock-forward', clock, [
    [[onSentinel], 'exclusion', 'the key expires on the primary before its lease is over'],
    [[...quorums, ...mongodb], 'refused', 'no wall clock of theirs can be set'],
    [rows, 'exclusion', 'the expiry in the row is told by the clock of the server'],
    [
      [postgresSession],
      'exclusion',
      'how long a session has been silent is measured by the wall clock, and who waits is granted its lock before its client hears of that',
      flags('--nemesis', 'clock:primary', '--clients', '10', '--keys', '5', '--hold', '0.5x..0.9x', '--wait', '3s'),
    ],
    [
      [mariadbSession, mysqlSession],
      'safe',
      'nothing of a session is told by the wall clock',
      flags('--nemesis', 'clock:primary', ...MANY),
    ],
    [[mysqlInsert], 'safe', 'nothing of it is told by a clock', flags('--nemesis', 'clock:primary', ...MANY)],
  ]),
  ...row('planned-failover', plannedFailover, [
    [[plainMutex, onRedlock], 'refused', nothingToReplace],
    [
      [onSentinel],
      'exclusion',
      'the old primary goes on granting until the Sentinels make it follow, seconds later',
      play('planned-failover-makes-two-holders'),
    ],
    [others, 'refused', 'who hands over on request is asked by a command of Redis'],
  ]),
  ...row('whole-restart', flags(...restart), [
    [
      [plainMutex, onSentinel, onRedlock],
      'safe',
      'with every write on disk (`aof-always`, which is not how Redis comes) nothing is forgotten',
      redisRestart,
    ],
    [
      quorums,
      'safe',
      'what was granted was on disk before it was answered',
      // What is held when they die stays held for a whole lease after the next election, and they die again before that.
      flags(...restart, '--keys', '16'),
    ],
    [[...rows, ...mongodb], 'safe', 'what was granted was on disk before it was answered'],
    [sessions, 'safe', 'the locks are gone, but so are the connections, and their clients hear of that at once'],
    [[mysqlInsert], 'liveness', 'a release that does not arrive leaves the row, and nothing ends it'],
  ]),
];

/** Those and what is shown of the same locks and faults elsewhere, in the order of the table. */
export const comparedRows: readonly Cell[] = COMPARED_FAULTS.flatMap((fault) =>
  comparedPlaces.flatMap(({ lock, topology }) =>
    [...clientRows, ...serverRows, ...serviceRows].filter(
      (cell) => cell.fault === fault && cell.lock === lock && cell.topology === topology,
    ),
  ),
);

/** Lock libraries of other languages, in the rows that the published table has. */
import type { Cell } from './cell.js';
import { contention, elsewhere, flags, type LockColumn, play, row } from './columns.js';

const oneServer = (...locks: string[]): LockColumn[] => locks.map((lock) => ({ lock, topologies: ['single'] }));

/** What they store is given back only by its owner, and an expiry ends it. */
const mutexes = oneServer(
  'redisson/rlock',
  'redisson/rlock-no-sync',
  'redisson/spin',
  'redisson/fair',
  'spring/lock-registry',
  'spring/lock-registry-pub-sub',
  'spring/shedlock-safe-update',
  'go/redislock',
  'python/redis-py',
  'python/python-redis-lock',
);
const readWrite: LockColumn = {
  lock: 'redisson/read-write',
  topologies: ['single'],
  flags: ['--workload', 'read-write'],
};
/** Its parts are taken for twice the wait at first, and expire before all are had where that is shorter than a round takes. */
const multi: LockColumn = { lock: 'redisson/multi', topologies: ['single'] };
/** One part on each node. */
const oneOfEach = elsewhere([multi], 'redlock');
const watchdog: LockColumn = { lock: 'redisson/watchdog', topologies: ['single'] };
const plainLocks = [...mutexes, readWrite];
const allPlainLocks = [...plainLocks, multi, watchdog];
const [fenced] = oneServer('redisson/fenced') as [LockColumn];
const semaphores: LockColumn[] = oneServer('redisson/semaphore', 'redisson/permit-expirable').map((column) => ({
  ...column,
  flags: ['--workload', 'semaphore'],
}));
const [plainSemaphore, expirable] = semaphores as [LockColumn, LockColumn];
/** Their unlock deletes the key whoever holds by then; the first one's extension overwrites it as well. */
const unowned = oneServer('spring/shedlock', 'redisson/force-unlock');
const [shedlock, forced] = unowned as [LockColumn, LockColumn];
/** What of Redisson is asked of a Cluster as well. */
const checkedOnCluster = elsewhere([...oneServer('redisson/rlock', 'redisson/fair'), readWrite], 'cluster');
const uncheckedOnCluster = elsewhere(oneServer('redisson/rlock-no-sync'), 'cluster');
const onCluster = [...checkedOnCluster, ...uncheckedOnCluster];
/** Twins of what Redisson has, used as it must not be. */
const beside: LockColumn = { ...readWrite, lock: 'redisson/read-beside-lock' };
const added: LockColumn = { ...plainSemaphore, lock: 'redisson/permits-added' };
const barging: LockColumn = { lock: 'redisson/barging', topologies: ['single'], flags: ['--workload', 'fair'] };
/** Those that ask the nodes at once, or do not wait long for one that is away. */
const redsync: LockColumn = { lock: 'go/redsync', topologies: ['redlock'] };
const carefulQuorums: LockColumn[] = ['python/pottery', 'python/aioredlock', 'rust/rslock'].map((lock) => ({
  lock,
  topologies: ['redlock'],
}));
const quorums = [redsync, ...carefulQuorums];
/** It asks one node after the other, and tries some ten seconds at each that is out of reach. */
const patientQuorum: LockColumn[] = [{ lock: 'redisson/redlock', topologies: ['redlock'] }];

/** On ZooKeeper, by sessions. */
const curator: LockColumn[] = [{ lock: 'curator/mutex', topologies: ['zookeeper'] }];

/**
 * Where nothing happens a run is as it is by itself, with tries that end soon or are given up. Under a fault all holds are of one
 * kind, and all who want the lock wait: what comes of it is the fault's doing.
 */
const SHORT = ['--hold', '0.1x..0.6x', '--wait', '3s'];
const LONG = ['--hold', '0.4x..0.8x', '--wait', '3s'];
/** A node that is out of reach is tried for some ten seconds. */
const PATIENT = ['--lease', '30s', '--wait', '15s', '--hold', '0.01x..0.05x', '--keys', '4'];
/** Fewer keys than clients: a key is asked for while it is held. */
const FEW = ['--clients', '4', '--keys', '2'];
const noLease = 'a permit has no lease: nothing gives it to another';
const anothersDeleted = 'a holder that comes late deletes or takes over the lock of the next one';
const permitLost = 'a permit whose grant was not answered is lost for ever';

const rows: readonly Cell[] = [
  ...row('nothing', flags('--nemesis', 'none'), [
    [[...plainLocks, fenced, ...semaphores, ...curator, ...carefulQuorums], 'safe', 'nothing happens'],
    [unowned, 'exclusion', anothersDeleted],
    [
      [multi, ...oneOfEach, ...patientQuorum],
      'safe',
      'nothing happens, and all wait for longer than the parts take',
      flags('--nemesis', 'none', ...SHORT),
    ],
    [onCluster, 'safe', 'nothing happens'],
    [
      [watchdog],
      'liveness',
      'an acquire that is interrupted may have taken the lock, and the watchdog renews it for ever',
    ],
    [[beside], 'exclusion', 'to a reader the plain lock of a writer is none'],
    [[added], 'exclusion', 'each process adds permits to those that are there'],
    [[barging], 'liveness', 'a plain lock of the same name passes who waits in the queue'],
    [[redsync], 'liveness', 'a try whose context has ended takes nothing back: what it had stored stays for a lease'],
  ]),
  ...row('contention', contention, [
    [
      [...oneServer('redisson/rlock', 'redisson/fair'), readWrite],
      'safe',
      'nothing happens; the row is there for what each costs',
    ],
  ]),
  ...row('client-paused', flags('--nemesis', 'pause:holder', '--lease', '2s', ...SHORT), [
    [
      [...allPlainLocks, ...onCluster, fenced, expirable, ...quorums, ...oneOfEach, ...patientQuorum],
      'stale',
      'a holder that sleeps past its lease cannot know',
    ],
    [curator, 'stale', 'a holder that sleeps past the time-out of its session cannot know'],
    [unowned, 'exclusion', anothersDeleted],
    [[plainSemaphore], 'safe', noLease],
  ]),
  ...row('holder-cut-off', flags('--workload', 'renewal', '--nemesis', 'partition:holder', '--lease', '1s'), [
    [oneServer('redisson/watchdog'), 'stale', 'it tells its client never that renewals fail'],
    [
      curator,
      'safe',
      'its client takes the connection for lost after two thirds of the session, and says so',
      flags('--workload', 'renewal', '--nemesis', 'partition:holder', '--lease', '2s'),
    ],
  ]),
  ...row('client-crash', flags('--nemesis', 'kill:holder', '--lease', '2s', ...SHORT), [
    [
      [...allPlainLocks, ...onCluster, ...unowned, fenced, expirable, ...quorums, ...oneOfEach, ...patientQuorum],
      'safe',
      'the lease ends, and the lock is free again',
    ],
    [curator, 'safe', 'the session times out, and the lock is free again'],
    [[plainSemaphore], 'liveness', 'a permit has no lease: that of a client that died is lost for ever'],
  ]),
  ...row('node-forgets', flags('--nemesis', 'amnesia', '--persistence', 'none', ...LONG), [
    [[...allPlainLocks, ...unowned], 'exclusion', 'the server comes back empty and grants again'],
    [semaphores, 'liveness', 'permits are set once, and the server that comes back has none'],
    [
      quorums,
      'exclusion',
      'one of the three that had granted comes back empty',
      flags('--nemesis', 'forget-granted', '--persistence', 'none', ...LONG),
    ],
    [
      oneOfEach,
      'safe',
      'all nodes had granted it, and those that remember refuse everybody else',
      flags('--nemesis', 'forget-granted', '--persistence', 'none', ...LONG),
    ],
    [
      patientQuorum,
      'exclusion',
      'one of the two that had granted comes back empty',
      play('redisson-redlock-node-forgets'),
    ],
    [
      [fenced],
      'harm',
      'the counter of tokens begins anew',
      flags('--workload', 'fenced-resource', '--nemesis', 'amnesia', '--persistence', 'none', ...LONG, ...FEW),
    ],
    [curator, 'refused', 'what makes a server forget is made for Redis', flags('--nemesis', 'amnesia')],
  ]),
  ...row('node-clock-forward', flags('--nemesis', 'clock:primary', ...LONG), [
    [[...allPlainLocks, ...unowned, fenced], 'exclusion', 'the key expires on the server before its lease is over'],
    [[plainSemaphore], 'safe', noLease],
    [[expirable], 'safe', 'a permit ends by the clock of the client that looks'],
    [
      [...quorums, ...patientQuorum],
      'exclusion',
      'the key expires on one of the three that had granted',
      flags('--nemesis', 'skew-granted', ...LONG),
    ],
    [
      oneOfEach,
      'safe',
      'the key expires on one node, and the others refuse everybody else',
      flags('--nemesis', 'skew-granted', ...LONG),
    ],
    [curator, 'refused', 'no wall clock of ZooKeeper can be set'],
  ]),
  ...row('eviction', flags('--nemesis', 'evict', '--maxmemory-policy', 'volatile-ttl', ...LONG), [
    [[...allPlainLocks, ...unowned, fenced], 'exclusion', 'a full server throws the lock away'],
    [
      [...quorums, ...patientQuorum],
      'exclusion',
      'one of the three that had granted throws the lock away',
      play('redlock-node-evicts'),
    ],
    [curator, 'refused', 'ZooKeeper throws nothing away', flags('--nemesis', 'evict')],
  ]),
  ...row('restart-with-every-write-on-disk', flags('--nemesis', 'kill', '--persistence', 'aof-always', ...SHORT), [
    [
      [...allPlainLocks, expirable, fenced, shedlock, ...quorums, ...patientQuorum],
      'safe',
      'no server forgets a grant, and careful clients stop in time',
    ],
    [[forced], 'exclusion', 'an unlock that is sent again frees the lock of the next holder'],
    [[plainSemaphore], 'liveness', permitLost],
    [
      curator,
      'safe',
      'what was granted was on disk before it was answered',
      // What is held when they die stays held for a whole session after the next election, and they die again before that.
      flags('--nemesis', 'kill:all', '--hold', '0.1x..0.5x', '--wait', '2s', '--keys', '16'),
    ],
  ]),
  ...row('partition', flags('--nemesis', 'partition', ...SHORT), [
    [[...quorums, ...patientQuorum, ...curator], 'safe', 'a minority that is cut off decides nothing'],
    [
      [...allPlainLocks, expirable, fenced],
      'safe',
      'a server that cannot be reached grants nothing, and forgets nothing',
    ],
    [unowned, 'exclusion', anothersDeleted],
    [[plainSemaphore], 'liveness', permitLost],
  ]),
  ...row('lost-reply', flags('--nemesis', 'lost-reply', ...SHORT), [
    [
      [...oneOfEach, ...patientQuorum],
      'safe',
      'what a node granted without an answer is given back there, or ends with its lease',
    ],
  ]),
  ...row('node-cut-off', flags('--nemesis', 'partition:one', ...PATIENT), [
    [oneOfEach, 'safe', 'while one node is out of reach nobody is granted it'],
    [patientQuorum, 'safe', 'a majority is left, and a minority decides nothing'],
  ]),
  ...row('release-by-an-expired-holder', play('only-the-owner-releases'), [
    [[...mutexes, multi, watchdog, fenced, readWrite], 'safe', 'the owner is compared where the key is deleted'],
    [
      unowned,
      'exclusion',
      'a plain DEL deletes the lock of the next holder',
      flags('--nemesis', 'none', '--careless', '--hold', '0.5x..1.5x', '--lease', '1s'),
    ],
    [
      [...quorums, ...patientQuorum],
      'safe',
      'every node compares the owner before it deletes',
      play('redlock-only-the-owner-releases'),
    ],
  ]),
  ...row('primary-lost-before-replication', flags('--nemesis', 'failover', ...LONG), [
    [checkedOnCluster, 'exclusion', 'a primary that has lost its only replica grants without one'],
    [uncheckedOnCluster, 'exclusion', 'the promoted replica never heard of the grant'],
    [
      elsewhere(
        [...oneServer('redisson/rlock', 'redisson/spin', 'redisson/fair'), watchdog, multi, fenced, readWrite],
        'sentinel',
      ),
      'safe',
      'a grant that its replicas do not acknowledge is an error to its client',
    ],
    [
      elsewhere(
        [
          ...semaphores,
          ...unowned,
          ...oneServer(
            'redisson/rlock-no-sync',
            'spring/lock-registry',
            'spring/lock-registry-pub-sub',
            'spring/shedlock-safe-update',
            'go/redislock',
            'python/redis-py',
            'python/python-redis-lock',
          ),
        ],
        'sentinel',
      ),
      'exclusion',
      'the promoted replica never heard of the grant',
    ],
  ]),
];

/** Of these the published table has the rows of the version before them as well. */
const OTHER_VERSIONS: Readonly<Record<string, readonly string[]>> = {
  'redisson/rlock': ['redisson/rlock@3.16.4', 'redisson/rlock@3.15.6'],
};

/** Before 3.16.7 nobody looks at how many replicas have acknowledged a grant. */
const unlookedAt = { expect: 'exclusion', reason: 'this version does not look at how many replicas have it' } as const;

export const externalRows: readonly Cell[] = rows.flatMap((cell) => [
  cell,
  ...(OTHER_VERSIONS[cell.lock] ?? []).map((lock) => ({
    ...cell,
    ...(cell.fault === 'primary-lost-before-replication' && unlookedAt),
    lock,
  })),
]);

/** The safety matrix: which lock survives which fault, cell by cell, each with the reason. */
import type { Cell, Outcome } from './cell.js';

export { type Cell, nameOf, type Outcome } from './cell.js';

/** A lock on the topologies that it is shown on. */
interface Column {
  lock: string;
  topologies: readonly string[];
  flags?: readonly string[];
}

const plain: Column = { lock: 'set-nx-px', topologies: ['single'] };
const reentrant: Column = { lock: 'reentrant', topologies: ['single'] };
const redlock: Column = { lock: 'redlock', topologies: ['redlock'] };
const published = ['redlock-4', 'redlock-5', 'sesamecare-redlock', 'redis-semaphore-redlock-mutex'].map(
  (name): Column => ({ lock: `third-party/${name}`, topologies: ['redlock'] }),
);
const publishedMutex: Column = { lock: 'third-party/redis-semaphore-mutex', topologies: ['single'] };
/** Behind a resource that looks at tokens. */
const fenced: Column = { lock: 'fenced', topologies: ['single'], flags: ['--workload', 'fenced-resource'] };
const waiting: Column = { lock: 'wait-replicated', topologies: ['sentinel'] };

const replicated = (column: Column, ...topologies: string[]): Column => ({ ...column, topologies });

function row(
  fault: string,
  flags: readonly string[],
  cells: readonly (readonly [columns: readonly Column[], expect: Outcome, reason: string, flags?: readonly string[]])[],
): Cell[] {
  return cells.flatMap(([columns, expect, reason, more]) =>
    columns.flatMap(({ lock, topologies, flags: own = [] }) =>
      topologies.map((topology) => ({ fault, lock, topology, expect, flags: [...own, ...(more ?? flags)], reason })),
    ),
  );
}

const nobodyForgets = 'no server forgets a grant, and careful clients stop in time';

export const cells: readonly Cell[] = [
  ...row(
    'nothing',
    ['--nemesis', 'none'],
    [
      [
        [
          plain,
          reentrant,
          redlock,
          ...published,
          publishedMutex,
          fenced,
          replicated(plain, 'replica', 'sentinel', 'cluster'),
          waiting,
        ],
        'safe',
        'nothing happens',
      ],
    ],
  ),
  ...row(
    'client-paused',
    ['--nemesis', 'pause:holder', '--lease', '2s'],
    [
      [
        [plain, reentrant, redlock, ...published, publishedMutex],
        'stale',
        'a holder that sleeps past its lease cannot know',
      ],
      [[fenced], 'safe', 'the resource refuses what the sleeper writes when it wakes'],
    ],
  ),
  ...row(
    'client-crash',
    ['--nemesis', 'kill:holder', '--lease', '2s'],
    [
      [
        [plain, reentrant, redlock, ...published, publishedMutex, fenced],
        'safe',
        'the lease ends, and the lock can be had again',
      ],
      [
        [{ lock: 'setnx', topologies: ['single'] }],
        'deadlock',
        'without an expiry nobody frees what a dead client held',
      ],
    ],
  ),
  ...row(
    'primary-lost-before-replication',
    ['--nemesis', 'failover'],
    [
      [
        [replicated(plain, 'replica', 'sentinel', 'cluster'), replicated(reentrant, 'sentinel')],
        'exclusion',
        'the promoted replica never heard of the grant',
      ],
      [
        [waiting],
        'exclusion',
        'what no replica acknowledges is refused, until the isolated primary has dropped its replicas: then it asks nobody',
      ],
      [[replicated(fenced, 'sentinel')], 'harm', 'the counter of tokens is lost with the lock, and gives one again'],
    ],
  ),
  ...row(
    'node-forgets',
    ['--nemesis', 'amnesia', '--persistence', 'none'],
    [
      [[plain, reentrant, publishedMutex], 'exclusion', 'the server comes back empty and grants again'],
      [
        [redlock, ...published],
        'exclusion',
        'one of the three that had granted comes back empty',
        ['--nemesis', 'forget-granted', '--persistence', 'none'],
      ],
      [[fenced], 'harm', 'the counter of tokens begins anew'],
    ],
  ),
  ...row(
    'node-clock-forward',
    ['--nemesis', 'clock:primary'],
    [
      [[plain, reentrant, publishedMutex], 'exclusion', 'the key expires on the server before its lease is over'],
      [
        [redlock, ...published],
        'exclusion',
        'the key expires on one of the three that had granted',
        ['--nemesis', 'skew-granted'],
      ],
    ],
  ),
  ...row(
    'release-by-an-expired-holder',
    ['--nemesis', 'none', '--careless', '--hold', '0.5x..1.5x', '--lease', '1s'],
    [
      [
        [{ lock: 'set-nx-px-del', topologies: ['single'] }],
        'exclusion',
        'a plain DEL deletes the lock of the next holder',
      ],
      [[plain], 'stale', "the late release is refused; that the work outlived the lease is the client's own doing"],
    ],
  ),
  ...row(
    'eviction',
    ['--nemesis', 'evict', '--maxmemory-policy', 'volatile-ttl'],
    [[[plain, reentrant], 'exclusion', 'a full server throws the lock away']],
  ),
  ...row(
    'client-clock',
    ['--nemesis', 'clock:client'],
    [
      [
        [plain, reentrant, redlock, fenced],
        'safe',
        'leases are counted by the server, validity by the monotonic clock',
      ],
    ],
  ),
  ...row(
    'lost-reply',
    ['--nemesis', 'lost-reply'],
    [[[plain, reentrant, fenced], 'safe', 'a grant that nobody heard of blocks the others for a lease, no more']],
  ),
  ...row(
    'restart-with-every-write-on-disk',
    ['--nemesis', 'kill', '--persistence', 'aof-always'],
    [[[plain, reentrant, redlock, ...published, publishedMutex, fenced], 'safe', nobodyForgets]],
  ),
  ...row(
    'partition',
    ['--nemesis', 'partition'],
    [
      [[redlock, ...published], 'safe', 'a minority that is cut off decides nothing'],
      [
        [plain, reentrant, publishedMutex],
        'safe',
        'a server that cannot be reached grants nothing, and forgets nothing',
      ],
    ],
  ),
];

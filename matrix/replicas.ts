/** What happens where a replica takes the place of a primary. */
import type { Cell } from './cell.js';
import {
  elsewhere,
  fencedMutex,
  flags,
  nodeRedisMutex,
  plainMutex,
  plan,
  play,
  publishedMutex,
  reentrantMutex,
  row,
  waitReplicated,
  waitsForTheDisk,
} from './columns.js';

export const replicaRows: readonly Cell[] = [
  ...row('primary-lost-before-replication', flags('--nemesis', 'failover'), [
    [
      [
        ...elsewhere([plainMutex], 'replica', 'sentinel', 'cluster'),
        ...elsewhere([reentrantMutex], 'sentinel'),
        ...elsewhere([nodeRedisMutex], 'sentinel', 'cluster'),
      ],
      'exclusion',
      'the promoted replica never heard of the grant',
    ],
    [
      elsewhere([waitReplicated], 'sentinel'),
      'exclusion',
      'what no replica acknowledges is refused, until the isolated primary has dropped its replicas: then no acknowledgement is asked for',
    ],
    [elsewhere([fencedMutex], 'sentinel'), 'harm', 'the counter of tokens is lost with the lock, and gives one again'],
  ]),
  ...row('promoted-replica-did-not-acknowledge', play('wait-one-is-not-enough'), [
    [
      elsewhere([plainMutex, reentrantMutex, waitReplicated, publishedMutex], 'replica'),
      'exclusion',
      'one replica has the grant and the other one is promoted',
    ],
    [
      elsewhere([fencedMutex], 'replica'),
      'harm',
      'the counter of the promoted replica is behind, and gives a token again',
    ],
    [
      elsewhere([waitsForTheDisk], 'replica'),
      'exclusion',
      'the grant is on the disks of the primary and of one replica (WAITAOF 1 1), and the other one is promoted',
      play('waitaof-one-replica-is-not-enough'),
    ],
  ]),
  ...row('promoted-replica-has-had-no-sync', play('promoted-before-its-first-sync'), [
    [
      elsewhere([plainMutex, reentrantMutex], 'sentinel'),
      'exclusion',
      'it took the place of another one and is promoted before its first sync is done: empty',
    ],
  ]),
  ...row('promoted-replica-has-a-released-lock', play('released-lock-comes-back'), [
    [
      elsewhere([plainMutex, reentrantMutex, waitReplicated, publishedMutex, fencedMutex], 'replica'),
      'safe',
      'it stays taken until the lease ends that had been given back, and is free then',
    ],
  ]),
  ...row('promoted-replica-has-a-fast-clock', play('fast-replica-is-promoted'), [
    [
      elsewhere([plainMutex, reentrantMutex, waitReplicated, publishedMutex], 'replica'),
      'exclusion',
      'by its clock the lease is over',
    ],
    [
      elsewhere([fencedMutex], 'replica'),
      'safe',
      'two hold at once, but the promoted replica has the counter and the resource refuses the elder',
      flags(...plan('fast-replica-is-promoted'), '--lease', '8s', '--hold', '0.6x..0.9x', '--keys', '4'),
    ],
  ]),
  ...row('primary-isolated-with-clients', play('isolated-primary'), [
    [
      elsewhere([plainMutex, reentrantMutex, publishedMutex], 'sentinel'),
      'exclusion',
      'the isolated primary goes on granting what its successor has granted',
    ],
    [
      elsewhere([waitReplicated], 'sentinel'),
      'exclusion',
      'refused only until the isolated primary has dropped its replicas (repl-timeout)',
    ],
    [elsewhere([fencedMutex], 'sentinel'), 'harm', 'both count on from the same token'],
  ]),
  ...row('planned-failover-by-the-primary', play('handover-keeps-the-lock'), [
    [
      elsewhere([plainMutex, reentrantMutex, fencedMutex], 'replica'),
      'safe',
      'FAILOVER TO waits until the replica has every write',
    ],
  ]),
  ...row('planned-failover-in-a-cluster', play('cluster-handover-keeps-the-lock'), [
    [
      elsewhere([plainMutex, reentrantMutex, fencedMutex], 'cluster'),
      'safe',
      'CLUSTER FAILOVER waits until the replica has every write',
    ],
  ]),
  ...row('planned-failover-by-sentinel', play('planned-failover-makes-two-holders'), [
    [
      elsewhere([plainMutex, reentrantMutex], 'sentinel'),
      'exclusion',
      'the old primary goes on granting until the Sentinels make it follow, seconds later',
    ],
  ]),
  ...row('planned-failover-coordinated-by-sentinel', play('coordinated-failover-keeps-the-lock'), [
    [
      elsewhere([plainMutex, reentrantMutex, fencedMutex], 'sentinel'),
      'safe',
      'the primary hands over to a replica that has every write (SENTINEL FAILOVER COORDINATED, Valkey 9)',
    ],
  ]),
  ...row('slot-moved-while-held', play('moved-slot-keeps-the-lock'), [
    [
      elsewhere([plainMutex, reentrantMutex, fencedMutex], 'cluster'),
      'safe',
      'MIGRATE takes the key along, with the time that it has left',
    ],
  ]),
  ...row('slot-moved-by-the-servers', play('migrated-slot-keeps-the-lock'), [
    [
      elsewhere([plainMutex, reentrantMutex, fencedMutex], 'cluster'),
      'safe',
      'the servers take the key along, with the time that it has left (CLUSTER MIGRATESLOTS, Valkey 9)',
    ],
  ]),
];

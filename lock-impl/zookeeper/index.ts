/** Locks on ZooKeeper. */
import { type BuiltinLock, ONE_TRY } from '../builtin-lock.js';

const topologies = ['zookeeper', 'zookeeper-single'];

export const zookeeperLocks: Record<string, BuiltinLock> = {
  'zk-lock': {
    module: './zookeeper/zk-lock.js',
    family: 'zookeeper',
    forms: ONE_TRY,
    summary: 'ephemeral sequential nodes, each watching the one before it; the czxid is the fencing token',
    claims:
      'exclusion and rising tokens while a majority keeps what it stored; a client that sleeps past its session is stale',
    topologies,
  },
  'zk-lock-plain': {
    module: './zookeeper/zk-lock-plain.js',
    family: 'zookeeper',
    forms: ONE_TRY,
    summary: 'zk-lock without its fencing tokens',
    claims: 'as zk-lock, for resources that check nothing',
    topologies,
  },
  'zk-lost-create': {
    module: './zookeeper/zk-lost-create.js',
    family: 'canary',
    canary: true,
    forms: ONE_TRY,
    summary: 'zk-lock that forgets a node whose making was not answered, and makes another',
    claims: 'a node of its own is before it, and nobody ever gets the lock; zk-lock is its twin',
    topologies,
  },
  'zk-no-session-check': {
    module: './zookeeper/zk-no-session-check.js',
    family: 'canary',
    canary: true,
    forms: ONE_TRY,
    summary: 'zk-lock that never looks whether the session it goes on with is the one it held by',
    claims: 'a client that was cut off for longer than its session goes on beside the next; zk-lock is its twin',
    topologies,
  },
};

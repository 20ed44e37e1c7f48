/** Locks on etcd. */
import { type BuiltinLock, ONE_TRY, WITH_EXTEND } from '../builtin-lock.js';

export const etcdLocks: Record<string, BuiltinLock> = {
  'etcd-lease': {
    module: './etcd/etcd-lease.js',
    family: 'etcd',
    forms: WITH_EXTEND,
    summary: 'a key created in a transaction with an etcd lease; its create revision is the fencing token',
    claims:
      'exclusion and rising tokens while a majority keeps what it stored; a client that sleeps past its lease is stale',
    topologies: ['etcd', 'etcd-single'],
  },
  'etcd-lease-plain': {
    module: './etcd/etcd-lease-plain.js',
    family: 'etcd',
    forms: WITH_EXTEND,
    summary: 'etcd-lease without its fencing tokens',
    claims: 'as etcd-lease, for resources that check nothing',
    topologies: ['etcd', 'etcd-single'],
  },
  'etcd-lock-api': {
    module: './etcd/etcd-lock-api.js',
    family: 'etcd',
    forms: ONE_TRY,
    summary: "etcd's own Lock API with a lease that is kept alive; its create revision is the fencing token",
    claims:
      'exclusion and rising tokens while a majority keeps what it stored; a client that sleeps past its session is stale',
    topologies: ['etcd', 'etcd-single'],
  },
  'etcd-lock-api-unwatched': {
    module: './etcd/etcd-lock-api-unwatched.js',
    family: 'canary',
    canary: true,
    forms: ONE_TRY,
    summary: 'etcd-lock-api that never looks whether its session still lives',
    claims: 'a client that is cut off acts on when its session is over; etcd-lock-api is its twin',
    topologies: ['etcd', 'etcd-single'],
  },
  'etcd-blind-delete': {
    module: './etcd/etcd-blind-delete.js',
    family: 'canary',
    canary: true,
    forms: ONE_TRY,
    summary: 'etcd: a key created in a transaction with a lease; its release deletes the key, whose-ever it is',
    claims: 'a client that slept past its lease deletes the lock of the next; etcd-lease is its twin',
    topologies: ['etcd', 'etcd-single'],
    lacks: ['ownership'],
  },
  'etcd-read-then-put': {
    module: './etcd/etcd-read-then-put.js',
    family: 'canary',
    canary: true,
    forms: ONE_TRY,
    summary: 'etcd: a read, then a put with a lease, without a transaction',
    claims: 'nothing: two clients that read at once both hold it; etcd-lease is its twin',
    topologies: ['etcd', 'etcd-single'],
    lacks: ['ownership'],
  },
};

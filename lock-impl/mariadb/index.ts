/** Locks on MariaDB. */
import { type BuiltinLock, ONE_TRY, WITH_EXTEND } from '../builtin-lock.js';
import { MARIADB_TOPOLOGIES } from './connections.js';

export const mariadbLocks: Record<string, BuiltinLock> = {
  'mariadb-row': {
    module: './mariadb/mariadb-row.js',
    family: 'mariadb',
    forms: WITH_EXTEND,
    summary:
      'MariaDB: a row with owner, expiry and a counter, taken by an UPDATE if it is still what was read; the counter is the fencing token',
    claims: 'exclusion and rising tokens while the server keeps what it committed; an asynchronous failover loses it',
    topologies: MARIADB_TOPOLOGIES,
  },
  'mariadb-row-plain': {
    module: './mariadb/mariadb-row-plain.js',
    family: 'mariadb',
    forms: WITH_EXTEND,
    summary: 'mariadb-row without its fencing tokens',
    claims: 'as mariadb-row, for resources that check nothing',
    topologies: MARIADB_TOPOLOGIES,
  },
  'mariadb-insert': {
    module: './mariadb/mariadb-insert.js',
    family: 'mariadb',
    forms: ONE_TRY,
    summary: 'MariaDB: an INSERT on a unique key, and a DELETE; nothing else',
    claims: 'exclusion while the server keeps what it committed; whoever dies holds for ever',
    topologies: MARIADB_TOPOLOGIES,
    lacks: ['expiry'],
  },
  'mariadb-get-lock': {
    module: './mariadb/mariadb-get-lock.js',
    family: 'mariadb',
    forms: ONE_TRY,
    summary: "MariaDB: GET_LOCK, a session's lock, which is kept alive",
    claims: 'exclusion while the server runs; a failover forgets it, however replicas are told; no tokens',
    topologies: MARIADB_TOPOLOGIES,
  },
  'mariadb-get-lock-anywhere': {
    module: './mariadb/mariadb-get-lock-anywhere.js',
    family: 'canary',
    canary: true,
    forms: ONE_TRY,
    summary: 'mariadb-get-lock on whichever server a client is given: primary or replica',
    claims: 'nothing between clients of two servers; mariadb-get-lock is its twin',
    topologies: ['mariadb', 'mariadb-semi-sync'],
  },
  'mariadb-row-read-then-write': {
    module: './mariadb/mariadb-row-read-then-write.js',
    family: 'canary',
    canary: true,
    forms: ONE_TRY,
    summary: 'MariaDB: a SELECT, then an UPDATE that does not ask again',
    claims: 'nothing: two clients that read at once both hold it; mariadb-row is its twin',
    topologies: MARIADB_TOPOLOGIES,
    lacks: ['ownership'],
  },
};

/** Locks on PostgreSQL. */
import { type BuiltinLock, ONE_TRY, WITH_EXTEND } from '../builtin-lock.js';
import { POSTGRES_TOPOLOGIES } from './connections.js';

export const postgresLocks: Record<string, BuiltinLock> = {
  'pg-row': {
    module: './postgres/pg-row.js',
    family: 'postgres',
    forms: WITH_EXTEND,
    summary:
      'PostgreSQL: a row with owner, expiry and a counter, taken by SKIP LOCKED; the counter is the fencing token',
    claims:
      'exclusion and rising tokens while the server keeps what it committed; a failover without synchronous replication loses it',
    topologies: POSTGRES_TOPOLOGIES,
  },
  'pg-row-plain': {
    module: './postgres/pg-row-plain.js',
    family: 'postgres',
    forms: WITH_EXTEND,
    summary: 'pg-row without its fencing tokens',
    claims: 'as pg-row, for resources that check nothing',
    topologies: POSTGRES_TOPOLOGIES,
  },
  'pg-advisory': {
    module: './postgres/pg-advisory.js',
    family: 'postgres',
    forms: ONE_TRY,
    summary: 'PostgreSQL: the advisory lock of a session, which is kept alive',
    claims: 'exclusion while the server runs; a failover forgets it; no tokens',
    topologies: POSTGRES_TOPOLOGIES,
  },
  'pg-advisory-xact': {
    module: './postgres/pg-advisory-xact.js',
    family: 'postgres',
    forms: ONE_TRY,
    summary: 'PostgreSQL: the advisory lock of a transaction that is kept open',
    claims: 'as pg-advisory',
    topologies: POSTGRES_TOPOLOGIES,
  },
  'pg-advisory-anywhere': {
    module: './postgres/pg-advisory-anywhere.js',
    family: 'canary',
    canary: true,
    forms: ONE_TRY,
    summary: 'pg-advisory on whichever server a client is given: primary or replica',
    claims: 'nothing between clients of two servers; pg-advisory is its twin',
    topologies: ['postgres', 'postgres-sync'],
  },
  'pg-row-read-then-write': {
    module: './postgres/pg-row-read-then-write.js',
    family: 'canary',
    canary: true,
    forms: ONE_TRY,
    summary: 'PostgreSQL: a SELECT, then an UPDATE that does not ask again',
    claims: 'nothing: two clients that read at once both hold it; pg-row is its twin',
    topologies: POSTGRES_TOPOLOGIES,
    lacks: ['ownership'],
  },
};

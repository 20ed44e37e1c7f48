/** Locks on MongoDB. */
import { type BuiltinLock, ONE_TRY, WITH_EXTEND } from '../builtin-lock.js';
import { MONGODB_TOPOLOGIES } from './connection.js';

export const mongodbLocks: Record<string, BuiltinLock> = {
  'mongo-lease': {
    module: './mongodb/mongo-lease.js',
    family: 'mongodb',
    forms: WITH_EXTEND,
    summary:
      'MongoDB: a document with owner, end of lease and a counter, taken by findOneAndUpdate if its lease is over; the counter is the fencing token',
    claims:
      'exclusion and rising tokens while the server keeps what it answered; FerretDB 1 takes two steps for it, and grants twice',
    topologies: MONGODB_TOPOLOGIES,
  },
  'mongo-lease-plain': {
    module: './mongodb/mongo-lease-plain.js',
    family: 'mongodb',
    forms: WITH_EXTEND,
    summary: 'mongo-lease without its fencing tokens',
    claims: 'as mongo-lease, for resources that check nothing',
    topologies: MONGODB_TOPOLOGIES,
  },
  'mongo-terms': {
    module: './mongodb/mongo-terms.js',
    family: 'mongodb',
    forms: WITH_EXTEND,
    summary:
      'MongoDB: a document with owner and end of lease for each term, made by an insert once the last one is over; its number is the fencing token',
    claims: 'exclusion and rising tokens while the server keeps what it answered, FerretDB too',
    topologies: MONGODB_TOPOLOGIES,
  },
  'mongo-find-and-modify': {
    module: './mongodb/mongo-find-and-modify.js',
    family: 'mongodb',
    forms: ONE_TRY,
    summary: 'MongoDB: a document that findAndModify makes, and a delete; nothing else',
    claims: 'exclusion while the server keeps what it answered, FerretDB too; whoever dies holds for ever',
    topologies: MONGODB_TOPOLOGIES,
    lacks: ['expiry'],
  },
  'mongo-read-then-write': {
    module: './mongodb/mongo-read-then-write.js',
    family: 'canary',
    canary: true,
    forms: ONE_TRY,
    summary: 'MongoDB: a find, then an update that does not ask again',
    claims: 'nothing: two clients that read at once both hold it; mongo-lease is its twin, and mongo-terms on FerretDB',
    topologies: MONGODB_TOPOLOGIES,
    lacks: ['ownership'],
  },
};

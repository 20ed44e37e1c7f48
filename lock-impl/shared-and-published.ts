/** Locks of several nodes, keys or permits, and published libraries. */
import type { BuiltinLock } from './builtin-lock.js';
import { type Library, libraries, wantedVersion } from './third-party/library.js';

const oneServer = ['single', 'replica', 'sentinel', 'cluster'] as const;
const anything = ['redlock', ...oneServer] as const;

const oneTry = ['acquire(wait, lease)', 'release()'];
const withExtend = [...oneTry, 'extend(lease)'];

/** The summary of a published library starts with what it is, as npm knows it. */
function published(library: Library, text: string): string {
  return `${wantedVersion(library)}: ${text}`;
}

export const moreLocks: Record<string, BuiltinLock> = {
  'redlock-multi': {
    module: './redlock-multi.js',
    family: 'quorum',
    forms: withExtend,
    summary: 'a majority of independent masters asked in turn, built on multi; looks at the wait, not at the lease',
    claims: 'exclusion with a minority down; a majority that comes together late is granted all the same',
    topologies: ['redlock'],
  },
  multi: {
    module: './multi.js',
    family: 'multi',
    forms: withExtend,
    summary: 'three locks, all or none, one after the other; a refused try gives back what it had got',
    claims: 'as set-nx-px; opposite orders do not deadlock; on a Cluster a failover may lose one part of three',
    topologies: oneServer,
  },
  fenced: {
    module: './fenced.js',
    family: 'lease',
    forms: withExtend,
    summary: 'SET NX PX and a token counted up in one script',
    claims: 'as set-nx-px, with rising tokens as long as the server keeps the counter; a failover can repeat one',
    topologies: oneServer,
  },
  'wait-replicated': {
    module: './wait-replicated.js',
    family: 'lease',
    forms: withExtend,
    summary: 'SET NX PX, then WAIT; rolled back when replicas are connected and none acknowledged',
    claims: 'as set-nx-px; a failover loses a grant only if another replica than the one that had it is promoted',
    topologies: oneServer,
  },
  semaphore: {
    module: './semaphore.js',
    family: 'permits',
    forms: oneTry,
    summary: 'a counter of two permits, without owners or expiry',
    claims: 'never more than two hold; a crash leaks a permit for ever',
    topologies: oneServer,
    lacks: ['expiry', 'ownership'],
  },
  'permit-expirable': {
    module: './permit-expirable.js',
    family: 'permits',
    forms: withExtend,
    summary: 'a sorted set of two permits by when they end, by the clocks of the clients',
    claims: 'never more than two hold while the clocks agree; a crashed permit returns after its lease',
    topologies: oneServer,
  },
  'third-party/redlock-4': {
    module: './third-party/redlock-4.js',
    family: 'third-party',
    forms: withExtend,
    summary: published(libraries['redlock-4'], 'lock, extend and unlock'),
    claims: 'Redlock, with a validity check by the wall clock',
    topologies: anything,
  },
  'third-party/redlock-5': {
    module: './third-party/redlock-5.js',
    family: 'third-party',
    forms: withExtend,
    summary: published(libraries['redlock-5'], 'acquire, extend and release'),
    claims: 'Redlock; no look at the lease before a grant',
    topologies: anything,
  },
  'third-party/redlock-5-using': {
    module: './third-party/redlock-5-using.js',
    family: 'third-party',
    forms: ['using(lease)'],
    summary: published(libraries['redlock-5'], 'using, which extends by itself'),
    claims: 'Redlock, extended half a second before it ends; an abort signal when that failed',
    topologies: anything,
  },
  'third-party/redlock-5-using-default-client': {
    module: './third-party/redlock-5-using-default-client.js',
    family: 'third-party',
    forms: ['using(lease)'],
    summary: published(libraries['redlock-5'], 'using, over clients with the settings that ioredis has by itself'),
    claims: 'as redlock-5-using; nodes that hang keep the abort signal waiting',
    topologies: ['redlock'],
  },
  'third-party/sesamecare-redlock': {
    module: './third-party/sesamecare-redlock.js',
    family: 'third-party',
    forms: withExtend,
    summary: published(libraries['sesamecare-redlock'], 'acquire, extend and release'),
    claims: 'Redlock; no look at the lease before a grant',
    topologies: anything,
  },
  'third-party/sesamecare-redlock-using': {
    module: './third-party/sesamecare-redlock-using.js',
    family: 'third-party',
    forms: ['using(lease)'],
    summary: published(libraries['sesamecare-redlock'], 'using, which extends by itself'),
    claims: 'Redlock, extended half a second before it ends; an abort signal when that failed',
    topologies: anything,
  },
  'third-party/redis-semaphore-mutex': {
    module: './third-party/redis-semaphore-mutex.js',
    family: 'third-party',
    forms: oneTry,
    summary: published(libraries['redis-semaphore'], 'Mutex, which refreshes itself'),
    claims: 'as watchdog; told when it is lost; a refresh that fails ends the process',
    topologies: oneServer,
    lacks: ['late-release'],
  },
  'third-party/redis-semaphore-semaphore': {
    module: './third-party/redis-semaphore-semaphore.js',
    family: 'third-party',
    forms: oneTry,
    summary: published(libraries['redis-semaphore'], 'Semaphore with two permits, which refreshes itself'),
    claims: 'never more than two hold while the clocks of the clients agree',
    topologies: oneServer,
    lacks: ['late-release'],
  },
  'third-party/redis-semaphore-redlock-mutex': {
    module: './third-party/redis-semaphore-redlock-mutex.js',
    family: 'third-party',
    forms: oneTry,
    summary: published(libraries['redis-semaphore'], 'RedlockMutex, which refreshes itself'),
    claims: 'a majority of independent masters; no look at the lease before a grant or after a refresh',
    topologies: ['redlock'],
    lacks: ['late-release'],
  },
  'third-party/redis-semaphore-redlock-mutex-default-client': {
    module: './third-party/redis-semaphore-redlock-mutex-default-client.js',
    family: 'third-party',
    forms: oneTry,
    summary: published(
      libraries['redis-semaphore'],
      'RedlockMutex, over clients with the settings that ioredis has by itself',
    ),
    claims: 'as redis-semaphore-redlock-mutex; one node that hangs keeps every refresh waiting',
    topologies: ['redlock'],
    lacks: ['late-release'],
  },
  'third-party/redlock-universal': {
    module: './third-party/redlock-universal.js',
    family: 'third-party',
    forms: withExtend,
    summary: published(libraries['redlock-universal'], 'acquire, extend and release; needs Node.js 22'),
    claims: 'Redlock, with a look at how long each try took; one lock on one server',
    topologies: anything,
  },
};

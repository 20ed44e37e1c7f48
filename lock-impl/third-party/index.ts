/** Published libraries, each behind an adapter in this folder. Modules are relative to the registry, as everywhere. */
import { ANYTHING, type BuiltinLock, INDEPENDENT_NODES, ONE_SERVER, ONE_TRY, WITH_EXTEND } from '../builtin-lock.js';
import { type Library, libraries } from './library.js';
import { nameAndMajor, wantedVersion } from './package-json.js';

/** Versions that have a lock file in `lock-impl/external/npm/pins/`, by package. */
const PINNED: Readonly<Record<string, readonly string[]>> = {
  redlock: ['5.0.0-beta.1'],
  'redis-semaphore': ['5.6.2'],
};

/** What a lock has of the library that it adapts. The summary starts with what that is, as npm knows it. */
function published(library: Library, text: string): Pick<BuiltinLock, 'library' | 'summary' | 'versions'> {
  const wanted = wantedVersion(library);
  const { name, major } = nameAndMajor(wanted);
  const alsoPinned = (PINNED[name] ?? []).filter((version) => version.startsWith(`${major}.`));
  return { library, summary: `${wanted}: ${text}`, versions: { library: name, alsoPinned } };
}

export const publishedLocks: Record<string, BuiltinLock> = {
  'third-party/redlock-4': {
    module: './third-party/redlock-4.js',
    family: 'third-party',
    forms: WITH_EXTEND,
    ...published(libraries['redlock-4'], 'lock, extend and unlock'),
    claims: 'Redlock, with a validity check by the wall clock',
    topologies: ANYTHING,
  },
  'third-party/redlock-5': {
    module: './third-party/redlock-5.js',
    family: 'third-party',
    forms: WITH_EXTEND,
    calls: ['acquire(lease)', 'using(lease)'],
    modules: { 'using(lease)': './third-party/redlock-5-using.js' },
    ...published(libraries['redlock-5'], 'acquire, extend and release'),
    claims: 'Redlock; no look at the lease before a grant',
    topologies: ANYTHING,
  },
  'third-party/redlock-5-using': {
    module: './third-party/redlock-5-using.js',
    family: 'third-party',
    forms: ['using(lease)'],
    ...published(libraries['redlock-5'], 'using, which extends by itself'),
    claims: 'Redlock, extended half a second before it ends; an abort signal when that failed',
    topologies: ANYTHING,
  },
  'third-party/redlock-5-using-default-client': {
    module: './third-party/redlock-5-using-default-client.js',
    family: 'third-party',
    forms: ['using(lease)'],
    ...published(libraries['redlock-5'], 'using, over clients with the settings that ioredis has by itself'),
    claims: 'as redlock-5-using; nodes that hang keep the abort signal waiting',
    topologies: ['redlock'],
  },
  'third-party/sesamecare-redlock': {
    module: './third-party/sesamecare-redlock.js',
    family: 'third-party',
    forms: WITH_EXTEND,
    calls: ['acquire(lease)', 'using(lease)'],
    modules: { 'using(lease)': './third-party/sesamecare-redlock-using.js' },
    ...published(libraries['sesamecare-redlock'], 'acquire, extend and release'),
    claims: 'Redlock; no look at the lease before a grant',
    topologies: ANYTHING,
  },
  'third-party/sesamecare-redlock-using': {
    module: './third-party/sesamecare-redlock-using.js',
    family: 'third-party',
    forms: ['using(lease)'],
    ...published(libraries['sesamecare-redlock'], 'using, which extends by itself'),
    claims: 'Redlock, extended half a second before it ends; an abort signal when that failed',
    topologies: ANYTHING,
  },
  'third-party/redis-semaphore-mutex': {
    module: './third-party/redis-semaphore-mutex.js',
    family: 'third-party',
    forms: ONE_TRY,
    ...published(libraries['redis-semaphore'], 'Mutex, which refreshes itself'),
    claims: 'as watchdog; told when it is lost; a refresh that fails ends the process',
    topologies: ONE_SERVER,
    lacks: ['late-release'],
  },
  'third-party/redis-semaphore-semaphore': {
    module: './third-party/redis-semaphore-semaphore.js',
    family: 'third-party',
    forms: ONE_TRY,
    ...published(libraries['redis-semaphore'], 'Semaphore with two permits, which refreshes itself'),
    claims: 'never more than two hold while the clocks of the clients agree',
    topologies: ONE_SERVER,
    lacks: ['late-release'],
  },
  'third-party/redis-semaphore-redlock-mutex': {
    module: './third-party/redis-semaphore-redlock-mutex.js',
    family: 'third-party',
    forms: ONE_TRY,
    ...published(libraries['redis-semaphore'], 'RedlockMutex, which refreshes itself'),
    claims: 'a majority of independent masters; no look at the lease before a grant or after a refresh',
    topologies: INDEPENDENT_NODES,
    lacks: ['late-release'],
  },
  'third-party/redis-semaphore-redlock-mutex-default-client': {
    module: './third-party/redis-semaphore-redlock-mutex-default-client.js',
    family: 'third-party',
    forms: ONE_TRY,
    ...published(
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
    forms: WITH_EXTEND,
    ...published(libraries['redlock-universal'], 'acquire, extend and release; needs Node.js 22'),
    claims: 'Redlock, with a look at how long each try took; one lock on one server',
    topologies: ANYTHING,
  },
};

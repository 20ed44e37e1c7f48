/**
 * Lock libraries of other languages, by the name that `--lock` takes: which project has them, and what they claim. It is long because it
 * has an entry for each.
 */
import type { ExternalProject } from '../../harness/vocabulary/external.js';
import {
  type BuiltinLock,
  INDEPENDENT_NODES,
  ONE_SERVER,
  ONE_TRY,
  type Versions,
  WITH_EXTEND,
} from '../builtin-lock.js';
import { parseLockSpec } from '../lock-spec.js';

/** A lock whose client is the program of a project, started with the variant as its argument. */
export interface ExternalLock extends Omit<BuiltinLock, 'module' | 'library' | 'canary'> {
  project: ExternalProject;
  variant: string;
  versions: Versions;
}

/** What a lock has of the library that it adapts; the summary begins with that. */
function adapts(library: string, byDefault: string, calls: string, alsoPinned: readonly string[] = []) {
  return { summary: `${library}@${byDefault}: ${calls}`, versions: { library, byDefault, alsoPinned } };
}

const go: ExternalProject = {
  what: 'Go adapters',
  folder: 'go',
  needs: [['go', 'version']],
  remedy: 'install Go 1.26 or newer, so that go is on PATH',
  // What Go's own record of checksums says of other versions is what theirs are held to.
  takeVersion: [['go', 'get', '{library}@{version}']],
  noSuchVersion: '{library}@{version}.*(unknown revision|404|410)|This module version is not available',
  build: [['go', 'build', '-trimpath', '-mod=readonly', '-o', '{built}/client', '.']],
  start: ['{built}/client'],
};

const JVM = [
  'java',
  // The first tier of the compiler: a client lives for seconds, and several start at once.
  '-XX:TieredStopAtLevel=1',
  '-XX:+UseSerialGC',
  '-XX:-UsePerfData',
  // A JVM warns on standard output, which is the protocol's.
  '-Xlog:disable',
  '-Xlog:all=warning:stderr',
];

/** A project whose clients are JVMs; `ownSources` are what it has beside what they have in common. */
function javaProject(what: string, folder: string, ownSources: readonly string[]): ExternalProject {
  const sources = [...['Aside', 'Client', 'Library', 'Refused', 'Resource', 'WarmUp', 'Wire'], ...ownSources];
  return {
    what,
    folder,
    shared: 'java',
    needs: [['java', '-version'], ['javac', '-version'], ['mvn']],
    remedy:
      'install a JDK of version 17 or newer and Maven (Debian, Ubuntu: apt-get install openjdk-17-jdk-headless maven)',
    takeVersion: [['java', 'src/build/java/Package.java', 'take', '{built}', '{library}', '{version}']],
    noSuchVersion: 'Could not find artifact {library}:jar:{version}|{library}:jar:{version} was not found',
    build: [
      ['mvn', '-B', '-q', 'dependency:copy-dependencies', '-DincludeScope=runtime', '-DoutputDirectory={built}/lib'],
      ['java', 'src/build/java/Package.java', 'check', '{built}'],
      [
        ...['javac', '-proc:none', '-d', '{built}/classes', '-cp', '{built}/lib/*'],
        ...sources.map((name) => `src/main/java/${name}.java`),
      ],
      ['java', 'src/build/java/Package.java', 'jar', '{built}'],
      // Keeps the classes that a client loads when it starts, in the form in which the next JVM has them at once.
      [...JVM, '-XX:ArchiveClassesAtExit={built}/classes.jsa', '-jar', '{built}/client.jar', '--warm-up'],
    ],
    // Six at once take some three seconds on two quiet cores, and many times that where the cores have much else to do.
    startsWithinMs: 120_000,
    start: [...JVM, '-XX:SharedArchiveFile={built}/classes.jsa', '-jar', '{built}/client.jar'],
  };
}

const redisson = javaProject('Redisson adapters', 'redisson', ['Channels', 'Form', 'Locks', 'Versions']);
const spring = javaProject('Spring adapters', 'spring', ['Commands', 'Locks']);
const curator = javaProject('Curator adapter', 'curator', [
  ...['Locks', 'Requests', 'Sessions'],
  // Only there ZooKeeper's own client lets itself be looked at.
  'org/apache/zookeeper/ListenedSocket',
]);

const python: ExternalProject = {
  what: 'Python adapters',
  folder: 'python',
  needs: [
    ['python3', '--version'],
    ['python3', '-m', 'ensurepip', '--version'],
  ],
  remedy: 'install Python 3.10 or newer with venv (Debian, Ubuntu: apt-get install python3-venv)',
  takeVersion: [
    [...['sed', '-i', 's/ *--hash=[^ ]*//g; s/ *\\\\$//; s/^{library}==.*/{library}=={version}/'], 'requirements.txt'],
  ],
  noSuchVersion: 'No matching distribution found for {library}=={version}',
  build: [
    ['python3', '-m', 'venv', '{built}/venv'],
    // Wheels that were hashed (where one has a hash, all must), and nothing that runs while it is installed.
    [
      '{built}/venv/bin/pip',
      'install',
      '--quiet',
      '--no-input',
      '--disable-pip-version-check',
      '--only-binary=:all:',
      '--requirement',
      'requirements.txt',
    ],
  ],
  // A dozen packages are imported, by several clients at once.
  startsWithinMs: 60_000,
  start: ['{built}/venv/bin/python', '{built}/libraries.py'],
};

const rust: ExternalProject = {
  what: 'Rust adapters',
  folder: 'rust',
  needs: [
    ['cargo', '--version'],
    ['rustc', '--version'],
  ],
  remedy: 'install Rust 1.88 or newer with cargo (rustup), so that cargo is on PATH',
  takeVersion: [
    ['sed', '-i', 's/^{library} = { version = "[^"]*"/{library} = { version = "={version}"/', 'Cargo.toml'],
    ['cargo', 'fetch', '--quiet'],
  ],
  noSuchVersion: 'failed to select a version for the requirement `{library} = "={version}"`',
  build: [
    ['cargo', 'build', '--quiet', '--release', '--locked', '--target-dir', '{built}/target'],
    ['mv', '{built}/target/release/client', '{built}/client'],
    ['rm', '-r', '{built}/target'],
  ],
  start: ['{built}/client'],
};

/** Those of `RLock`, that which is called by default first. */
const REDISSON_CALLS = ['tryLock(wait, lease)', 'lock()', 'lock(lease)', 'tryLock()', 'tryLock(wait)'];

interface RedissonLock {
  lacks?: ExternalLock['lacks'];
  calls?: readonly string[];
  topologies?: readonly string[];
}

/** Entries that differ in what is called. */
function redissonLock(
  variant: string,
  called: string,
  claims: string,
  { calls, lacks, topologies = ONE_SERVER }: RedissonLock = {},
): ExternalLock {
  return {
    ...adapts('org.redisson:redisson', '4.7.0', called, ['3.16.4', '3.15.6']),
    project: redisson,
    variant,
    family: 'external',
    forms: calls ? [...calls, 'unlock()'] : ONE_TRY,
    ...(calls && { calls }),
    ...(lacks && { lacks }),
    claims,
    topologies,
  };
}

function springLock(variant: string, of: ReturnType<typeof adapts>, claims: string): ExternalLock {
  return { ...of, project: spring, variant, family: 'external', forms: WITH_EXTEND, claims, topologies: ONE_SERVER };
}

const ANYTHING_BUT_SENTINELS = ['redlock', ...ONE_SERVER] as const;

export const externalLocks: Record<string, ExternalLock> = {
  'redisson/rlock': redissonLock(
    'rlock',
    'RLock, tryLock(wait, lease)',
    'as reentrant without its watchdog; a grant that connected replicas did not acknowledge is an error',
    { calls: REDISSON_CALLS },
  ),
  'redisson/rlock-no-sync': redissonLock(
    'rlock-no-sync',
    'RLock, with checkLockSyncedSlaves=false',
    'as set-nx-px; a failover can lose a grant',
    { calls: REDISSON_CALLS },
  ),
  'redisson/watchdog': redissonLock(
    'watchdog',
    'RLock, tryLock(wait): renewed every third of lockWatchdogTimeout, which is the lease',
    'as rlock, for work of any length; a paused client is a stale holder, and it is told nothing of a lost lock',
  ),
  'redisson/kept-object': redissonLock(
    'kept-object',
    'one RLock object for each key, tryLock(wait); with another lease than the usual one, tryLock(wait, lease)',
    'as watchdog; but what is taken after a lease that ended by itself has that lease, and is not renewed in time',
  ),
  'redisson/shutdown': redissonLock(
    'shutdown',
    'RLock, tryLock(wait), given back by closing the Redisson instance',
    'as watchdog, until the instance is closed: nothing is renewed from then on, and the lease ends the lock',
    { lacks: ['ownership'] },
  ),
  'redisson/force-unlock': redissonLock(
    'force-unlock',
    'RLock, given back by forceUnlock()',
    'wrong, as some call it: an unlock asks neither who holds nor how often, so it frees the lock of the next holder',
    { calls: REDISSON_CALLS, lacks: ['ownership'] },
  ),
  'redisson/barging': redissonLock(
    'barging',
    'the fair lock, asked for by a plain tryLock of the same name first',
    'wrong, as where some call getLock and others getFairLock: who has just come passes who waits in the queue',
    { calls: REDISSON_CALLS },
  ),
  'redisson/read-beside-lock': redissonLock(
    'read-beside-lock',
    'RReadWriteLock for readers, and a plain RLock of the same name for writers',
    'wrong, as some mix them: to a reader a plain lock is none, so it reads beside a writer',
    { calls: REDISSON_CALLS },
  ),
  'redisson/permits-added': redissonLock(
    'permits-added',
    'RSemaphore, to which each process adds two permits by addPermits()',
    'wrong, as some set it up: with every process that starts two more hold at once',
  ),
  'redisson/multi': redissonLock(
    'multi',
    'RedissonMultiLock over three locks of one server, or one of each independent node, tryLock(wait, lease)',
    'as rlock, all or none; while one node is away nobody is granted it',
    { calls: REDISSON_CALLS, topologies: [...ONE_SERVER, ...INDEPENDENT_NODES] },
  ),
  'redisson/semaphore': redissonLock(
    'semaphore',
    'RSemaphore with two permits, tryAcquire(wait)',
    'never more than two at once; permits have no owners, and that of a client that dies is lost for ever',
  ),
  'redisson/latch': redissonLock(
    'latch',
    'RCountDownLatch of three, countDown() and await(wait)',
    'no lock: nobody passes before all three have counted; a counter that dies leaves everybody waiting',
  ),
  'redisson/permit-expirable': redissonLock(
    'permit-expirable',
    'RPermitExpirableSemaphore with two permits, tryAcquire(wait, lease)',
    'as semaphore, with permits that have ids and end with their lease',
  ),
  'redisson/spin': redissonLock('spin', 'the spin lock, tryLock(wait, lease)', 'as rlock, without its wake-ups', {
    calls: REDISSON_CALLS,
  }),
  'redisson/fair': redissonLock(
    'fair',
    'the fair lock, tryLock(wait, lease)',
    'as rlock, first come first served; the place of a waiter that died stands in the way for five minutes',
    { calls: REDISSON_CALLS },
  ),
  'redisson/fenced': redissonLock(
    'fenced',
    'RFencedLock, tryLockAndGetToken(wait, lease)',
    'as rlock, with rising tokens as long as the server keeps the counter',
    { calls: REDISSON_CALLS },
  ),
  'redisson/read-write': redissonLock(
    'read-write',
    'RReadWriteLock, tryLock(wait, lease) of either side',
    'as rlock, in two modes: readers share, a writer excludes',
    { calls: REDISSON_CALLS },
  ),
  'redisson/redlock': redissonLock(
    'redlock',
    'RedissonRedLock over a lock for each node',
    'exclusion with a minority down; no look at the lease before a grant',
    { calls: REDISSON_CALLS, topologies: INDEPENDENT_NODES },
  ),
  'spring/lock-registry': springLock(
    'lock-registry',
    adapts(
      'org.springframework.integration:spring-integration-redis',
      '7.1.2',
      'RedisLockRegistry, tryLock(wait, lease), renewLock, unlock',
    ),
    'as set-nx-px; its owner is the process, whose threads exclude each other inside it',
  ),
  'spring/lock-registry-pub-sub': springLock(
    'lock-registry-pub-sub',
    adapts('org.springframework.integration:spring-integration-redis', '7.1.2', 'RedisLockRegistry with PUB_SUB_LOCK'),
    'as lock-registry; waiters are woken by a channel',
  ),
  'spring/shedlock': springLock(
    'shedlock',
    adapts(
      'net.javacrumbs.shedlock:shedlock-provider-redis-spring',
      '7.10.1',
      'RedisLockProvider, lock, extend and unlock',
    ),
    'as set-nx-px-del: an unlock deletes, and an extension overwrites, whatever is there',
  ),
  'spring/shedlock-safe-update': springLock(
    'shedlock-safe-update',
    adapts('net.javacrumbs.shedlock:shedlock-provider-redis-spring', '7.10.1', 'RedisLockProvider with safeUpdate'),
    'as set-nx-px; whether an unlock came too late it does not say',
  ),
  'curator/mutex': {
    project: curator,
    variant: 'mutex',
    family: 'external',
    forms: ONE_TRY,
    ...adapts('org.apache.curator:curator-recipes', '5.9.0', 'InterProcessMutex, acquire(wait) and release()'),
    claims:
      'as zk-lock, the czxid its token; told lost as soon as the connection is suspended; a release says nothing of one that came too late',
    topologies: ['zookeeper', 'zookeeper-single'],
  },
  'go/redsync': {
    project: go,
    variant: 'redsync',
    family: 'external',
    forms: WITH_EXTEND,
    ...adapts('github.com/go-redsync/redsync/v4', 'v4.18.1', 'Lock, Extend and Unlock'),
    claims: 'Redlock, with its validity check; on one server as set-nx-px',
    topologies: ANYTHING_BUT_SENTINELS,
  },
  'go/redislock': {
    project: go,
    variant: 'redislock',
    family: 'external',
    forms: WITH_EXTEND,
    ...adapts('github.com/bsm/redislock', 'v0.9.4', 'Obtain, Refresh and Release'),
    claims: 'as set-nx-px',
    topologies: ONE_SERVER,
  },
  'python/redis-py': {
    project: python,
    variant: 'redis-py',
    family: 'external',
    forms: WITH_EXTEND,
    ...adapts('redis', '8.1.0', 'redis.lock.Lock, acquire, extend and release'),
    claims: 'as set-nx-px',
    topologies: ['single', 'replica', 'sentinel'],
  },
  'python/python-redis-lock': {
    project: python,
    variant: 'python-redis-lock',
    family: 'external',
    forms: WITH_EXTEND,
    ...adapts('python-redis-lock', '4.0.1', 'redis_lock.Lock, acquire, extend and release'),
    claims: 'as set-nx-px, in leases of whole seconds; waiters are woken by a list',
    topologies: ['single', 'replica', 'sentinel'],
  },
  'python/pottery': {
    project: python,
    variant: 'pottery',
    family: 'external',
    forms: WITH_EXTEND,
    ...adapts('pottery', '3.0.1', 'Redlock, acquire, extend and release'),
    claims: 'Redlock, with its validity check; on one server as set-nx-px; three extensions at most',
    topologies: ['redlock', 'single', 'replica'],
  },
  'python/aioredlock': {
    project: python,
    variant: 'aioredlock',
    family: 'external',
    forms: WITH_EXTEND,
    ...adapts('aioredlock', '0.7.3', 'Aioredlock, lock, extend and unlock'),
    claims:
      'Redlock, with its validity check; on one server as set-nx-px; whether an unlock came too late it does not say',
    topologies: ['redlock', 'single', 'replica'],
  },
  'rust/rslock': {
    project: rust,
    variant: 'rslock',
    family: 'external',
    forms: WITH_EXTEND,
    ...adapts('rslock', '0.10.0', 'LockManager, lock, extend and unlock'),
    claims: 'Redlock, with its validity check; on one server as set-nx-px; an unlock does not say what came of it',
    topologies: ['redlock', 'single', 'replica'],
  },
};

/** By its name, with or without what is chosen of it. */
export function externalLock(spec: string): ExternalLock | undefined {
  const { name } = parseLockSpec(spec);
  return Object.hasOwn(externalLocks, name) ? externalLocks[name] : undefined;
}

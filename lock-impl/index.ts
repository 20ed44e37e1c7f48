/** The locks that come with the tool, by the name that `--lock` takes. */
import { fileURLToPath } from 'node:url';
import { type BuiltinLock, INDEPENDENT_NODES, ONE_SERVER, ONE_TRY, WITH_EXTEND } from './builtin-lock.js';
import { canaries } from './canaries.js';
import { etcdLocks } from './etcd/index.js';
import { callOf, parseLockSpec } from './lock-spec.js';
import { mongodbLocks } from './mongodb/index.js';
import { mysqlLocks } from './mysql/index.js';
import { postgresLocks } from './postgres/index.js';
import { expiringFields, waitsForDisks } from './server-needs.js';
import { publishedLocks } from './third-party/index.js';
import { type Library, nodeRedis } from './third-party/library.js';
import { zookeeperLocks } from './zookeeper/index.js';

export type { BuiltinLock } from './builtin-lock.js';

/** Of the class in `reentrant-lock.ts`. */
const allForms = [
  'lock()',
  'lock(lease)',
  'tryLock()',
  'tryLock(wait)',
  'tryLock(wait, lease)',
  'unlock()',
  'isHeld()',
  'isHeldByMe()',
  'holdCount()',
  'forceUnlock()',
];

export const locks: Record<string, BuiltinLock> = {
  setnx: {
    module: './setnx.js',
    family: 'naive',
    forms: ONE_TRY,
    summary: 'SETNX and DEL, without an expiry',
    claims: 'exclusion; a holder that crashes holds for ever',
    topologies: ONE_SERVER,
    lacks: ['expiry', 'ownership'],
  },
  'setnx-expire': {
    module: './setnx-expire.js',
    family: 'naive',
    forms: ONE_TRY,
    summary: 'SETNX, then EXPIRE; DEL',
    claims: 'a crash between the two commands holds for ever; an expired holder deletes the lock of the next',
    topologies: ONE_SERVER,
    lacks: ['ownership'],
  },
  'set-nx-px-del': {
    module: './set-nx-px-del.js',
    family: 'naive',
    forms: ONE_TRY,
    summary: 'SET NX PX; a plain DEL',
    claims: 'an expired holder deletes the lock of the next',
    topologies: ONE_SERVER,
    lacks: ['ownership'],
  },
  'set-nx-px-get-del': {
    module: './set-nx-px-get-del.js',
    family: 'naive',
    forms: ONE_TRY,
    summary: 'SET NX PX with a random value; GET, compare in the client, DEL',
    claims: 'a pause between GET and DEL deletes the lock of the next',
    topologies: ONE_SERVER,
  },
  'set-nx-px': {
    module: './set-nx-px.js',
    family: 'lease',
    forms: WITH_EXTEND,
    summary: 'SET NX PX with a random value; release and extend by scripts that compare it',
    claims: 'exclusion on one server that does not forget; a failover can lose a grant; no fencing',
    topologies: ONE_SERVER,
  },
  'set-nx-px-node-redis': {
    module: './set-nx-px-node-redis.js',
    family: 'lease',
    forms: WITH_EXTEND,
    library: nodeRedis,
    summary: "set-nx-px over Redis' own client, the npm package redis 5 or 6",
    claims: 'as set-nx-px',
    topologies: ONE_SERVER,
  },
  ifeq: {
    module: './ifeq.js',
    family: 'lease',
    forms: WITH_EXTEND,
    summary: 'SET NX PX; DELIFEQ and SET IFEQ PX where the server has them (Valkey 9), else scripts',
    claims: 'as set-nx-px',
    topologies: ONE_SERVER,
  },
  delex: {
    module: './delex.js',
    family: 'lease',
    forms: WITH_EXTEND,
    summary: 'SET NX PX; DELEX IFEQ and SET IFEQ PX where the server has them (Redis 8.4), else scripts',
    claims: 'as set-nx-px',
    topologies: ONE_SERVER,
  },
  fcall: {
    module: './fcall.js',
    family: 'lease',
    forms: WITH_EXTEND,
    summary: 'set-nx-px by functions of the server, which are kept and replicated; loaded again where they are missing',
    claims: 'as set-nx-px; needs Redis 7.0 or Valkey, and is not for a Cluster',
    topologies: ['single', 'replica', 'sentinel'],
  },
  watchdog: {
    module: './watchdog.js',
    family: 'lease',
    forms: ONE_TRY,
    summary: 'set-nx-px, renewed every third of the lease while it is held',
    claims:
      'as set-nx-px, for work of any length; a paused client is a stale holder, a forgotten release holds for ever',
    topologies: ONE_SERVER,
  },
  reentrant: {
    module: './reentrant.js',
    family: 'reentrant',
    forms: allForms,
    summary: 'a hash of owner and count, with a watchdog; an unlock wakes those who wait by pub/sub',
    claims: 'as watchdog, and its owner may lock again; a lost wake-up costs one lease at most',
    topologies: ONE_SERVER,
  },
  fair: {
    module: './fair.js',
    family: 'reentrant',
    forms: allForms,
    summary: 'reentrant, with a queue and a deadline for each waiter in it',
    claims: 'as reentrant, first come first served; a dead waiter delays the others for one lease at most',
    topologies: ONE_SERVER,
  },
  'read-write': {
    module: './read-write.js',
    family: 'reentrant',
    forms: allForms.map((form) => `readLock/writeLock ${form}`),
    summary: 'reentrant, in two modes: readers share, a writer excludes',
    claims: 'as reentrant; a writer may read too, a reader that wants to write is in its own way; writers may starve',
    topologies: ONE_SERVER,
  },
  spin: {
    module: './spin.js',
    family: 'reentrant',
    forms: allForms,
    summary: 'reentrant, whose waiters try again after pauses that double, without pub/sub',
    claims: 'as reentrant, without its wake-ups',
    topologies: ONE_SERVER,
  },
  ...etcdLocks,
  ...zookeeperLocks,
  ...postgresLocks,
  ...mysqlLocks,
  ...mongodbLocks,
  redlock: {
    module: './redlock.js',
    family: 'quorum',
    forms: WITH_EXTEND,
    summary: 'the Redlock algorithm over N independent masters, with its validity check',
    claims: 'exclusion while a minority of the nodes is down, as long as no node forgets or runs fast; no fencing',
    topologies: INDEPENDENT_NODES,
  },
  'redlock-multi': {
    module: './redlock-multi.js',
    family: 'quorum',
    forms: WITH_EXTEND,
    summary: 'a majority of independent masters asked in turn, built on multi; looks at the wait, not at the lease',
    claims: 'exclusion with a minority down; a majority that comes together late is granted all the same',
    topologies: INDEPENDENT_NODES,
  },
  multi: {
    module: './multi.js',
    family: 'multi',
    forms: WITH_EXTEND,
    summary: 'three locks, all or none, one after the other; a refused try gives back what it had got',
    claims:
      'as set-nx-px; opposite orders do not deadlock; a failover of one shard, or one node that forgets, loses one part',
    topologies: [...ONE_SERVER, 'redlock'],
  },
  fenced: {
    module: './fenced.js',
    family: 'lease',
    forms: WITH_EXTEND,
    summary: 'SET NX PX and a token counted up in one script',
    claims: 'as set-nx-px, with rising tokens as long as the server keeps the counter; a failover can repeat one',
    topologies: ONE_SERVER,
  },
  'wait-replicated': {
    module: './wait-replicated.js',
    family: 'lease',
    forms: WITH_EXTEND,
    summary: 'SET NX PX, then WAIT; rolled back when replicas are connected and none acknowledged',
    claims: 'as set-nx-px; a failover loses a grant only if another replica than the one that had it is promoted',
    topologies: ONE_SERVER,
  },
  waitaof: {
    module: './waitaof.js',
    family: 'lease',
    forms: WITH_EXTEND,
    summary:
      'SET NX PX, then WAITAOF; rolled back where it is not on disk, here and on one replica if any is connected',
    claims: 'as set-nx-px, and a loss of power forgets no grant; needs Redis 7.2 or Valkey, and --persistence aof-…',
    topologies: ['single', 'replica', 'sentinel'],
    serverNeeds: waitsForDisks,
  },
  'hash-ttl': {
    module: './hash-ttl.js',
    family: 'read-write',
    forms: WITH_EXTEND.map((form) => `readLock/writeLock ${form}`),
    summary: 'readers and writer are fields of one hash that expire by themselves (HPEXPIRE)',
    claims: 'readers share, a writer excludes, by no clock but the server’s; needs Redis 7.4 or Valkey 9',
    topologies: ONE_SERVER,
    serverNeeds: expiringFields,
  },
  'hash-ttl-semaphore': {
    module: './hash-ttl-semaphore.js',
    family: 'permits',
    forms: WITH_EXTEND,
    summary: 'two permits, fields of one hash that expire by themselves (HPEXPIRE)',
    claims: 'never more than two hold, by no clock but the server’s; needs Redis 7.4 or Valkey 9',
    topologies: ONE_SERVER,
    serverNeeds: expiringFields,
  },
  semaphore: {
    module: './semaphore.js',
    family: 'permits',
    forms: ONE_TRY,
    summary: 'a counter of two permits, without owners or expiry',
    claims: 'never more than two hold; a crash leaks a permit for ever',
    topologies: ONE_SERVER,
    lacks: ['expiry', 'ownership'],
  },
  'permit-expirable': {
    module: './permit-expirable.js',
    family: 'permits',
    forms: WITH_EXTEND,
    summary: 'a sorted set of two permits by when they end, by the clocks of the clients',
    claims: 'never more than two hold while the clocks agree; a crashed permit returns after its lease',
    topologies: ONE_SERVER,
  },
  latch: {
    module: './latch.js',
    family: 'permits',
    forms: ['countDown()', 'await(wait)'],
    summary: 'no lock: a count-down latch of three clients, for the workload latch',
    claims: 'nobody passes before all three have counted; a counter that dies leaves everybody waiting',
    topologies: ONE_SERVER,
    lacks: ['expiry', 'ownership'],
  },
  ...publishedLocks,
  ...canaries,
};

/** A lock that comes with the tool. */
export interface BuiltinModule {
  /** Absolute. */
  modulePath: string;
  /** Where it makes sense. */
  topologies: readonly string[];
  library?: Library;
  /** It imports a package that the client program has not in it: where packages are not, it must bring that along. */
  hasPackage?: true;
}

/** Where those are. */
const WITH_PACKAGES = ['./postgres/', './mysql/', './mongodb/'];

/** By its name, with or without what is chosen of it. Undefined for an unknown name. */
export function builtinLock(spec: string): BuiltinModule | undefined {
  const { name, form } = parseLockSpec(spec);
  if (!Object.hasOwn(locks, name)) return undefined;
  const { library, topologies, calls, modules, ...others } = locks[name]!;
  const module = modules?.[callOf(form, calls) ?? ''] ?? others.module;
  return {
    modulePath: fileURLToPath(new URL(module, import.meta.url)),
    topologies,
    ...(library && { library }),
    ...(WITH_PACKAGES.some((folder) => module.startsWith(folder)) && { hasPackage: true }),
  };
}

/** The locks that come with the tool, by the name that `--lock` takes. */
import { fileURLToPath } from 'node:url';
import type { BuiltinLock } from './builtin-lock.js';
import { canaries } from './canaries.js';
import { moreLocks } from './shared-and-published.js';

export type { BuiltinLock } from './builtin-lock.js';

/** Where a lock has one logical server to deal with. */
const oneServer = ['single', 'replica', 'sentinel', 'cluster'] as const;

/** What a lock that is nothing but its adapter can be asked. */
const oneTry = ['acquire(wait, lease)', 'release()'];
const withExtend = [...oneTry, 'extend(lease)'];
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
    forms: oneTry,
    summary: 'SETNX and DEL, without an expiry',
    claims: 'exclusion; a holder that crashes holds for ever',
    topologies: oneServer,
    lacks: ['expiry', 'ownership'],
  },
  'setnx-expire': {
    module: './setnx-expire.js',
    family: 'naive',
    forms: oneTry,
    summary: 'SETNX, then EXPIRE; DEL',
    claims: 'a crash between the two commands holds for ever; an expired holder deletes the lock of the next',
    topologies: oneServer,
    lacks: ['ownership'],
  },
  'set-nx-px-del': {
    module: './set-nx-px-del.js',
    family: 'naive',
    forms: oneTry,
    summary: 'SET NX PX; a plain DEL',
    claims: 'an expired holder deletes the lock of the next',
    topologies: oneServer,
    lacks: ['ownership'],
  },
  'set-nx-px-get-del': {
    module: './set-nx-px-get-del.js',
    family: 'naive',
    forms: oneTry,
    summary: 'SET NX PX with a random value; GET, compare in the client, DEL',
    claims: 'a pause between GET and DEL deletes the lock of the next',
    topologies: oneServer,
  },
  'set-nx-px': {
    module: './set-nx-px.js',
    family: 'lease',
    forms: withExtend,
    summary: 'SET NX PX with a random value; release and extend by scripts that compare it',
    claims: 'exclusion on one server that does not forget; a failover can lose a grant; no fencing',
    topologies: oneServer,
  },
  watchdog: {
    module: './watchdog.js',
    family: 'lease',
    forms: oneTry,
    summary: 'set-nx-px, renewed every third of the lease while it is held',
    claims:
      'as set-nx-px, for work of any length; a paused client is a stale holder, a forgotten release holds for ever',
    topologies: oneServer,
  },
  reentrant: {
    module: './reentrant.js',
    family: 'reentrant',
    forms: allForms,
    summary: 'a hash of owner and count, with a watchdog; an unlock wakes those who wait by pub/sub',
    claims: 'as watchdog, and its owner may lock again; a lost wake-up costs one lease at most',
    topologies: oneServer,
  },
  fair: {
    module: './fair.js',
    family: 'reentrant',
    forms: allForms,
    summary: 'reentrant, with a queue and a deadline for each waiter in it',
    claims: 'as reentrant, first come first served; a dead waiter delays the others for one lease at most',
    topologies: oneServer,
  },
  'read-write': {
    module: './read-write.js',
    family: 'reentrant',
    forms: allForms.map((form) => `readLock/writeLock ${form}`),
    summary: 'reentrant, in two modes: readers share, a writer excludes',
    claims: 'as reentrant; a writer may read too, a reader that wants to write is in its own way; writers may starve',
    topologies: oneServer,
  },
  spin: {
    module: './spin.js',
    family: 'reentrant',
    forms: allForms,
    summary: 'reentrant, whose waiters try again after pauses that double, without pub/sub',
    claims: 'as reentrant, without its wake-ups',
    topologies: oneServer,
  },
  redlock: {
    module: './redlock.js',
    family: 'quorum',
    forms: withExtend,
    summary: 'the Redlock algorithm over N independent masters, with its validity check',
    claims: 'exclusion while a minority of the nodes is down, as long as no node forgets or runs fast; no fencing',
    topologies: ['redlock'],
  },
  ...moreLocks,
  ...canaries,
};

/** The absolute path of a lock's module, and where it makes sense; undefined for an unknown name. */
export function builtinLock(name: string): { modulePath: string; topologies: readonly string[] } | undefined {
  if (!Object.hasOwn(locks, name)) return undefined;
  const { module, topologies } = locks[name]!;
  return { modulePath: fileURLToPath(new URL(module, import.meta.url)), topologies };
}

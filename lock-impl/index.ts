/** The locks that come with the tool, by the name that `--lock` takes. */
import { fileURLToPath } from 'node:url';

export interface BuiltinLock {
  /** The compiled module, relative to this one. */
  module: `./${string}.js`;
  /** One line for `list`. */
  summary: string;
  /** What is claimed of it, to be held against what a run finds. */
  claims: string;
  topologies: readonly string[];
  /** Known to be broken (or the mended twin of one that is): there to test the tool, not to be used. */
  canary?: boolean;
}

/** Where a lock has one logical server to deal with. */
const oneServer = ['single', 'replica', 'sentinel', 'cluster'] as const;

export const locks: Record<string, BuiltinLock> = {
  'set-nx-px': {
    module: './set-nx-px.js',
    summary: 'SET NX PX with a random value; release and extend by scripts that compare it',
    claims: 'exclusion on one server that does not forget; a failover can lose a grant; no fencing',
    topologies: oneServer,
  },
  redlock: {
    module: './redlock.js',
    summary: 'the Redlock algorithm over N independent masters, with its validity check',
    claims: 'exclusion while a minority of the nodes is down, as long as no node forgets or runs fast; no fencing',
    topologies: ['redlock'],
  },
  'broken/blind-del': {
    module: './broken/blind-del.js',
    summary: 'releases with a plain DEL',
    claims: 'an expired holder deletes the lock of the next',
    topologies: oneServer,
    canary: true,
  },
  'broken/blind-del-mended': {
    module: './broken/blind-del-mended.js',
    summary: 'the same, releasing only what is its own',
    claims: 'exclusion; a holder that outlives its lease is stale',
    topologies: oneServer,
    canary: true,
  },
  'broken/lease-in-seconds': {
    module: './broken/lease-in-seconds.js',
    summary: 'gives PX seconds instead of milliseconds',
    claims: 'the lock ends a thousand times too early',
    topologies: oneServer,
    canary: true,
  },
  'broken/lease-in-seconds-mended': {
    module: './broken/lease-in-seconds-mended.js',
    summary: 'the same, with milliseconds',
    claims: 'exclusion',
    topologies: oneServer,
    canary: true,
  },
  'broken/half-quorum': {
    module: './broken/half-quorum.js',
    summary: 'Redlock that takes half of the nodes for a majority',
    claims: 'two clients that start at once both hold',
    topologies: ['redlock'],
    canary: true,
  },
  'broken/half-quorum-mended': {
    module: './broken/half-quorum-mended.js',
    summary: 'the same, with more than half',
    claims: 'exclusion',
    topologies: ['redlock'],
    canary: true,
  },
  'broken/shared-owner': {
    module: './broken/shared-owner.js',
    summary: 'one owner id for all clients',
    claims: 'everybody takes the lock for its own',
    topologies: oneServer,
    canary: true,
  },
  'broken/shared-owner-mended': {
    module: './broken/shared-owner-mended.js',
    summary: 'the same, with an owner id for each client',
    claims: 'exclusion',
    topologies: oneServer,
    canary: true,
  },
};

/** The absolute path of a lock's module, and where it makes sense; undefined for an unknown name. */
export function builtinLock(name: string): { modulePath: string; topologies: readonly string[] } | undefined {
  if (!Object.hasOwn(locks, name)) return undefined;
  const { module, topologies } = locks[name]!;
  return { modulePath: fileURLToPath(new URL(module, import.meta.url)), topologies };
}

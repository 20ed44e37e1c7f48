import type { WithServerNeeds } from '../harness/vocabulary/topology.js';
import type { Library } from './third-party/library.js';

/** What the registry says of a lock that comes with the tool. */
export interface BuiltinLock extends WithServerNeeds {
  /** The compiled module, relative to the registry. */
  module: `./${string}.js`;
  /** The published library that it adapts, or whose client it takes, which the user's project has or has not. */
  library?: Library;
  /** What it is a kind of: `naive`, `lease`, `reentrant`, `quorum`, ... */
  family: string;
  /** What its users can ask of it: `lock(lease)`, `tryLock(wait)`, ... The harness uses one of them. */
  forms: readonly string[];
  /** Those of `forms` that `--lock name:form` chooses from, the default first; absent: the harness uses but one. */
  calls?: readonly string[];
  /** By the call, the module of one that has a module of its own. Absent, or not in it: `module`. */
  modules?: Readonly<Record<string, `./${string}.js`>>;
  /** The versions that `--lock name@version` chooses from; absent: none can be chosen. */
  versions?: Versions;
  /** One line for `list`. */
  summary: string;
  /** What is claimed of it, to be held against what a run finds. */
  claims: string;
  topologies: readonly string[];
  /** What any lock is taken to have, and this one by design has not. */
  lacks?: readonly Lack[];
  /** Known to be broken (or the mended twin of one that is): there to test the tool, not to be used. */
  canary?: boolean;
}

/** Any version of a published library may be asked for; what is downloaded of those that are pinned is checked. */
export interface Versions {
  /** As its registry calls it: `org.redisson:redisson`. */
  library: string;
  /** Which is taken where none is named; absent: the one that the user's project has. */
  byDefault?: string;
  /** Others for which hashes of all that is downloaded are kept beside the adapter. */
  alsoPinned: readonly string[];
}

/**
 * - `expiry`: the lock of a holder that crashed becomes free by itself;
 * - `ownership`: a holder that outlived its lease leaves the next one's lock alone;
 * - `late-release`: a holder that outlived its lease learns of it when it releases.
 */
export type Lack = 'expiry' | 'ownership' | 'late-release';

/** Topologies on which a lock has one logical server to deal with. */
export const ONE_SERVER = ['single', 'replica', 'sentinel', 'cluster'] as const;

/** Topologies of independent nodes, of which a lock asks a majority, or all. */
export const INDEPENDENT_NODES = ['redlock', 'redlock-sentinel'] as const;

export const ANYTHING = [...INDEPENDENT_NODES, ...ONE_SERVER] as const;

/** What a lock that is nothing but its adapter can be asked. */
export const ONE_TRY: readonly string[] = ['acquire(wait, lease)', 'release()'];
export const WITH_EXTEND: readonly string[] = [...ONE_TRY, 'extend(lease)'];

/** What is said of a canary and its twin. */
import type { WithServerNeeds } from '../../harness/vocabulary/topology.js';
import { ONE_TRY } from '../builtin-lock.js';

export const replicated = ['replica', 'sentinel'] as const;
export const independent = ['redlock'] as const;

export const readWriteForms = ONE_TRY.map((form) => `readLock/writeLock ${form}`);

/** A canary and its twin, which are modules of the same name in `../broken/`. */
export interface CanaryPair extends WithServerNeeds {
  topologies: readonly string[];
  forms: readonly string[];
  /** What it does, and what goes wrong by it. */
  summary: string;
  claims: string;
  /** What the twin does instead, and what may be expected of that. */
  mended: string;
  mendedClaims: string;
}

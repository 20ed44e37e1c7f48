/** Canaries whose mistake lies with how a lock is let go. */
import { ONE_SERVER, ONE_TRY, WITH_EXTEND } from '../builtin-lock.js';
import type { CanaryPair } from './pair.js';

export const lettingGoPairs: Record<string, CanaryPair> = {
  'blind-del': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'releases with a plain DEL',
    claims: 'an expired holder deletes the lock of the next',
    mended: 'the same, releasing only what is its own',
    mendedClaims: 'exclusion; a holder that outlives its lease is stale',
  },
  'reused-owner': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'one owner value for all that a client ever takes',
    claims: 'the late release of an expired hold frees a later one of the same client',
    mended: 'the same, with a value for each try',
    mendedClaims: 'exclusion; a late release is refused',
  },
  'swapped-arguments': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a reentrant unlock that looks at one argument and counts down another',
    claims: 'never unlocks, and says that it did; the watchdog keeps it for ever',
    mended: 'the same, counting down what it looks at',
    mendedClaims: 'exclusion; every unlock counts',
  },
  'silent-unlock': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'compares before it releases, and reports success in any case',
    claims: 'exclusion; a holder that outlived its lease is not told',
    mended: 'the same, passing on what the comparison said',
    mendedClaims: 'exclusion; a late release is refused',
  },
};

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
  'deleted-until-gone': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'asks after its release whether there is a key, and deletes it',
    claims: 'deletes the lock of the next one, who was quick',
    mended: 'the same, going by what the release answered',
    mendedClaims: 'exclusion',
  },
  'serialised-owner': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'stores a serialised owner and compares it with the plain one',
    claims: 'no release finds its own lock, and each stays for its whole lease',
    mended: 'the same, serialising both',
    mendedClaims: 'exclusion',
  },
  'token-cleared-first': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'clears its token before the round trip of the release',
    claims: 'a release that failed cannot be tried again, and the watchdog keeps the lock for ever',
    mended: 'the same, clearing it when the release was answered',
    mendedClaims: 'exclusion; a release that failed is tried again',
  },
  janitor: {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a janitor that takes for an orphan whatever its own process does not hold',
    claims: 'who waits for a lock sweeps it away from under its holder',
    mended: 'the same, asking the list that all clients keep',
    mendedClaims: 'exclusion',
  },
  'part-kept': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'two keys, both or none, and a refused try that keeps the one it got',
    claims: 'clients that ask in opposite orders keep each other out, again and again',
    mended: 'the same, giving back what it got',
    mendedClaims: 'exclusion; a refused try leaves nothing behind',
  },
};

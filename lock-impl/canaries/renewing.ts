/** Canaries whose mistake lies with how a lease is renewed or extended. */
import { ONE_SERVER, ONE_TRY, WITH_EXTEND } from '../builtin-lock.js';
import type { CanaryPair } from './pair.js';

export const renewingPairs: Record<string, CanaryPair> = {
  'renewal-unchecked': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a background renewal by a plain PEXPIRE',
    claims: 'a client that was paused for a lease renews the lock of the next, and believes to hold',
    mended: 'the same, renewing only what is its own',
    mendedClaims: 'exclusion; a paused client is a stale holder until its next renewal',
  },
  'renewal-recreates': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a background renewal that makes a key again which is gone',
    claims: 'a client that was paused goes on as if no other had held meanwhile',
    mended: 'the same, to which a key that is gone is lost',
    mendedClaims: 'exclusion; a paused client is a stale holder until its next renewal',
  },
  'watchdog-dies': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a watchdog that ends with the first renewal that fails',
    claims: 'after one failed renewal the lock expires under its holder, who is not told',
    mended: 'the same, trying again at the next tick',
    mendedClaims: 'one failed renewal costs nothing',
  },
  'extend-expired': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'extends by setting the key again, whatever is in it',
    claims: 'an expired holder extends, and takes the lock away from the next',
    mended: 'the same, extending only what is its own',
    mendedClaims: 'exclusion; a late extension is refused',
  },
  'renewal-entry-left': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a table of renewals in which one that has failed stays',
    claims: 'the next lock of that name is never renewed, and expires under its holder',
    mended: 'the same, taking it out',
    mendedClaims: 'exclusion; one failed renewal costs one hold',
  },
  'evicted-while-held': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a table of renewals with room for one lock',
    claims: 'who takes a second lock forgets to renew the first',
    mended: 'the same, with room for all',
    mendedClaims: 'exclusion, for as many locks as a client holds',
  },
  'renewed-after-giving-up': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'begins to renew when a grant comes, though its caller has given up',
    claims: 'one late answer, and the lock is renewed for ever without a holder',
    mended: 'the same, giving such a grant back',
    mendedClaims: 'exclusion; a late answer costs nothing',
  },
  'extend-by-zero': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'extends by the time that it was given, which is 0 where none was',
    claims: 'the extension deletes the key, and is confirmed',
    mended: 'the same, with the lease for the usual time',
    mendedClaims: 'exclusion; a late extension is refused',
  },
};

/** Canaries whose mistake lies with read-write locks, permits and fencing tokens. */
import { ONE_SERVER, ONE_TRY, WITH_EXTEND } from '../builtin-lock.js';
import { expiringFields } from '../server-needs.js';
import { type CanaryPair, readWriteForms } from './pair.js';

export const sharingPairs: Record<string, CanaryPair> = {
  'upgrade-beside-readers': {
    topologies: ONE_SERVER,
    forms: readWriteForms,
    summary: 'a read-write lock that lets any reader write',
    claims: 'two readers that upgrade are two writers',
    mended: 'the same, letting only a reader write who is alone',
    mendedClaims: 'exclusion; two readers that want to upgrade wait for each other',
  },
  'fence-per-client': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'fencing tokens that each client counts for itself',
    claims: 'a later grant gets a lower token, or the same; the resource takes the stale holder for the newer one',
    mended: 'the same, with one counter beside the lock',
    mendedClaims: 'rising tokens as long as the server keeps the counter',
  },
  'token-before-wait': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'draws its fencing token before it waits for the lock',
    claims: 'a later grant has a lower token, and the resource refuses its lawful holder',
    mended: 'the same, drawing it in the script that takes the lock',
    mendedClaims: 'rising tokens as long as the server keeps the counter',
  },
  'permit-returned-twice': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a semaphore whose permits are returned by their holder and by a timer',
    claims: 'one lease after the first release there are more permits than there should be',
    mended: 'the same, each permit with a name and a lease: the second return finds none',
    mendedClaims: 'never more than two hold; a permit that was lost comes back after its lease',
  },
  'renews-dead-readers': {
    topologies: ONE_SERVER,
    forms: readWriteForms,
    summary: 'a watchdog that renews whoever is in the lock',
    claims: 'a reader that died reads for as long as others live, and no client writes',
    mended: 'the same, renewing each hold for itself',
    mendedClaims: 'exclusion; a dead reader is gone after a lease',
  },
  'short-reader-shortens': {
    topologies: ONE_SERVER,
    forms: readWriteForms,
    summary: 'counts its readers in a key that expires with the lease of the latest',
    claims: 'a writer gets in beside a reader that asked for longer',
    mended: 'the same, each reader with a name and a lease of its own',
    mendedClaims: 'exclusion',
  },
  'first-reader-expires': {
    topologies: ONE_SERVER,
    forms: readWriteForms,
    summary: 'counts its readers in a key that expires with the lease of the first',
    claims: 'a writer gets in beside readers that came later',
    mended: 'the same, each reader with a name and a lease of its own',
    mendedClaims: 'exclusion',
  },
  'return-sent-again': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a semaphore whose permits are a number, and a return that is sent again',
    claims: 'a return that was carried out and not answered makes one permit more',
    mended: 'the same, with a name for each permit',
    mendedClaims: 'never more than two hold',
  },
  'permits-expire-together': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a semaphore whose number of permits expires with the lease of the first',
    claims: 'more hold than there are permits, one lease after the first',
    mended: 'the same, with an end for each permit',
    mendedClaims: 'never more than two hold',
  },
  'wrong-field': {
    topologies: ONE_SERVER,
    forms: readWriteForms,
    summary: 'holders are fields of a hash, and HPEXPIRE is given another name than the field has',
    claims: 'a holder that dies holds for ever',
    mended: 'the same, with the name of the field',
    mendedClaims: 'exclusion; a dead holder delays the others for one lease at most',
    serverNeeds: expiringFields,
  },
};

/** Canaries whose mistake lies with read-write locks, permits and fencing tokens. */
import { ONE_SERVER, ONE_TRY, WITH_EXTEND } from '../builtin-lock.js';
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
    mended: 'the same, returning each once',
    mendedClaims: 'never more than two hold; a permit may be lost',
  },
};

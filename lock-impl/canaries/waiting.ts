/** Canaries whose mistake lies with those who wait. */
import { ONE_SERVER, ONE_TRY, WITH_EXTEND } from '../builtin-lock.js';
import type { CanaryPair } from './pair.js';

export const waitingPairs: Record<string, CanaryPair> = {
  'lost-wake-up': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a waiter that sleeps until an unlock is published',
    claims: 'when a holder dies no waiter is woken: they sleep beside a free lock until their wait is over',
    mended: 'the same, looking again when the lease of the holder is over',
    mendedClaims: 'a lost wake-up costs one lease at most',
  },
  'queue-jumper': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a fair lock with a fast path for newcomers',
    claims: 'who comes between a release and the one who is next gets in before the whole queue',
    mended: 'the same without the fast path',
    mendedClaims: 'first come first served',
  },
  'overstayed-try': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'tries twice, three seconds apart, whatever wait it was given',
    claims: 'a try without a wait is answered after seconds',
    mended: 'the same, with as many tries as fit into the wait',
    mendedClaims: 'exclusion, and an answer in time',
  },
  'abandoned-ticket': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a queue in which those who give up leave their ticket',
    claims: 'when that ticket comes to the head, the free lock is granted to no client',
    mended: 'the same, taking the ticket back, and dropping those of clients that ask no more',
    mendedClaims: 'exclusion; everyone who goes on asking is granted in turn',
  },
  'first-try-clock': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'reckons its lease from the first of its tries',
    claims: 'who has waited for a lease does not ask any more, and sleeps beside a free lock',
    mended: 'the same, from each try',
    mendedClaims: 'exclusion',
  },
  'waiter-dropped': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a fair lock that takes its waiters for dead before they are due',
    claims: 'who sleeps until it is its turn loses its place to those who came later',
    mended: 'the same, giving them a lease',
    mendedClaims: 'first come first served',
  },
};

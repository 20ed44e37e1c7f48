/** Canaries whose mistake lies with independent nodes, and replicas. */
import { ONE_TRY, WITH_EXTEND } from '../builtin-lock.js';
import { type CanaryPair, independent, replicated } from './pair.js';

export const severalServersPairs: Record<string, CanaryPair> = {
  'half-quorum': {
    topologies: independent,
    forms: ONE_TRY,
    summary: 'Redlock that takes half of the nodes for a majority',
    claims: 'two clients that start at once both hold',
    mended: 'the same, with more than half',
    mendedClaims: 'exclusion',
  },
  'no-validity-check': {
    topologies: independent,
    forms: ONE_TRY,
    summary: 'Redlock that does not look at how long it took',
    claims: 'a majority that comes together when its lease is over is granted, while another client holds',
    mended: 'the same, with what has passed off the lease',
    mendedClaims: 'exclusion; such a grant is refused as granted-late',
  },
  'wall-clock-validity': {
    topologies: independent,
    forms: ONE_TRY,
    summary: 'Redlock that measures its validity by the wall clock',
    claims: 'a clock that is set back while the nodes are asked grants what came too late',
    mended: 'the same, by the monotonic clock',
    mendedClaims: 'exclusion, whatever becomes of the clock of the client',
  },
  'release-where-acquired': {
    topologies: independent,
    forms: ONE_TRY,
    summary: 'Redlock whose failed tries give back only what they know that they got',
    claims: 'a node whose answer was lost stays taken for a lease, though no client holds',
    mended: 'the same, giving back to all that were asked',
    mendedClaims: 'a failed try leaves nothing behind on nodes that can be reached',
  },
  'one-acknowledgement': {
    topologies: replicated,
    forms: ONE_TRY,
    summary: 'SET NX PX, then WAIT for one of two replicas',
    claims: 'the replica that did not acknowledge is promoted, and gives the lock to the next client',
    mended: 'the same, waiting for both',
    mendedClaims: 'a failover to either of two replicas keeps the grant; while one is away nothing is granted',
  },
  'extend-error-releases': {
    topologies: independent,
    forms: WITH_EXTEND,
    summary: 'Redlock that releases everywhere when one node did not extend',
    claims: 'with one node down the lock is given away while its lease runs',
    mended: 'the same, to which a majority is enough',
    mendedClaims: 'exclusion; an extension needs a majority of the nodes',
  },
  'wait-unchecked': {
    topologies: replicated,
    forms: ONE_TRY,
    summary: 'SET NX PX, then WAIT for two replicas, whatever it answers',
    claims: 'is granted what no replica has, and loses it with the primary',
    mended: 'the same, looking at the answer',
    mendedClaims: 'a failover to either of two replicas keeps the grant; while one is away nothing is granted',
  },
  'node-skipped': {
    topologies: independent,
    forms: ONE_TRY,
    summary: 'a lock on each node, all or none, that passes over a node which does not answer',
    claims: 'two clients that reach different nodes both hold',
    mended: 'the same, to which a node that does not answer is a refusal',
    mendedClaims: 'exclusion; while one node is away nobody is granted the lock',
  },
};

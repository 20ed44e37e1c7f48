/** What makes a lock held in the run's deployment, as its topology recorded it. */
import type { History } from '../../vocabulary/history.js';
import type { Quorum } from '../../vocabulary/topology.js';
import { once } from './once.js';

/** Undefined where no deployment was recorded, or what it takes is not known. */
export const quorumOf = once(
  (history: History): Quorum | undefined => history.rare.find((event) => event.type === 'deployment')?.quorum,
);

/** What a lock says of itself that is held on independent nodes only when all of them granted it. */
const NEEDS_ALL = 'all-nodes';

/** The nodes that decide independently of each other, and how many of them make a lock held; undefined where there are none. */
export function majorityOf(history: History): Extract<Quorum, { kind: 'majority' }> | undefined {
  const quorum = quorumOf(history);
  if (quorum?.kind !== 'majority') return undefined;
  // All clients of a run have one lock, so the first speaks for them.
  const up = history.rare.find((event) => event.type === 'client-up');
  return up?.features.includes(NEEDS_ALL) ? { ...quorum, majority: quorum.nodes.length } : quorum;
}

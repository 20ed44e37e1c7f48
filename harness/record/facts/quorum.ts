/** What makes a lock held in the run's deployment, as its topology recorded it. */
import type { History } from '../../vocabulary/history.js';
import type { Quorum } from '../../vocabulary/topology.js';
import { once } from './once.js';

/** Undefined where no deployment was recorded, or what it takes is not known. */
export const quorumOf = once(
  (history: History): Quorum | undefined => history.rare.find((event) => event.type === 'deployment')?.quorum,
);

/** The nodes that decide independently of each other, and how many of them are a majority; undefined where there are none. */
export function majorityOf(history: History): Extract<Quorum, { kind: 'majority' }> | undefined {
  const quorum = quorumOf(history);
  return quorum?.kind === 'majority' ? quorum : undefined;
}

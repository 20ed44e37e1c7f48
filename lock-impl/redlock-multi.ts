/**
 * The majority lock as a library family builds it on its multi-lock: a lock on each of N independent nodes, asked one
 * after the other, held with a majority.
 *
 * It excludes what makes Redlock safe, on purpose. It differs from the algorithm (`redlock`) in four ways:
 * - the nodes are asked in turn, so a silent one costs a whole command time-out, not a small part of the lease;
 * - time is checked against how long the caller would *wait*, never against the lease: a majority that comes together
 *   when the lease of its first node is over is granted all the same, while another client may hold by then;
 * - so it has no idea for how long a grant is good: it says no `validForMs`;
 * - a failed try gives back only what it got: a node that granted without its answer arriving stays taken for a lease.
 *
 * Steps: `part-granted`, between two nodes.
 */
import type { AcquireOptions, TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted } from './attempts.js';
import { INDEPENDENT_NODES } from './builtin-lock.js';
import { defineLock } from './define-lock.js';
import { heldParts, type KeyPart, ownedBy, takeInOrder } from './multi.js';
import { answerOf, giveBack } from './owned-key.js';

const pause = { minMs: 10, maxMs: 60 };

export default defineLock({
  name: 'redlock-multi',
  topologies: INDEPENDENT_NODES,
  features: ['extend'],
  async connect(access) {
    const nodes = await access.nodes();
    return {
      acquire(key: string, options: AcquireOptions) {
        const parts = nodes.map((redis) => ({ redis, key }));
        const giveUpNs = access.nowNs() + options.waitMs * 1e6;
        // Who does not wait at all has one round, however long that takes.
        const inTime = () => options.waitMs === 0 || access.nowNs() < giveUpNs;
        return tryUntilGranted(access, options, pause, () => attempt(access, parts, options.leaseMs, inTime));
      },
    };
  },
});

async function attempt(
  access: TopologyAccess,
  parts: readonly KeyPart[],
  leaseMs: number,
  inTime: () => boolean,
): Promise<Attempt> {
  const majority = Math.floor(parts.length / 2) + 1;
  const terms = { leaseMs, mayMiss: parts.length - majority, inTime };
  const { got, refusedBecause, sentNs } = await takeInOrder(access, ownedBy(access.randomValue(), parts), terms);
  if (got.length >= majority && inTime()) {
    const { release, extend } = heldParts(access, got, majority);
    return { hold: { release, extend: async (newLeaseMs) => (await extend(newLeaseMs)) && {}, grantSentNs: sentNs } };
  }
  await Promise.all(got.map((part) => answerOf(giveBack(part))));
  if (!inTime()) return { refusedBecause: 'wait-over' };
  if (!refusedBecause.includes('held')) return { refusedBecause: 'unreachable' };
  return { refusedBecause: got.length > 0 ? 'no-quorum' : 'held' };
}

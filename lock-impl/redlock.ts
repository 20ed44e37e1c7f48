/**
 * The Redlock algorithm over N independent masters, as Redis specifies it: note the time, try all nodes with a short
 * time-out each, hold only with a majority *and* lease left; otherwise release on all nodes and try again after a
 * random delay.
 *
 * It promises mutual exclusion as long as no node forgets or runs fast and clients heed `validForMs`. It excludes
 * fencing and renewal. Time is the monotonic clock's, so the client's wall clock does not matter.
 *
 * Step points: `asked`, when all nodes have answered (or did not in time) and nothing is decided yet.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockDefinition, LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted, validForMs, whyNotDone } from './attempts.js';
import { INDEPENDENT_NODES } from './builtin-lock.js';
import { defineLock } from './define-lock.js';
import { extendIfMine } from './scripts/extend-if-mine.js';
import { releaseIfMine } from './scripts/release-if-mine.js';

const pause = { minMs: 10, maxMs: 60 };

/** How many of `nodes` nodes must grant, so that any two grants share a node. */
export function majority(nodes: number): number {
  return Math.floor(nodes / 2) + 1;
}

/** Redlock under a name of its own, with the quorum that it waits for. */
export function redlockWithQuorum(
  name: string,
  quorumOf: (nodes: number) => number,
  topologies: readonly string[] = ['redlock'],
): LockDefinition {
  return defineLock({
    name,
    topologies,
    features: ['extend'],
    async connect(access) {
      const nodes = await access.nodes();
      const quorum = quorumOf(nodes.length);
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, pause, () => attempt(access, { nodes, quorum, key }, options.leaseMs)),
      };
    },
  });
}

export default redlockWithQuorum('redlock', majority, INDEPENDENT_NODES);

interface Target {
  nodes: readonly Redis[];
  quorum: number;
  key: string;
}

async function attempt(access: TopologyAccess, target: Target, leaseMs: number): Promise<Attempt> {
  const { nodes, quorum, key } = target;
  const owner = access.randomValue();
  const beganNs = access.nowNs();
  const tally = await askAll(access, nodes, nodeTimeoutMs(leaseMs), async (node) => {
    return (await node.set(key, owner, 'PX', leaseMs, 'NX')) === 'OK';
  });
  await access.step('asked');
  const validMs = validForMs(access, beganNs, leaseMs);
  if (tally.yes >= quorum && validMs > 0) {
    return { hold: heldLock(access, target, owner, beganNs, validMs, leaseMs) };
  }
  // On all nodes, also on those that did not answer: they may have granted. A node that cannot be reached now frees
  // its part when the lease ends.
  await releaseAll(access, target, owner, leaseMs);
  return { refusedBecause: whyRefused(tally, quorum) };
}

function whyRefused(tally: Tally, quorum: number): string {
  if (tally.yes >= quorum) return 'granted-late';
  if (tally.yes + tally.no < quorum) return 'unreachable';
  return tally.yes > 0 ? 'no-quorum' : 'held';
}

function heldLock(
  access: TopologyAccess,
  target: Target,
  owner: string,
  grantSentNs: number,
  validMs: number,
  leaseMs: number,
): LockHold {
  const { nodes, quorum, key } = target;
  return {
    validForMs: validMs,
    grantSentNs,
    async release() {
      const tally = await releaseAll(access, target, owner, leaseMs);
      if (tally.yes >= quorum) return true;
      // So many nodes no longer had it that it was not ours any more, whatever the silent ones would say.
      const silent = tally.unasked + tally.unknown;
      if (tally.yes + silent < quorum) return false;
      throw new Error(`release unanswered by ${silent} of ${nodes.length} nodes`);
    },
    async extend(newLeaseMs) {
      const beganNs = access.nowNs();
      const tally = await askAll(access, nodes, nodeTimeoutMs(newLeaseMs), async (node) => {
        return (await node.eval(extendIfMine, 1, key, owner, newLeaseMs)) === 1;
      });
      const newValidMs = validForMs(access, beganNs, newLeaseMs);
      if (tally.yes >= quorum && newValidMs > 0) return { validForMs: newValidMs };
      if (tally.yes + tally.unknown < quorum) return null;
      throw new Error(`extended on ${tally.yes} of ${nodes.length} nodes, ${tally.unknown} unanswered`);
    },
  };
}

function releaseAll(access: TopologyAccess, { nodes, key }: Target, owner: string, leaseMs: number): Promise<Tally> {
  return askAll(access, nodes, nodeTimeoutMs(leaseMs), async (node) => {
    return (await node.eval(releaseIfMine, 1, key, owner)) === 1;
  });
}

/** Small against the lease, so that a silent node costs little of it; not so small that a busy machine misses it. */
function nodeTimeoutMs(leaseMs: number): number {
  return Math.min(Math.max(leaseMs / 100, 20), 200);
}

interface Tally {
  yes: number;
  no: number;
  /** Certainly not done, but not a no either: the node never got the question, or could not carry it out. */
  unasked: number;
  /** No answer in time: may have been done. */
  unknown: number;
}

/** Asks all nodes at once and counts the answers that come in time. */
async function askAll(
  access: TopologyAccess,
  nodes: readonly Redis[],
  timeoutMs: number,
  ask: (node: Redis) => Promise<boolean>,
): Promise<Tally> {
  const tally: Tally = { yes: 0, no: 0, unasked: 0, unknown: 0 };
  const allIn = new AbortController();
  const late = access.sleep(timeoutMs, allIn.signal).then(() => 'unknown' as const);
  const votes = nodes.map(async (node) => {
    const answer = ask(node).then(
      (yes) => (yes ? ('yes' as const) : ('no' as const)),
      (error: unknown) => (whyNotDone(error) === undefined ? ('unknown' as const) : ('unasked' as const)),
    );
    tally[await Promise.race([answer, late])] += 1;
  });
  await Promise.all(votes);
  allIn.abort();
  return tally;
}

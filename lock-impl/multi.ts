/**
 * Several locks, all or none: each part is a SET NX PX with a random value, taken one after the other in the order given.
 *
 * It promises that a client that holds has every part, that a refused try gives back what it had got (a part whose
 * server does not answer frees itself when the lease ends), and that opposite orders do not deadlock: a try never waits
 * for a part while it has another, it gives all back, pauses for a random time and begins anew. It excludes fencing,
 * renewal, and any promise beyond what the servers remember.
 *
 * The lease runs from when the first part was asked for. `acquire(key)` takes the parts `key`, `key:b` and `key:c`. They
 * share no hash tag, so that on a Cluster they may lie on different shards, as locks of several things do: a failover of
 * one shard then loses one part, and the two others still exclude. On independent nodes each node has one part, under the key itself:
 * one node that forgets loses one part, and while one is away nobody is granted the lock.
 *
 * Steps: `part-granted`, between two parts. A client that dies there leaves its parts taken for a lease.
 */
import type { AcquireOptions, LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted, validForMs } from './attempts.js';
import { defineLock, refused } from './define-lock.js';
import { answerOf, giveBack, type OwnedKey, prolong, type ServerAnswer, take } from './owned-key.js';

const pause = { minMs: 10, maxMs: 40 };

export default defineLock({
  name: 'multi',
  topologies: ['single', 'replica', 'sentinel', 'cluster', 'redlock'],
  features: ['extend', 'all-nodes'],
  async connect(access) {
    const partsOf = await partsOn(access);
    return { acquire: (key, options) => new MultiLock(access, partsOf(key)).acquire(options) };
  },
});

export type KeyPart = Pick<OwnedKey, 'redis' | 'key'>;

/** What a lock is made of: a key on each independent node, or three of one server. */
async function partsOn(access: TopologyAccess): Promise<(key: string) => KeyPart[]> {
  if (access.description.kind === 'redlock') {
    const nodes = await access.nodes();
    return (key) => nodes.map((redis) => ({ redis, key }));
  }
  const redis = await access.redis();
  return (key) => [key, `${key}:b`, `${key}:c`].map((part) => ({ redis, key: part }));
}

export class MultiLock {
  /** `parts` are taken in this order. They may be keys of one server or of several. */
  constructor(
    private readonly access: TopologyAccess,
    private readonly parts: readonly KeyPart[],
  ) {}

  /** A hold of all parts. Throws a refusal when certainly not all were granted, any other error when it cannot tell. */
  acquire(options: AcquireOptions): Promise<LockHold> {
    return tryUntilGranted(this.access, options, pause, () => this.#attempt(options.leaseMs));
  }

  async #attempt(leaseMs: number): Promise<Attempt> {
    const { access } = this;
    const taken = await takeInOrder(access, ownedBy(access.randomValue(), this.parts), { leaseMs, mayMiss: 0 });
    const { got, doubtful, refusedBecause } = taken;
    if (got.length === this.parts.length) {
      const validMs = validForMs(access, taken.sentNs, leaseMs);
      const hold = { ...heldParts(access, got, got.length), validForMs: validMs, grantSentNs: taken.sentNs };
      if (validMs > 0) return { hold };
    }
    // Also those that did not answer: they may have granted.
    await Promise.all([...got, ...doubtful.map(({ part }) => part)].map((part) => answerOf(giveBack(part))));
    if (doubtful.length > 0) throw doubtful[0]!.error;
    const [because = 'granted-late'] = refusedBecause;
    // Of several servers each may have granted another client, none of which holds.
    const isSplit = because === 'held' && new Set(this.parts.map(({ redis }) => redis)).size > 1;
    return { refusedBecause: isSplit ? 'no-quorum' : because };
  }
}

export function ownedBy(owner: string, parts: readonly KeyPart[]): OwnedKey[] {
  return parts.map(({ redis, key }) => ({ redis, key, owner }));
}

export interface TakenParts {
  got: OwnedKey[];
  /** Asked, and no answer came: they may have been granted. */
  doubtful: { part: OwnedKey; error: unknown }[];
  /** Why other parts were certainly not granted. */
  refusedBecause: string[];
  /** When the first of those that were granted was asked for. */
  sentNs: number;
}

export interface Terms {
  leaseMs: number;
  /** How many parts need not be granted. */
  mayMiss: number;
  /** Asked after each part: whether to go on to the next. */
  inTime?: () => boolean;
}

/** Asks for one part after the other, until all were asked, too many are missing, or a missing one is not needed. */
export async function takeInOrder(
  access: TopologyAccess,
  parts: readonly OwnedKey[],
  { leaseMs, mayMiss, inTime = () => true }: Terms,
): Promise<TakenParts> {
  const taken: TakenParts = { got: [], doubtful: [], refusedBecause: [], sentNs: access.nowNs() };
  for (const [nth, part] of parts.entries()) {
    const sentNs = access.nowNs();
    const answer = await answerOf(take(part, leaseMs));
    if (answer.is === 'yes' && taken.got.length === 0) taken.sentNs = sentNs;
    note(taken, part, answer);
    const missing = nth + 1 - taken.got.length;
    const enough = taken.got.length >= parts.length - mayMiss;
    if (missing > mayMiss || (enough && answer.is !== 'yes') || !inTime()) break;
    if (answer.is === 'yes' && nth + 1 < parts.length) await access.step('part-granted');
  }
  return taken;
}

function note(taken: TakenParts, part: OwnedKey, answer: ServerAnswer): void {
  if (answer.is === 'yes') taken.got.push(part);
  else if (answer.is === 'unknown') taken.doubtful.push({ part, error: answer.error });
  else taken.refusedBecause.push(answer.is === 'no' ? 'held' : answer.reason);
}

/** Release and extend of parts that were granted together, of which `needed` make a hold. Every part is always asked. */
export function heldParts(
  access: TopologyAccess,
  got: readonly OwnedKey[],
  needed: number,
): Required<Pick<LockHold, 'release' | 'extend'>> {
  return {
    async release() {
      return decide(await Promise.all(got.map((part) => answerOf(giveBack(part)))), needed, 'released');
    },
    async extend(leaseMs) {
      const sentNs = access.nowNs();
      const answers = await Promise.all(got.map((part) => answerOf(prolong(part, leaseMs))));
      return decide(answers, needed, 'extended') ? { validForMs: validForMs(access, sentNs, leaseMs) } : null;
    },
  };
}

/** True: done on enough parts. False: so many were not ours that it was no hold any more, whatever the rest would say. */
function decide(answers: readonly ServerAnswer[], needed: number, done: string): boolean {
  const yes = answers.filter((answer) => answer.is === 'yes').length;
  const no = answers.filter((answer) => answer.is === 'no').length;
  if (yes >= needed) return true;
  if (answers.length - no < needed) return false;
  const undone = answers.find((answer) => answer.is === 'undone');
  if (yes === 0 && undone && answers.every((answer) => answer.is !== 'unknown')) throw refused(undone.reason);
  throw new Error(`${done} ${yes} of ${answers.length} parts, the rest did not answer`);
}

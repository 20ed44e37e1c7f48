/**
 * What a protected resource had certainly seen of a later holder when it took a write.
 *
 * Only what it has seen can make it refuse: c1 is granted the key with token 7 and is stopped; c2 is granted it with token 8
 * and is stopped, too, before it reads. c1 wakes and writes: the resource, which knows of no 8 yet, takes the write, and
 * whatever c2 does when it wakes comes after it, as it should.
 *
 * Counted are acknowledged reads and writes under a hold of another client that was certainly granted later
 * (`hold-order.ts`), be it the next hold of the key or one long after. That one came before a write is known in one of two
 * ways:
 * - by the resource's own order, where both have a version and it can be relied on (`disorderOf`): a lower version came
 *   before; a read that found the write's own version came after it;
 * - by time, where not: it was answered before the write began. Equal stamps are concurrent.
 *
 * An access of unknown outcome may never have happened. One that was refused counts for nothing either: it changed and found
 * nothing, and whether its token was seen by what refused it is not known.
 */

import { byKey, countBelow, sortedBy } from '../../harness/record/facts/by-key.js';
import { FirstHolders } from '../../harness/record/facts/hold-order.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { accessesOf, acknowledgedWrites, disorderOf, inOwnOrder } from '../../harness/record/facts/resource.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';

const NONE = -1;

export interface LaterAccesses {
  /**
   * By row of an acknowledged write: the row of the access that certainly came before it, under the later hold that was had
   * first of all that had accessed the resource by then; -1 where there is none.
   */
  readonly before: Int32Array;
  /** Why some resource's own order cannot be used, in words. */
  readonly disorders: readonly string[];
}

/** O(n log n) in the operations. Of writes of those who share the key nothing is said, nor of a semaphore. */
export function laterAccesses(history: History, model: LockModel): LaterAccesses {
  const { operations: ops } = history;
  const before = new Int32Array(ops.count).fill(NONE);
  const disorders: string[] = [];
  if (model.kind === 'semaphore') return { before, disorders };
  const holds = holdsOf(history);
  const holdsByKey = byKey(holds.key, holds.count, ops.keys.length);
  const place = new Int32Array(holds.count);
  accessesOf(history).forEach((accesses, key) => {
    const acknowledged = accesses.filter((row) => ops.outcome[row] === OUTCOME.ok);
    const ordered = inOwnOrder(history, accesses);
    const disorder = disorderOf(history, ordered);
    if (disorder === undefined) byOwnOrder(history, ordered, new Seen(holds, holdsByKey[key]!, place), before);
    else disorders.push(disorder);
    // An order that can be relied on tells all that time does.
    if (disorder !== undefined || ordered.length < acknowledged.length)
      byTime(history, acknowledged, new Seen(holds, holdsByKey[key]!, place), before);
  });
  return { before, disorders };
}

function byOwnOrder({ operations: ops }: History, ordered: Int32Array, seen: Seen, before: Int32Array): void {
  for (const row of ordered) {
    if (ops.op[row] === OP.write) before[row] = seen.laterThan(row);
    seen.add(row);
  }
}

function byTime(history: History, acknowledged: Int32Array, seen: Seen, before: Int32Array): void {
  const { callNs, returnNs } = intervalsOf(history);
  const byReturn = sortedBy(acknowledged, (a, b) => returnNs[a]! - returnNs[b]!);
  const byCall = sortedBy(acknowledgedWrites(history, acknowledged), (a, b) => callNs[a]! - callNs[b]!);
  let answered = 0;
  for (const row of byCall) {
    while (answered < byReturn.length && returnNs[byReturn[answered]!]! < callNs[row]!) seen.add(byReturn[answered++]!);
    before[row] = seen.earlier(before[row]!, seen.laterThan(row));
  }
}

/**
 * The holders of one key that its resource has seen so far. They stand in the order in which their granted attempts left, in a
 * tree of Fenwick's (1994), so that the first of all that were sent after a moment is found in O(log n).
 */
class Seen {
  private readonly bySent: Int32Array;
  private readonly firsts: FirstHolders;
  /** By place in that order: the row of the hold's first access. */
  private readonly firstAccess: Int32Array;
  private lastSentNs = Number.NEGATIVE_INFINITY;

  /** `place`: by hold, for its place in that order; one for all keys. */
  constructor(
    private readonly holds: Holds,
    ofKey: Int32Array,
    private readonly place: Int32Array,
  ) {
    const { grantSentNs } = holds;
    this.bySent = sortedBy(ofKey, (a, b) => grantSentNs[a]! - grantSentNs[b]!);
    for (let at = 0; at < ofKey.length; at++) place[this.bySent[at]!] = at;
    this.firsts = new FirstHolders(ofKey.length + 1, holds);
    this.firstAccess = new Int32Array(ofKey.length).fill(NONE);
  }

  add(access: number): void {
    const k = this.holds.about(access);
    const place = k === NONE ? NONE : this.place[k]!;
    if (place === NONE || this.firstAccess[place] !== NONE) return;
    this.firstAccess[place] = access;
    this.lastSentNs = Math.max(this.lastSentNs, this.holds.grantSentNs[k]!);
    const count = this.bySent.length;
    for (let node = count - place; node <= count; node += node & -node) this.firsts.enter(node, k);
  }

  /** The first access of the first holder that was seen and is later than the one who wrote, or -1. */
  laterThan(write: number): number {
    const { client, fromNs, grantSentNs, shares } = this.holds;
    const k = this.holds.about(write);
    // Nearly always no later holder was seen.
    if (k === NONE || shares[k] || this.lastSentNs <= fromNs[k]!) return NONE;
    const notLater = countBelow(this.bySent, grantSentNs, fromNs[k]!, 'or equal');
    let first = NONE;
    for (let node = this.bySent.length - notLater; node > 0; node -= node & -node) {
      const other = this.firsts.otherThan(client[k]!, node);
      if (other !== NONE && (first === NONE || fromNs[other]! < fromNs[first]!)) first = other;
    }
    return first === NONE ? NONE : this.firstAccess[this.place[first]!]!;
  }

  /** Of two accesses, or -1, the one whose hold was had first. */
  earlier(a: number, b: number): number {
    if (a === NONE || b === NONE) return Math.max(a, b);
    const { fromNs } = this.holds;
    return fromNs[this.holds.about(b)]! < fromNs[this.holds.about(a)]! ? b : a;
  }
}

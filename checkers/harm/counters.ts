/**
 * The counters that a lock protects, one for each key: which acknowledged increments certainly are not in what was written or
 * found later (`lost-updates.ts` says when a lock is accused of it), with proof and evidence.
 */

import { countBelow, sortedBy } from '../../harness/record/facts/by-key.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { acknowledgedWrites, disorderOf, inOwnOrder } from '../../harness/record/facts/resource.js';
import { moment, plural } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Cause, CauseLink, Hold, Violation } from '../../harness/vocabulary/verdict.js';
import { causeBetween, overlapBetween } from '../causes/broken-hold.js';
import { unexplained } from '../causes/unexplained.js';
import type { Doubts } from '../worth/doubts.js';

/** Why an update that was lost need not be the lock's doing. */
export const DISTURBED = 'the machine or the harness was disturbed meanwhile.';

/** An acknowledged write whose update is not in what `by` wrote or found. */
export interface LostUpdate {
  how: 'overwritten' | 'vanished';
  row: number;
  by: number;
}

/** Increments that were acknowledged before a read began, and how many of them it cannot have found. */
export interface MissingUpdates {
  read: number;
  initial: number;
  acknowledged: number;
  missing: number;
}

/** The counters of a run, one for each key, and what each write had seen before. */
export class Counters {
  private readonly callNs: Float64Array;
  private readonly returnNs: Float64Array;
  /** By row of a write: the row of the read or write by which its hold had last seen the counter; -1: by none. */
  private readonly seen: Int32Array;

  constructor(private readonly history: History) {
    ({ callNs: this.callNs, returnNs: this.returnNs } = intervalsOf(history));
    this.seen = lastSeen(history);
  }

  /** Why nothing can be concluded about a key, or undefined. */
  whyNot(accesses: Int32Array): string | undefined {
    const { operations: ops } = this.history;
    for (const row of accesses) {
      if (ops.op[row] !== OP.write || ops.outcome[row] === OUTCOME.fail || this.isIncrement(row)) continue;
      const what = this.seen[row]! < 0 ? 'before it had seen anything' : 'not one more than it had seen';
      return `whether ${ops.keys[ops.key[row]!]} lost updates cannot be determined: ${ops.clients[ops.client[row]!]} wrote ${ops.value[row]}, ${what} (history ${ops.invokeLine[row]})`;
    }
    const disorder = disorderOf(this.history, inOwnOrder(this.history, accesses));
    return disorder && `whether updates were lost cannot be determined: ${disorder}`;
  }

  judge(accesses: Int32Array) {
    const { operations: ops } = this.history;
    const writes = acknowledgedWrites(this.history, accesses);
    const reads = accesses.filter(
      (row) => ops.op[row] === OP.read && ops.outcome[row] === OUTCOME.ok && !Number.isNaN(ops.value[row]),
    );
    const overwritten = this.overwritten(writes);
    const known = new Set(overwritten.map(({ row }) => row));
    const vanished = this.vanished(writes, reads).filter(({ row }) => !known.has(row));
    return {
      updates: writes.length,
      lost: [...overwritten, ...vanished],
      missing: this.missing(writes, reads),
      open: this.leftOpen(accesses, writes),
    };
  }

  /**
   * Each write overwrites what has a version between the one that it had seen and its own. Walks the writes in the
   * resource's order; a write that is lost already is jumped over (a disjoint-set forest: Tarjan 1975), so that each is met
   * once however many overwrote it.
   */
  private overwritten(acknowledged: Int32Array): LostUpdate[] {
    const { version } = this.history.operations;
    const writes = sortedBy(
      acknowledged.filter((row) => !Number.isNaN(version[row])),
      (a, b) => version[a]! - version[b]!,
    );
    /** The first place from each on whose write is not lost yet. */
    const next = Int32Array.from({ length: writes.length + 1 }, (_, at) => at);
    const lost: LostUpdate[] = [];
    for (let at = 0; at < writes.length; at++) {
      const by = writes[at]!;
      const seenVersion = version[this.seen[by]!]!;
      // Nearly always it had seen the one before.
      if (at === 0 || !(version[writes[at - 1]!]! > seenVersion)) continue;
      let place = rootOf(next, countBelow(writes, version, seenVersion, 'or equal'));
      while (place < at) {
        lost.push({ how: 'overwritten', row: writes[place]!, by });
        next[place] = place + 1;
        place = rootOf(next, place + 1);
      }
    }
    return lost;
  }

  /** Each write of which some read that began after it was acknowledged found less. */
  private vanished(writes: Int32Array, reads: Int32Array): LostUpdate[] {
    const { value } = this.history.operations;
    const byCall = sortedBy(reads, (a, b) => this.callNs[a]! - this.callNs[b]!);
    /** Of the reads from each place on, the one that found the lowest value. */
    const lowest = byCall.slice();
    for (let at = byCall.length - 2; at >= 0; at--)
      if (value[lowest[at + 1]!]! < value[lowest[at]!]!) lowest[at] = lowest[at + 1]!;
    const lost: LostUpdate[] = [];
    for (const row of writes) {
      const after = countBelow(byCall, this.callNs, this.returnNs[row]!, 'or equal');
      const read = after < lowest.length ? lowest[after]! : -1;
      if (read >= 0 && value[read]! < value[row]!) lost.push({ how: 'vanished', row, by: read });
    }
    return lost;
  }

  /** The read that proves most increments missing. Only where the value at the beginning is known: read at version 0. */
  private missing(writes: Int32Array, reads: Int32Array): MissingUpdates | undefined {
    const { value, version } = this.history.operations;
    const first = reads.find((row) => version[row] === 0);
    if (first === undefined) return undefined;
    const initial = value[first]!;
    const byReturn = sortedBy(writes, (a, b) => this.returnNs[a]! - this.returnNs[b]!);
    let worst: MissingUpdates | undefined;
    for (const read of reads) {
      const acknowledged = countBelow(byReturn, this.returnNs, this.callNs[read]!);
      const missing = acknowledged - (value[read]! - initial);
      if (missing > (worst?.missing ?? 0)) worst = { read, initial, acknowledged, missing };
    }
    return worst;
  }

  /** Whether a write of unknown outcome may have overwritten the last update, with no read after it. */
  private leftOpen(accesses: Int32Array, writes: Int32Array): string | undefined {
    const { operations: ops } = this.history;
    let [last, lastLookNs] = [-1, Number.NEGATIVE_INFINITY];
    for (const row of writes)
      if (!Number.isNaN(ops.version[row]) && (last < 0 || ops.version[row]! > ops.version[last]!)) last = row;
    for (const row of accesses)
      if (ops.outcome[row] === OUTCOME.ok) lastLookNs = Math.max(lastLookNs, this.callNs[row]!);
    if (last < 0) return undefined;
    for (const row of accesses) {
      if (ops.op[row] !== OP.write || ops.outcome[row] === OUTCOME.ok || ops.outcome[row] === OUTCOME.fail) continue;
      if (!(ops.version[this.seen[row]!]! < ops.version[last]!)) continue;
      if (this.returnNs[row]! < lastLookNs) continue;
      return `whether the last update of ${ops.keys[ops.key[row]!]} stands cannot be determined: no client read it after ${this.name(row)}, whose outcome is not known and which had not seen it`;
    }
    return undefined;
  }

  /** Why it need not be the lock's doing, or undefined. */
  doubtAbout(lost: LostUpdate, doubts: Doubts): string | undefined {
    if (lost.how === 'vanished') return DISTURBED;
    const [first, second] = this.holdsOf(lost);
    return first && second && doubts.about(overlapBetween(first, second));
  }

  violation(lost: LostUpdate, explain: (overlap: Overlap) => Cause): Violation {
    const { operations: ops } = this.history;
    const { row, by } = lost;
    const holds = this.holdsOf(lost);
    const rows = [row, by, ...(lost.how === 'overwritten' ? [this.seen[by]!] : [])];
    const chain = () => rows.map((of) => this.link(of)).sort((a, b) => a.atNs - b.atNs);
    return {
      class: 'harm',
      kind: 'lost-update',
      key: ops.keys[ops.key[row]!]!,
      fromNs: Math.min(this.callNs[row]!, this.callNs[by]!),
      untilNs: Math.max(this.returnNs[row]!, this.returnNs[by]!),
      holds,
      evidence: this.lines(rows),
      proof: this.proof(lost),
      // Of what vanished it is not known who overwrote it.
      cause:
        lost.how === 'overwritten' && holds.length === 2
          ? causeBetween(holds[0]!, holds[1]!, explain, chain)
          : unexplained(chain()),
    };
  }

  proof(lost: LostUpdate): string {
    const { row, by } = lost;
    const acknowledged = `${this.name(row)} was acknowledged at ${moment(this.returnNs[row]!)}`;
    if (lost.how === 'vanished')
      return `${acknowledged}; ${this.name(by)}, begun at ${moment(this.callNs[by]!)}, found less: the update is lost.`;
    return `${acknowledged}; ${this.name(by)} came after it, but had last seen ${this.name(this.seen[by]!)}: the update is lost.`;
  }

  violationOfMissing(one: MissingUpdates): Violation {
    const { operations: ops } = this.history;
    const { read } = one;
    return {
      class: 'harm',
      kind: 'missing-updates',
      key: ops.keys[ops.key[read]!]!,
      fromNs: this.callNs[read]!,
      untilNs: this.returnNs[read]!,
      holds: [],
      evidence: this.lines([read]),
      proof: this.proofOfMissing(one),
      cause: unexplained([this.link(read)]),
    };
  }

  proofOfMissing({ read, initial, acknowledged, missing }: MissingUpdates): string {
    return `${plural(acknowledged, 'increment')} had been acknowledged before ${this.name(read)} began at ${moment(this.callNs[read]!)}; beginning with ${initial} it should have found ${initial + acknowledged} or more: at least ${missing} of them are lost.`;
  }

  private isIncrement(row: number): boolean {
    const { value } = this.history.operations;
    return this.seen[row]! >= 0 && value[row] === value[this.seen[row]!]! + 1;
  }

  /** The holds of both, earlier grant first. */
  private holdsOf({ row, by }: LostUpdate): Hold[] {
    const holds = holdsOf(this.history);
    return [row, by]
      .map((of) => holds.about(of))
      .filter((k, at, all) => k >= 0 && all.indexOf(k) === at)
      .sort((a, b) => holds.fromNs[a]! - holds.fromNs[b]!)
      .map((k) => holds.hold(k));
  }

  private lines(rows: readonly number[]): number[] {
    const { invokeLine, completionLine } = this.history.operations;
    return [...new Set(rows.flatMap((row) => [invokeLine[row]!, completionLine[row]!]))].sort((a, b) => a - b);
  }

  private link(row: number): CauseLink {
    return { atNs: this.returnNs[row]!, text: this.name(row), history: this.history.operations.completionLine[row]! };
  }

  /** "c1's write of 7 to lock:0 (version 12)". */
  private name(row: number): string {
    const { operations: ops } = this.history;
    const what = ops.op[row] === OP.write ? `write of ${ops.value[row]} to` : `read of ${ops.value[row]} from`;
    const version = Number.isNaN(ops.version[row]) ? '' : ` (version ${ops.version[row]})`;
    return `${ops.clients[ops.client[row]!]}'s ${what} ${ops.keys[ops.key[row]!]}${version}`;
  }
}

/**
 * For each write, by which answered read or write of its own hold the counter was last seen; -1 where the client has seen it
 * since then under another hold (a nested one), and so knew better than what it added to.
 */
function lastSeen({ operations: ops }: History): Int32Array {
  const seen = new Int32Array(ops.count).fill(-1);
  const ofClient = new Map<number, number>();
  for (let row = 0; row < ops.count; row++) {
    if (ops.hold[row]! < 0 || (ops.op[row] !== OP.read && ops.op[row] !== OP.write)) continue;
    const place = ops.client[row]! * ops.keys.length + ops.key[row]!;
    const last = ofClient.get(place) ?? -1;
    if (last >= 0 && ops.hold[last] === ops.hold[row] && ops.completionLine[last]! < ops.invokeLine[row]!)
      seen[row] = last;
    if (ops.outcome[row] === OUTCOME.ok) ofClient.set(place, row);
  }
  return seen;
}

/** The first place from `at` on that was not taken out; shortens the way for the next time (path halving). */
function rootOf(next: Int32Array, at: number): number {
  let place = at;
  while (next[place] !== place) {
    next[place] = next[next[place]!]!;
    place = next[place]!;
  }
  return place;
}

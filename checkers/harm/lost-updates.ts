/**
 * Did a counter that the lock protects lose an update? Each hold reads it, adds one and writes the sum back.
 *
 * Accused, each acknowledged write at most once, in this order:
 * - *overwritten*: another acknowledged write has a later version, but its client had last seen an earlier one: what it wrote
 *   does not contain the update (by the resource's own order: `resource.ts`);
 * - *vanished*: a read which began after the write was acknowledged found a lower value. Every value is one more than the
 *   value before, so a lower one does not contain the update, whoever overwrote it;
 * - *missing*, once for each key: a read found fewer increments than had been acknowledged before it began. Which of them
 *   are missing is not known; told only where it proves more of them than were found one by one.
 *
 * A write of unknown outcome never accuses and is never lost: it counts as one that may or may not have been taken. Where one
 * that had not seen the last update may have been taken after everything else, it cannot be told whether that update stands.
 *
 * Nothing can be told either of a key whose writes are not all increments of what the same hold had seen, or whose resource
 * contradicts its own order; nor, for the last two rules and for clients whose overlap need not be the lock's doing, where the
 * machine or the harness was disturbed. Excludes semaphores and writes that were refused.
 */

import { countBelow, sortedBy } from '../../harness/record/facts/by-key.js';
import { Earliest } from '../../harness/record/facts/earliest.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { accessesOf, acknowledgedWrites, disorderOf, inOwnOrder } from '../../harness/record/facts/resource.js';
import { moment, plural } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseLink, CheckerFindings, Hold, Violation } from '../../harness/vocabulary/verdict.js';
import { causeBetween, overlapBetween } from '../causes/broken-hold.js';
import { explainerOf } from '../causes/explain.js';
import { unexplained } from '../causes/unexplained.js';
import { Doubts } from '../worth/doubts.js';

/** Updates that are reported with evidence and proof; all are counted. */
const MOST_REPORTED = 200;
/** Updates that are in doubt and told one by one. */
const MOST_DOUBTS_TOLD = 10;

/** An acknowledged write whose update is not in what `by` wrote or found. */
interface Lost {
  how: 'overwritten' | 'vanished';
  row: number;
  by: number;
}

/** Increments that were acknowledged before a read began, and how many of them it cannot have found. */
interface Missing {
  read: number;
  initial: number;
  acknowledged: number;
  missing: number;
}

function findLostUpdates(input: CheckInput): CheckerFindings {
  const { history, model } = input;
  if (model.kind === 'semaphore') return nothingJudged('holders of a semaphore may rightly write side by side');
  const { operations: ops } = history;
  const counters = new Counters(history);
  const doubts = new Doubts(input);
  const lost = new Earliest<Lost>(MOST_REPORTED, (a, b) => ops.completionLine[a.by]! - ops.completionLine[b.by]!);
  const missing: Missing[] = [];
  const open: string[] = [];
  const doubted: string[] = [];
  const stats = { updates: 0, lostUpdates: 0, lostUpdatesAtLeast: 0, lostUpdatesInDoubt: 0 };
  for (const accesses of accessesOf(history)) {
    const why = counters.whyNot(accesses);
    if (why !== undefined) {
      open.push(why);
      continue;
    }
    const found = counters.judge(accesses);
    stats.updates += found.updates;
    stats.lostUpdatesAtLeast += Math.max(found.lost.length, found.missing?.missing ?? 0);
    if (found.open !== undefined) open.push(found.open);
    for (const one of found.lost) {
      const doubt = doubts.any ? counters.doubtAbout(one, doubts) : undefined;
      if (doubt === undefined) lost.add(one);
      else if (stats.lostUpdatesInDoubt++ < MOST_DOUBTS_TOLD)
        doubted.push(`an update was lost, which need not be the lock's doing: ${counters.proof(one)} But ${doubt}`);
    }
    if (!found.missing || found.missing.missing <= found.lost.length) continue;
    if (doubts.any) doubted.push(`${counters.proofOfMissing(found.missing)} But ${DISTURBED}`);
    else missing.push(found.missing);
  }
  if (stats.updates === 0 && open.length === 0)
    return nothingJudged('no write to a protected counter was acknowledged');

  const explain = explainerOf(input);
  const violations = [
    ...lost.list().map((one) => counters.violation(one, explain)),
    ...missing.map((one) => counters.violationOfMissing(one)),
  ];
  const harm = lost.count + missing.length;
  const notes = [...open, ...doubted];
  return {
    verdict: harm > 0 ? 'invalid' : notes.length > 0 ? 'unknown' : 'valid',
    notes,
    violations,
    ...(harm > violations.length && { found: { harm } }),
    stats: { ...stats, lostUpdates: lost.count },
  };
}

export const lostUpdates: Checker = {
  name: 'lost-updates',
  summary: 'no acknowledged update of a counter that the lock protects was lost',
  properties: [
    {
      class: 'harm',
      holds: 'No acknowledged update of what the lock protects was lost',
      broken: 'An acknowledged update of what the lock protects was lost',
      kinds: {
        'lost-update': {
          headline: (count) => `Harm done: ${plural(count, 'acknowledged update')} of the protected counter lost`,
          accusedIf: 'an acknowledged increment is not contained in what a later write wrote or a later read found',
        },
        'missing-updates': {
          headline: (count) => `Harm done: ${plural(count, 'time')} the protected counter misses acknowledged updates`,
          accusedIf:
            'a read found fewer increments than had been acknowledged before it began, more of them than were found one by one',
        },
      },
    },
  ],
  check: findLostUpdates,
};

const DISTURBED = 'the machine or the harness was disturbed meanwhile.';

function nothingJudged(why: string): CheckerFindings {
  return { verdict: 'unknown', notes: [why], violations: [], stats: {} };
}

/** The counters of a run, one for each key, and what each write had seen before. */
class Counters {
  private readonly callNs: Float64Array;
  private readonly returnNs: Float64Array;
  /** By row of a write: the row of the read or write by which its hold had last seen the counter; -1: by none. */
  private readonly seen: Int32Array;

  constructor(private readonly history: History) {
    ({ callNs: this.callNs, returnNs: this.returnNs } = intervalsOf(history));
    this.seen = lastSeen(history);
  }

  /** Why nothing can be told of a key, or undefined. */
  whyNot(accesses: Int32Array): string | undefined {
    const { operations: ops } = this.history;
    for (const row of accesses) {
      if (ops.op[row] !== OP.write || ops.outcome[row] === OUTCOME.fail || this.isIncrement(row)) continue;
      const what = this.seen[row]! < 0 ? 'before it had seen anything' : 'not one more than it had seen';
      return `whether ${ops.keys[ops.key[row]!]} lost updates cannot be told: ${ops.clients[ops.client[row]!]} wrote ${ops.value[row]}, ${what} (history ${ops.invokeLine[row]})`;
    }
    const disorder = disorderOf(this.history, inOwnOrder(this.history, accesses));
    return disorder && `whether updates were lost cannot be told: ${disorder}`;
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
  private overwritten(acknowledged: Int32Array): Lost[] {
    const { version } = this.history.operations;
    const writes = sortedBy(
      acknowledged.filter((row) => !Number.isNaN(version[row])),
      (a, b) => version[a]! - version[b]!,
    );
    /** The first place from each on whose write is not lost yet. */
    const next = Int32Array.from({ length: writes.length + 1 }, (_, at) => at);
    const lost: Lost[] = [];
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
  private vanished(writes: Int32Array, reads: Int32Array): Lost[] {
    const { value } = this.history.operations;
    const byCall = sortedBy(reads, (a, b) => this.callNs[a]! - this.callNs[b]!);
    /** Of the reads from each place on, the one that found the lowest value. */
    const lowest = byCall.slice();
    for (let at = byCall.length - 2; at >= 0; at--)
      if (value[lowest[at + 1]!]! < value[lowest[at]!]!) lowest[at] = lowest[at + 1]!;
    const lost: Lost[] = [];
    for (const row of writes) {
      const after = countBelow(byCall, this.callNs, this.returnNs[row]!, 'or equal');
      const read = after < lowest.length ? lowest[after]! : -1;
      if (read >= 0 && value[read]! < value[row]!) lost.push({ how: 'vanished', row, by: read });
    }
    return lost;
  }

  /** The read that proves most increments missing. Only where the value at the beginning is known: read at version 0. */
  private missing(writes: Int32Array, reads: Int32Array): Missing | undefined {
    const { value, version } = this.history.operations;
    const first = reads.find((row) => version[row] === 0);
    if (first === undefined) return undefined;
    const initial = value[first]!;
    const byReturn = sortedBy(writes, (a, b) => this.returnNs[a]! - this.returnNs[b]!);
    let worst: Missing | undefined;
    for (const read of reads) {
      const acknowledged = countBelow(byReturn, this.returnNs, this.callNs[read]!);
      const missing = acknowledged - (value[read]! - initial);
      if (missing > (worst?.missing ?? 0)) worst = { read, initial, acknowledged, missing };
    }
    return worst;
  }

  /** Whether a write of unknown outcome may have overwritten the last update, which nobody looked at after it. */
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
      return `whether the last update of ${ops.keys[ops.key[row]!]} stands cannot be told: nobody looked after ${this.name(row)}, whose outcome is not known and which had not seen it`;
    }
    return undefined;
  }

  /** Why it need not be the lock's doing, or undefined. */
  doubtAbout(lost: Lost, doubts: Doubts): string | undefined {
    if (lost.how === 'vanished') return DISTURBED;
    const [first, second] = this.holdsOf(lost);
    return first && second && doubts.about(overlapBetween(first, second));
  }

  violation(lost: Lost, explain: (overlap: Overlap) => Cause): Violation {
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

  proof(lost: Lost): string {
    const { row, by } = lost;
    const acknowledged = `${this.name(row)} was acknowledged at ${moment(this.returnNs[row]!)}`;
    if (lost.how === 'vanished')
      return `${acknowledged}; ${this.name(by)}, begun at ${moment(this.callNs[by]!)}, found less: the update is lost.`;
    return `${acknowledged}; ${this.name(by)} came after it, but had last seen ${this.name(this.seen[by]!)}: the update is lost.`;
  }

  violationOfMissing(one: Missing): Violation {
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

  proofOfMissing({ read, initial, acknowledged, missing }: Missing): string {
    return `${plural(acknowledged, 'increment')} had been acknowledged before ${this.name(read)} began at ${moment(this.callNs[read]!)}; beginning with ${initial} it should have found ${initial + acknowledged} or more: at least ${missing} of them are lost.`;
  }

  private isIncrement(row: number): boolean {
    const { value } = this.history.operations;
    return this.seen[row]! >= 0 && value[row] === value[this.seen[row]!]! + 1;
  }

  /** The holds of both, earlier grant first. */
  private holdsOf({ row, by }: Lost): Hold[] {
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

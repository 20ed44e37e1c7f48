/**
 * Did a protected resource take a write of a hold after a later holder was there?
 *
 * A write of c1's is accused where it was acknowledged, another client's hold of the key was certainly granted after c1's
 * (`hold-order.ts`), and the write was certainly taken after that grant was had. That it was is known in one of two ways:
 * - by time: the write *began* after it;
 * - by the resource's own order: the write's version is above that of a read or write which began after it.
 * A write whose answer merely came late accuses nobody: it may have been taken at any time since it began.
 *
 * It is harm whoever is to blame, and the proof says who: the lock, which granted the next one while the lease still ran
 * (exclusion broken); the holder, whose lease had ended; or the way between, on which the write was still when it ended.
 *
 * Left out: what happened within the margin of the lease's end (`margin.ts`), and what a harness that stood still or a
 * machine whose clock was stepped may have made ("cannot tell"). Excludes writes of unknown outcome, those of readers of a
 * read-write lock, and semaphores, whose holders may rightly write side by side. `refusedStale` counts writes of a stale
 * holder that the resource refused: fencing at work.
 */
import type { Cause, CauseLink, Checker, CheckerResult, CheckInput, History, Hold, Violation } from '../harness/api.js';
import { OP, OUTCOME } from '../harness/history-table.js';
import { causeBetween, overlapBetween } from './broken-hold.js';
import { explainerOf } from './causes.js';
import { Doubts } from './doubts.js';
import { Earliest } from './earliest.js';
import { nextHolders } from './hold-order.js';
import { type Holds, holdsOf } from './holds.js';
import { type Intervals, intervalsOf } from './intervals.js';
import { leaseMarginNs } from './margin.js';
import type { Overlap } from './overlaps.js';
import { accessesOf, disorderOf, inOwnOrder } from './resource.js';
import { moment } from './words.js';

/** Writes that are reported with evidence and proof; all are counted. */
const MOST_REPORTED = 200;
/** Writes that are in doubt and told one by one. */
const MOST_DOUBTS_TOLD = 10;

/** A write that came after a later holder. */
interface Late {
  row: number;
  hold: number;
  next: number;
  /** The row of a read or write that was taken before it, and after the next holder was there; -1: known by time. */
  after: number;
}

export const staleWrites: Checker = (input) => {
  const { history, model } = input;
  const { operations: ops } = history;
  if (model.kind === 'semaphore') return nothingJudged('holders of a semaphore may rightly write side by side');
  const order = new Order(input);
  const doubts = new Doubts(input);
  const late = new Earliest<Late>(MOST_REPORTED, (a, b) => ops.completionLine[a.row]! - ops.completionLine[b.row]!);
  const doubted: string[] = [];
  const stats = { writesTaken: 0, writesRefused: 0, staleWrites: 0, staleWritesInDoubt: 0, refusedStale: 0 };
  for (const row of order.writes()) {
    const found = order.lateness(row);
    if (ops.outcome[row] === OUTCOME.fail) {
      stats.writesRefused++;
      if (found) stats.refusedStale++;
      continue;
    }
    stats.writesTaken++;
    if (!found) continue;
    const doubt = doubts.any ? doubts.about(order.overlap(found)) : undefined;
    if (!doubt) late.add(found);
    else if (stats.staleWritesInDoubt++ < MOST_DOUBTS_TOLD)
      doubted.push(`a stale write that need not be the lock's doing: ${order.proof(found)} But ${doubt}`);
  }
  if (stats.writesTaken === 0) return nothingJudged('no write to a protected resource was acknowledged');

  const explain = explainerOf(input);
  const violations = late.list().map((one) => order.violation(one, explain));
  const notes = [...order.disorders, ...doubted];
  return {
    checker: 'stale-writes',
    verdict: violations.length > 0 ? 'invalid' : notes.length > 0 ? 'unknown' : 'valid',
    notes,
    violations,
    ...(late.count > violations.length && { found: { harm: late.count } }),
    stats: { ...stats, staleWrites: late.count },
  };
};

function nothingJudged(why: string): CheckerResult {
  return { checker: 'stale-writes', verdict: 'unknown', notes: [why], violations: [], stats: {} };
}

/** In what order holds were granted and writes taken, as far as it is certain. */
class Order {
  /** Why some resource's own order cannot be used, in words. */
  readonly disorders: string[] = [];
  private readonly history: History;
  private readonly holds: Holds;
  private readonly intervals: Intervals;
  private readonly next: Int32Array;
  /** By row of a write: of all that the resource took before it, the one that began last; -1 where that is not known. */
  private readonly latestBefore: Int32Array;

  constructor({ history, model }: CheckInput) {
    this.history = history;
    this.holds = holdsOf(history);
    this.intervals = intervalsOf(history);
    this.next = nextHolders(this.holds, history.operations.keys.length, model);
    this.latestBefore = new Int32Array(history.operations.count).fill(-1);
    for (const accesses of accessesOf(history)) this.followOwnOrder(inOwnOrder(history, accesses));
  }

  /** Rows of all writes whose outcome is known. */
  *writes(): Iterable<number> {
    const { op, outcome } = this.history.operations;
    for (const accesses of accessesOf(this.history))
      for (const row of accesses)
        if (op[row] === OP.write && (outcome[row] === OUTCOME.ok || outcome[row] === OUTCOME.fail)) yield row;
  }

  /** Whether the write was certainly taken (or refused) after a later holder was there. */
  lateness(row: number): Late | undefined {
    const { holds } = this;
    const { callNs, returnNs } = this.intervals;
    const about = this.history.operations.hold[row]!;
    const hold = about < 0 ? -1 : holds.ofRow[about]!;
    const next = hold < 0 ? -1 : this.next[hold]!;
    if (next < 0) return undefined;
    const thereNs = holds.fromNs[next]!;
    const before = this.latestBefore[row]!;
    const byTime = callNs[row]! > thereNs;
    // Of what the resource took before this write, and which began no earlier than the grant was had.
    const byOrder = before >= 0 && callNs[before]! >= thereNs;
    if (!byTime && !byOrder) return undefined;
    const [leaseEndNs, marginNs] = [holds.leaseEndNs[hold]!, leaseMarginNs(holds.leaseMs[hold]!)];
    // The next one was granted when the lease was as good as over, and the write was done as soon: clocks are not finer.
    if (thereNs >= leaseEndNs - marginNs && returnNs[row]! <= leaseEndNs + marginNs) return undefined;
    return { row, hold, next, after: byTime ? -1 : before };
  }

  overlap({ hold, next }: Late): Overlap {
    return overlapBetween(this.holds.hold(hold), this.holds.hold(next));
  }

  violation(late: Late, explain: (overlap: Overlap) => Cause): Violation {
    const { operations: ops } = this.history;
    const { row, hold, next, after } = late;
    const [writer, later] = [this.holds.hold(hold), this.holds.hold(next)];
    const lines = (of: number) => [ops.invokeLine[of]!, ops.completionLine[of]!];
    const rows = [this.holds.row[hold]!, this.holds.row[next]!, row, ...(after < 0 ? [] : [after])];
    return {
      class: 'harm',
      kind: 'stale-write',
      key: writer.key,
      fromNs: later.fromNs,
      untilNs: Math.max(later.fromNs, this.intervals.returnNs[row]!),
      holds: [writer, later],
      evidence: rows.flatMap(lines).sort((a, b) => a - b),
      proof: this.proof(late),
      cause: causeBetween(writer, later, explain, () => [
        grantLink(writer),
        grantLink(later),
        {
          atNs: this.intervals.callNs[row]!,
          text: `${writer.client} began to write ${ops.value[row]}`,
          history: ops.invokeLine[row]!,
        },
      ]),
    };
  }

  /** "c1's write of 7 to lock:0, begun at 8.100 s, was taken after c2 had been granted it (at 7.500 s): ..." */
  proof({ row, hold, next, after }: Late): string {
    const { operations: ops } = this.history;
    const { callNs, returnNs } = this.intervals;
    const [writer, later] = [this.holds.hold(hold), this.holds.hold(next)];
    const name = (of: number) =>
      `${ops.op[of] === OP.write ? 'write' : 'read'}${Number.isNaN(ops.version[of]) ? '' : ` (version ${ops.version[of]})`}`;
    const taken =
      after < 0
        ? ''
        : `, for the resource took it after ${ops.clients[ops.client[after]!]}'s ${name(after)}, begun at ${moment(callNs[after]!)}`;
    return `${writer.client}'s ${name(row)} to ${writer.key}, begun at ${moment(callNs[row]!)} and answered at ${moment(returnNs[row]!)}, came after ${later.client} had been granted it at ${moment(later.fromNs)}, later than ${writer.client} (at ${moment(writer.fromNs)})${taken}; ${this.blame(writer, later, callNs[row]!)}.`;
  }

  private blame(writer: Hold, later: Hold, begunNs: number): string {
    const lease = `${writer.client}'s lease`;
    if (overlapBetween(writer, later).class === 'exclusion')
      return `exclusion was broken: ${lease} ran until ${moment(writer.leaseEndNs)}`;
    if (begunNs > writer.leaseEndNs) return `${lease} had ended at ${moment(writer.leaseEndNs)} when it began to write`;
    return `${lease} ended at ${moment(writer.leaseEndNs)}, while the write was on its way`;
  }

  private followOwnOrder(ordered: Int32Array): void {
    const disorder = disorderOf(this.history, ordered);
    if (disorder !== undefined) {
      this.disorders.push(`the order in which writes were taken is not known: ${disorder}`);
      return;
    }
    const { op } = this.history.operations;
    const { callNs } = this.intervals;
    let latest = -1;
    for (const row of ordered) {
      // Nothing that comes before a write in this order has its version.
      if (op[row] === OP.write) this.latestBefore[row] = latest;
      if (latest < 0 || callNs[row]! > callNs[latest]!) latest = row;
    }
  }
}

function grantLink(hold: Hold): CauseLink {
  return { atNs: hold.fromNs, text: `${hold.client} was granted ${hold.key}`, history: hold.evidence[1]! };
}

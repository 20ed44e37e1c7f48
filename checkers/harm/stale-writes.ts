/**
 * Did a protected resource take a write of a hold after it had been used under a later one?
 *
 * A write of c1's is accused where it was acknowledged, and certainly came after an acknowledged read or write under another
 * client's hold of the key that was certainly granted after c1's. Which ones came before, by the resource's own order or by
 * time, is decided by `later-access.ts`; the later hold need not be the next one, and may be over by then. That a later holder
 * had been granted the key is not enough: of one that was stopped before it read or wrote, the resource cannot know, and what it
 * takes meanwhile does no harm. A write whose answer merely came late is no finding either: it may have been taken at any
 * time since it began.
 *
 * It is harm no matter what is to blame, and the proof says what is: the lock, which granted the later one while the lease
 * still ran (exclusion broken); the holder, whose lease had ended; or the way between, on which the write was still when it
 * ended.
 *
 * Left out: what happened within the margin of the lease's end (`margin.ts`), and what a harness that stood still or a
 * machine whose clock was stepped may have made ("cannot tell"). Excludes writes of unknown outcome, those of readers of a
 * read-write lock, and semaphores, whose holders may rightly write side by side.
 *
 * `refusedStale` counts writes that the resource refused for their token (docs/protocol.md): fencing at work.
 */

import { Earliest } from '../../harness/record/facts/earliest.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import { type Intervals, intervalsOf } from '../../harness/record/facts/intervals.js';
import { leaseMarginNs } from '../../harness/record/facts/margin.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { accessesOf } from '../../harness/record/facts/resource.js';
import { moment, plural } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseLink, CheckerFindings, Hold, Violation } from '../../harness/vocabulary/verdict.js';
import { causeBetween, overlapBetween } from '../causes/broken-hold.js';
import { explainerOf } from '../causes/explain.js';
import { Doubts } from '../worth/doubts.js';
import { type LaterAccesses, laterAccesses } from './later-access.js';

/** Writes that are reported with evidence and proof; all are counted. */
const MOST_REPORTED = 200;
/** Writes that are in doubt and told one by one. */
const MOST_DOUBTS_TOLD = 10;

/** A write that came after what a later holder had read or written. */
interface Late {
  row: number;
  hold: number;
  later: number;
  /** The row of the later holder's read or write. */
  access: number;
}

function findStaleWrites(input: CheckInput): CheckerFindings {
  const { history, model } = input;
  const { operations: ops } = history;
  if (model.kind === 'semaphore') return nothingJudged('holders of a semaphore may rightly write side by side');
  const order = new Order(input);
  const doubts = new Doubts(input);
  const late = new Earliest<Late>(MOST_REPORTED, (a, b) => ops.completionLine[a.row]! - ops.completionLine[b.row]!);
  const doubted: string[] = [];
  const stats = { writesTaken: 0, writesRefused: 0, staleWrites: 0, staleWritesInDoubt: 0, refusedStale: 0 };
  for (const row of order.writes()) {
    if (ops.outcome[row] === OUTCOME.fail) {
      stats.writesRefused++;
      if (/^stale-token\b/.test(ops.reasons[ops.reason[row]!] ?? '')) stats.refusedStale++;
      continue;
    }
    stats.writesTaken++;
    const found = order.lateness(row);
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
    verdict: violations.length > 0 ? 'invalid' : notes.length > 0 ? 'unknown' : 'valid',
    notes,
    violations,
    ...(late.count > violations.length && { found: { harm: late.count } }),
    ...(notes.length > 0 && { open: ['harm' as const] }),
    stats: { ...stats, staleWrites: late.count },
  };
}

export const staleWrites: Checker = {
  name: 'stale-writes',
  summary: 'the protected resource took no write of a holder after a later one had read or written',
  properties: [
    {
      class: 'harm',
      holds: 'The protected resource took no write of a holder after a later holder had used it',
      broken: 'The protected resource took a write of a holder after a later holder had used it',
      kinds: {
        'stale-write': {
          headline: (count) =>
            `Harm done: ${plural(count, 'time')} the protected resource took a write of a holder after a later one had used it`,
          accusedIf:
            "an acknowledged write came after an acknowledged read or write under another client's later hold of the key",
        },
      },
    },
  ],
  judges: { models: 'all', plays: true, habit: 'writes' },
  check: findStaleWrites,
};

function nothingJudged(why: string): CheckerFindings {
  return { verdict: 'unknown', notes: [why], violations: [], stats: {} };
}

/** In what order holds were granted and writes taken, as far as it is certain. */
class Order {
  /** Why some resource's own order cannot be used, in words. */
  readonly disorders: string[];
  private readonly history: History;
  private readonly holds: Holds;
  private readonly intervals: Intervals;
  private readonly laterAccess: LaterAccesses['before'];

  constructor({ history, model }: CheckInput) {
    this.history = history;
    this.holds = holdsOf(history);
    this.intervals = intervalsOf(history);
    const { before, disorders } = laterAccesses(history, model);
    this.laterAccess = before;
    this.disorders = disorders.map((why) => `the order in which writes were taken is not known: ${why}`);
  }

  /** Rows of all writes whose outcome is known. */
  *writes(): Iterable<number> {
    const { op, outcome } = this.history.operations;
    for (const accesses of accessesOf(this.history))
      for (const row of accesses)
        if (op[row] === OP.write && (outcome[row] === OUTCOME.ok || outcome[row] === OUTCOME.fail)) yield row;
  }

  /** Whether a write that was taken certainly came after what a later holder had read or written. */
  lateness(row: number): Late | undefined {
    const access = this.laterAccess[row]!;
    if (access < 0) return undefined;
    const [hold, later] = [this.holds.about(row), this.holds.about(access)];
    return this.withinMargin(row, hold, later) ? undefined : { row, hold, later, access };
  }

  /** The later one was granted the key when the lease was as good as over, and the write was done as soon: clocks are not finer. */
  private withinMargin(row: number, hold: number, later: number): boolean {
    const { fromNs, leaseEndNs, leaseMs } = this.holds;
    const [endNs, marginNs] = [leaseEndNs[hold]!, leaseMarginNs(leaseMs[hold]!)];
    return fromNs[later]! >= endNs - marginNs && this.intervals.returnNs[row]! <= endNs + marginNs;
  }

  overlap({ hold, later }: Late): Overlap {
    return overlapBetween(this.holds.hold(hold), this.holds.hold(later));
  }

  violation(late: Late, explain: (overlap: Overlap) => Cause): Violation {
    const { operations: ops } = this.history;
    const { row, hold, access } = late;
    const [writer, later] = [this.holds.hold(hold), this.holds.hold(late.later)];
    const lines = (of: number) => [ops.invokeLine[of]!, ops.completionLine[of]!];
    const rows = [this.holds.row[hold]!, this.holds.row[late.later]!, access, row];
    return {
      class: 'harm',
      kind: 'stale-write',
      key: writer.key,
      fromNs: later.fromNs,
      untilNs: Math.max(later.fromNs, this.intervals.returnNs[row]!),
      holds: [writer, later],
      evidence: rows.flatMap(lines).sort((a, b) => a - b),
      proof: this.proof(late),
      cause: causeBetween(writer, later, explain, () =>
        [grantLink(writer), grantLink(later), this.beginLink(access), this.beginLink(row)].sort(
          (a, b) => a.atNs - b.atNs,
        ),
      ),
    };
  }

  /** "c1's write of 7 to lock:0, begun at 8.100 s, came after c2's read, answered at 7.600 s: ..." */
  proof({ row, hold, later: laterHold, access }: Late): string {
    const { callNs, returnNs } = this.intervals;
    const [writer, later] = [this.holds.hold(hold), this.holds.hold(laterHold)];
    const version = this.history.operations.version;
    const name = (of: number) => `${this.what(of)}${Number.isNaN(version[of]) ? '' : ` (version ${version[of]})`}`;
    const before =
      returnNs[access]! < callNs[row]!
        ? `, which was answered at ${moment(returnNs[access]!)}`
        : `, begun at ${moment(callNs[access]!)}, in the resource's own order`;
    return `${writer.client}'s ${name(row)} to ${writer.key}, begun at ${moment(callNs[row]!)} and answered at ${moment(returnNs[row]!)}, came after ${later.client}'s ${name(access)}${before}; ${later.client} had been granted the key at ${moment(later.fromNs)}, later than ${writer.client} (at ${moment(writer.fromNs)}); ${this.blame(writer, later, callNs[row]!)}.`;
  }

  private what(row: number): string {
    return this.history.operations.op[row] === OP.write ? 'write' : 'read';
  }

  private beginLink(row: number): CauseLink {
    const { operations: ops } = this.history;
    const value = ops.op[row] === OP.write && !Number.isNaN(ops.value[row]) ? ` ${ops.value[row]}` : '';
    return {
      atNs: this.intervals.callNs[row]!,
      text: `${ops.clients[ops.client[row]!]} began to ${this.what(row)}${value}`,
      history: ops.invokeLine[row]!,
    };
  }

  private blame(writer: Hold, later: Hold, begunNs: number): string {
    const lease = `${writer.client}'s lease`;
    if (overlapBetween(writer, later).class === 'exclusion')
      return `exclusion was broken: ${Number.isFinite(writer.leaseEndNs) ? `${lease} ran until ${moment(writer.leaseEndNs)}` : `no lease ended what ${writer.client} held`}`;
    if (begunNs > writer.leaseEndNs) return `${lease} had ended at ${moment(writer.leaseEndNs)} when it began to write`;
    return `${lease} ended at ${moment(writer.leaseEndNs)}, while the write was on its way`;
  }
}

function grantLink(hold: Hold): CauseLink {
  return { atNs: hold.fromNs, text: `${hold.client} was granted ${hold.key}`, history: hold.evidence[1]! };
}

/**
 * The sections of a key's history: each acquire that certainly had an effect, with what ended its hold; and what one
 * client's own operations already prove wrong. The first step of every fast procedure.
 *
 * Sections are what is left when all that cannot matter is gone. An acquire of unknown outcome that no release proves to have
 * happened is none: where the rest can be explained with it, the rest can be explained without it (only a refused try may
 * need it, see `tries.ts`). A release of unknown outcome counts from its call, unless a later one of the same hold succeeded:
 * then that one ended it.
 */

import { MODE, OP, OUTCOME } from '../../harness/record/history-table.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import { deniedOwnership, isUnknown, refusedForHolder } from './models/answers.js';
import type { KeyHistory, Reading } from './types.js';

/** What one client's own operations cannot have been. */
export interface ProtocolError {
  /** In the order of their calls. */
  rows: number[];
  fromNs: number;
  untilNs: number;
  kind: 'released-without-hold' | 'released-twice' | 'released-after-denial';
}

/** In columns, in the order in which the acquires were invoked. */
export interface Sections {
  readonly count: number;
  /** The row of the acquire. */
  readonly acquire: Int32Array;
  readonly client: Int32Array;
  /** 1 where it shares with others: a read lock of a read-write lock. */
  readonly reads: Uint8Array;
  /** The grant: within this. The return is Infinity where only the release tells that there was a grant. */
  readonly callNs: Float64Array;
  readonly returnNs: Float64Array;
  /** The end by a release: within this; both are Infinity where no release can have ended it. */
  readonly endCallNs: Float64Array;
  readonly endReturnNs: Float64Array;
  /** The row of that release, or -1. */
  readonly endRow: Int32Array;
  /** 1 where that release succeeded, and so the hold lasted until then, whatever its lease. */
  readonly endKnown: Uint8Array;
  /** How long it lasted from the grant at least, if no release ended it before; Infinity: for ever. */
  readonly leaseNs: Float64Array;
}

/** An acquire of unknown outcome without a successful release: it may have held, or not. */
export interface Optional {
  row: number;
  /** Whether it held for good if it held: there was no try to release it, and no lease ends. */
  forGood: boolean;
}

export interface Found {
  sections: Sections;
  errors: ProtocolError[];
  /** Refused tries that prove a holder, in the order of their calls; none where the reading takes them for nothing. */
  tries: Int32Array;
  /** Given only where there are such tries: nothing else needs them. */
  optional: Optional[];
  /** Releases that were answered "not yours" while nothing else can have ended the hold. */
  denied: number;
  /** The last stamp of all. */
  lastNs: number;
}

const NONE = -1;

export function sectionsOf(history: KeyHistory, model: LockModel, reading: Reading): Found {
  return new Collector(history, model, reading).found();
}

class Collector {
  private readonly acquire: Int32Array;
  private readonly client: Int32Array;
  private readonly reads: Uint8Array;
  private readonly callNs: Float64Array;
  private readonly returnNs: Float64Array;
  private readonly endCallNs: Float64Array;
  private readonly endReturnNs: Float64Array;
  private readonly endRow: Int32Array;
  private readonly endKnown: Uint8Array;
  private readonly leaseNs: Float64Array;
  /** By row of an acquire, counted from the first row: its section and one; 0: none. */
  private readonly sectionAt: Int32Array;
  private readonly firstRow: number;
  private readonly errors: ProtocolError[] = [];
  private readonly tries: number[] = [];
  private filled = 0;
  private denied = 0;
  private lastNs = 0;

  constructor(
    private readonly history: KeyHistory,
    private readonly model: LockModel,
    private readonly reading: Reading,
  ) {
    const { rows, operations: ops } = history;
    this.firstRow = rows[0] ?? 0;
    this.sectionAt = new Int32Array((rows.at(-1) ?? -1) - this.firstRow + 1);
    let acquires = 0;
    for (const row of rows) if (ops.op[row] === OP.acquire && ops.outcome[row] !== OUTCOME.fail) acquires++;
    this.acquire = new Int32Array(acquires);
    this.client = new Int32Array(acquires);
    this.reads = new Uint8Array(acquires);
    this.callNs = new Float64Array(acquires);
    this.returnNs = new Float64Array(acquires);
    this.endCallNs = new Float64Array(acquires).fill(Number.POSITIVE_INFINITY);
    this.endReturnNs = new Float64Array(acquires).fill(Number.POSITIVE_INFINITY);
    this.endRow = new Int32Array(acquires).fill(NONE);
    this.endKnown = new Uint8Array(acquires);
    this.leaseNs = new Float64Array(acquires);
  }

  found(): Found {
    const { rows, operations: ops, callNs, returnNs } = this.history;
    for (const row of rows) {
      if (callNs[row]! > this.lastNs) this.lastNs = callNs[row]!;
      if (returnNs[row]! > this.lastNs && returnNs[row] !== Number.POSITIVE_INFINITY) this.lastNs = returnNs[row]!;
      if (ops.op[row] === OP.acquire) this.acquired(row);
      else this.released(row);
    }
    const optional = this.dropOptional();
    const tries = Int32Array.from(this.tries);
    return { sections: this.columns(), errors: this.errors, tries, optional, denied: this.denied, lastNs: this.lastNs };
  }

  private acquired(row: number): void {
    const { operations: ops, callNs, returnNs, leaseNs } = this.history;
    if (ops.outcome[row] === OUTCOME.fail) {
      if (this.reading.triesInform && refusedForHolder(ops, row)) this.tries.push(row);
      return;
    }
    const k = this.filled++;
    this.sectionAt[row - this.firstRow] = k + 1;
    this.acquire[k] = row;
    this.client[k] = ops.client[row]!;
    this.reads[k] = this.model.kind === 'read-write' && ops.mode[row] === MODE.read ? 1 : 0;
    this.callNs[k] = callNs[row]!;
    this.returnNs[k] = isUnknown(ops, row) ? Number.POSITIVE_INFINITY : returnNs[row]!;
    this.leaseNs[k] = this.reading.leases ? leaseNs[row]! : Number.POSITIVE_INFINITY;
  }

  private released(row: number): void {
    const { operations: ops } = this.history;
    const k = this.sectionOf(ops.hold[row]!);
    if (ops.outcome[row] === OUTCOME.ok) this.succeeded(row, k);
    else if (k === NONE) return;
    else if (isUnknown(ops, row)) this.mayHaveEnded(row, k);
    else if (deniedOwnership(ops, row)) this.wasDenied(row, k);
  }

  private succeeded(row: number, k: number): void {
    const { callNs, returnNs } = this.history;
    if (k === NONE) {
      this.error('released-without-hold', [row]);
      return;
    }
    if (this.endKnown[k]) {
      this.error('released-twice', [this.acquire[k]!, this.endRow[k]!, row]);
      return;
    }
    // Denied ends are kept in endReturnNs: what ended the hold before cannot have left anything to release. Where the grant
    // is not known, it can have come after the denial.
    const deniedByNs = this.returnNs[k] === Number.POSITIVE_INFINITY ? this.returnNs[k]! : this.endReturnNs[k]!;
    if (deniedByNs < callNs[row]!) this.error('released-after-denial', [this.acquire[k]!, this.deniedRow(k), row]);
    this.endKnown[k] = 1;
    this.endRow[k] = row;
    this.endCallNs[k] = callNs[row]!;
    this.endReturnNs[k] = Math.max(callNs[row]!, Math.min(returnNs[row]!, deniedByNs));
  }

  private mayHaveEnded(row: number, k: number): void {
    if (this.endKnown[k] || this.history.callNs[row]! >= this.endCallNs[k]!) return;
    this.endCallNs[k] = this.history.callNs[row]!;
    this.endRow[k] = row;
  }

  /** Told "not yours": an end where the reading takes it for one, else an error of the client's that changes nothing. */
  private wasDenied(row: number, k: number): void {
    if (!this.reading.failedReleaseEnds) {
      if (this.endRow[k] === NONE && this.returnNs[k] !== Number.POSITIVE_INFINITY) this.denied++;
      return;
    }
    this.endReturnNs[k] = Math.min(this.endReturnNs[k]!, this.history.returnNs[row]!);
    this.mayHaveEnded(row, k);
  }

  /** The release of this hold that was denied first. */
  private deniedRow(k: number): number {
    const { operations: ops, rows, returnNs } = this.history;
    const isIt = (row: number) => ops.hold[row] === this.acquire[k] && deniedOwnership(ops, row);
    return rows.filter(isIt).sort((a, b) => returnNs[a]! - returnNs[b]!)[0]!;
  }

  private error(kind: ProtocolError['kind'], rows: number[]): void {
    const { callNs, returnNs } = this.history;
    this.errors.push({ kind, rows, fromNs: callNs[rows.at(-1)!]!, untilNs: returnNs[rows.at(-1)!]! });
  }

  private sectionOf(acquireRow: number): number {
    const at = acquireRow - this.firstRow;
    return at >= 0 && at < this.sectionAt.length ? this.sectionAt[at]! - 1 : NONE;
  }

  /** Takes out what need not have held; the rest moves up. */
  private dropOptional(): Optional[] {
    const optional: Optional[] = [];
    let kept = 0;
    for (let k = 0; k < this.filled; k++) {
      if (this.returnNs[k] === Number.POSITIVE_INFINITY && !this.endKnown[k]) {
        const forGood = this.endRow[k] === NONE && this.leaseNs[k] === Number.POSITIVE_INFINITY;
        if (this.tries.length > 0) optional.push({ row: this.acquire[k]!, forGood });
        continue;
      }
      if (kept !== k) this.move(k, kept);
      // A lease says nothing more where a release proves how long the hold lasted.
      if (this.endKnown[kept]) this.leaseNs[kept] = Number.POSITIVE_INFINITY;
      kept++;
    }
    this.filled = kept;
    return optional;
  }

  private move(from: number, to: number): void {
    this.acquire[to] = this.acquire[from]!;
    this.client[to] = this.client[from]!;
    this.reads[to] = this.reads[from]!;
    this.callNs[to] = this.callNs[from]!;
    this.returnNs[to] = this.returnNs[from]!;
    this.endCallNs[to] = this.endCallNs[from]!;
    this.endReturnNs[to] = this.endReturnNs[from]!;
    this.endRow[to] = this.endRow[from]!;
    this.endKnown[to] = this.endKnown[from]!;
    this.leaseNs[to] = this.leaseNs[from]!;
  }

  private columns(): Sections {
    return {
      count: this.filled,
      acquire: this.acquire,
      client: this.client,
      reads: this.reads,
      callNs: this.callNs,
      returnNs: this.returnNs,
      endCallNs: this.endCallNs,
      endReturnNs: this.endReturnNs,
      endRow: this.endRow,
      endKnown: this.endKnown,
      leaseNs: this.leaseNs,
    };
  }
}

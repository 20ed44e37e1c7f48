/**
 * Checks a linearization in one pass, knowing nothing of how it was found: is every operation that succeeded in it, once,
 * within its interval, none before the one before; and would the lock have answered each as the history tells?
 *
 * The lock is played here once more, with a state of its own that is changed in place, so that an error in a model or in a
 * procedure does not confirm itself. A hold that nothing in the order ends may end by itself once its lease has run, where
 * leases count; it does so when somebody needs the room, and no earlier.
 */

import { MODE, OP, OUTCOME } from '../../harness/record/history-table.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { KeyHistory, Linearization, Reading } from './types.js';

/** What is wrong with it, in words; undefined if nothing is. */
export function verify(
  history: KeyHistory,
  model: LockModel,
  reading: Reading,
  linearization: Linearization,
): string | undefined {
  return new Verification(history, model, reading, linearization).firstError();
}

/** A procedure gave an order that does not explain the history: a bug, never a verdict. */
export class BadLinearization extends Error {
  constructor({ key }: KeyHistory, error: string) {
    super(`bug in lock-torture: the linearization found for ${key} does not hold: ${error}`);
  }
}

const NONE = -1;

class Verification {
  /** By row, counted from the first: its place in the order and one; 0: it is not there. */
  private readonly placeOf: Int32Array;
  /** By row of an acquire: when its hold ended; NaN: it did not, or nothing in the order ended it. */
  private readonly endedNs: Float64Array;
  /** By row of an acquire: 1 where a release in the order must end it, so that no lease may. */
  private readonly isReleased: Uint8Array;
  /** Rows of the acquires that hold now, in no order, and by row the place in it. */
  private readonly holding: number[] = [];
  private readonly holdingAt: Int32Array;
  private readonly firstRow: number;
  /** The acquire that holds for writing, of a read-write lock. */
  private writer = NONE;
  private lastToken = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly history: KeyHistory,
    private readonly model: LockModel,
    private readonly reading: Reading,
    private readonly linearization: Linearization,
  ) {
    const { rows } = history;
    this.firstRow = rows[0] ?? 0;
    const span = (rows.at(-1) ?? -1) - this.firstRow + 1;
    this.placeOf = new Int32Array(span);
    this.endedNs = new Float64Array(span).fill(Number.NaN);
    this.isReleased = new Uint8Array(span);
    this.holdingAt = new Int32Array(span);
  }

  firstError(): string | undefined {
    return this.misplaced() ?? this.missing() ?? this.replayed() ?? this.denials();
  }

  /** Every row in its interval, at most once, and in order. */
  private misplaced(): string | undefined {
    const { order, pointsNs } = this.linearization;
    const { callNs, returnNs, operations: ops } = this.history;
    const isGranted = (row: number) => this.isKnown(row) && this.placeOf[row - this.firstRow] !== 0;
    if (order.length !== pointsNs.length) return 'not every row has an instant';
    let lastNs = Number.NEGATIVE_INFINITY;
    for (let at = 0; at < order.length; at++) {
      const row = order[at]!;
      const atNs = pointsNs[at]!;
      if (!this.isKnown(row)) return `row ${row} is none of this key's`;
      if (this.placeOf[row - this.firstRow] !== 0) return `row ${row} is there twice`;
      this.placeOf[row - this.firstRow] = at + 1;
      if (!(atNs >= callNs[row]! && atNs <= returnNs[row]!)) return `row ${row} took effect outside its interval`;
      if (atNs < lastNs) return `row ${row} took effect before the one before it`;
      lastNs = atNs;
      const hold = ops.hold[row]!;
      const mustEnd = ops.op[row] === OP.release && ops.outcome[row] !== OUTCOME.fail;
      if (mustEnd && isGranted(hold)) this.isReleased[hold - this.firstRow] = 1;
    }
    return undefined;
  }

  private missing(): string | undefined {
    const { rows, operations: ops } = this.history;
    for (const row of rows) {
      if (this.placeOf[row - this.firstRow] !== 0) continue;
      if (ops.outcome[row] === OUTCOME.ok) return `row ${row} succeeded and is not there`;
      if (this.isInformative(row)) return `row ${row} was refused by a holder and is not there`;
    }
    return undefined;
  }

  private replayed(): string | undefined {
    const { order, pointsNs } = this.linearization;
    const { operations: ops } = this.history;
    for (let at = 0; at < order.length; at++) {
      const row = order[at]!;
      const isRight = ops.op[row] === OP.acquire ? this.acquire(row, pointsNs[at]!) : this.release(row, pointsNs[at]!);
      if (!isRight) return `row ${row} would have been answered otherwise`;
    }
    return undefined;
  }

  /** A denial that ends holds has ended this one, unless it came when that was over, or before it was granted. */
  private denials(): string | undefined {
    if (!this.reading.failedReleaseEnds) return undefined;
    const { rows, operations: ops, callNs, returnNs } = this.history;
    for (const row of rows) {
      const hold = ops.hold[row]!;
      if (!this.isDenied(row) || this.placeOf[row - this.firstRow] !== 0 || !this.isKnown(hold)) continue;
      const grantedAt = this.placeOf[hold - this.firstRow]! - 1;
      if (grantedAt < 0 || ops.outcome[hold] === OUTCOME.fail) continue;
      const grantedNs = this.linearization.pointsNs[grantedAt]!;
      const isBefore = ops.outcome[hold] !== OUTCOME.ok && callNs[row]! <= grantedNs;
      if (!isBefore && !(this.overNs(hold, grantedNs) <= returnNs[row]!)) return `row ${row} must have ended its hold`;
    }
    return undefined;
  }

  private overNs(hold: number, grantedNs: number): number {
    const endedNs = this.endedNs[hold - this.firstRow]!;
    return Number.isNaN(endedNs) ? this.leaseEndNs(hold, grantedNs) : endedNs;
  }

  private acquire(row: number, atNs: number): boolean {
    const { operations: ops } = this.history;
    if (ops.outcome[row] === OUTCOME.fail) return !this.isInformative(row) || this.refuses(row);
    while (this.refuses(row)) {
      const over = this.toMakeRoom(row, atNs);
      if (over === NONE) return false;
      this.drop(over);
    }
    if (this.model.kind === 'fenced' && !Number.isNaN(ops.token[row]!)) {
      if (ops.token[row]! <= this.lastToken) return false;
      this.lastToken = ops.token[row]!;
    }
    this.holdingAt[row - this.firstRow] = this.holding.push(row) - 1;
    if (this.model.kind === 'read-write' && ops.mode[row] !== MODE.read) this.writer = row;
    return true;
  }

  private release(row: number, atNs: number): boolean {
    const { operations: ops } = this.history;
    const hold = ops.hold[row]!;
    const isHeld = this.isKnown(hold) && this.holding[this.holdingAt[hold - this.firstRow]!] === hold;
    if (ops.outcome[row] === OUTCOME.fail && !this.ends(row)) return true;
    if (!isHeld) return ops.outcome[row] === OUTCOME.fail;
    this.drop(hold);
    this.endedNs[hold - this.firstRow] = atNs;
    return true;
  }

  private refuses(row: number): boolean {
    const { operations: ops } = this.history;
    const { holding, model } = this;
    if (holding.length === 0) return false;
    switch (model.kind) {
      case 'semaphore':
        return holding.length >= model.permits;
      case 'reentrant':
        return ops.client[holding[0]!] !== ops.client[row] || holding.length >= model.depth;
      case 'read-write':
        if (ops.mode[row] !== MODE.read) return true;
        return this.writer !== NONE && ops.client[this.writer] !== ops.client[row];
      default:
        return true;
    }
  }

  /** A hold in the way that is over by then, its lease having run: of several the one that was over first. */
  private toMakeRoom(row: number, atNs: number): number {
    const { operations: ops } = this.history;
    let found = NONE;
    let foundNs = atNs;
    for (const hold of this.holding) {
      const isReader = this.model.kind === 'read-write' && ops.mode[row] === MODE.read;
      if ((isReader && hold !== this.writer) || this.isReleased[hold - this.firstRow]) continue;
      const overNs = this.leaseEndNs(hold, this.linearization.pointsNs[this.placeOf[hold - this.firstRow]! - 1]!);
      if (overNs > foundNs) continue;
      found = hold;
      foundNs = overNs;
    }
    return found;
  }

  private leaseEndNs(hold: number, grantedNs: number): number {
    return this.reading.leases ? grantedNs + this.history.leaseNs[hold]! : Number.POSITIVE_INFINITY;
  }

  private drop(hold: number): void {
    const { holding, holdingAt, firstRow } = this;
    const at = holdingAt[hold - firstRow]!;
    const last = holding.pop()!;
    if (last !== hold) {
      holding[at] = last;
      holdingAt[last - firstRow] = at;
    }
    if (this.writer === hold) this.writer = NONE;
  }

  private isKnown(row: number): boolean {
    const { key } = this.history.operations;
    return row >= this.firstRow && row - this.firstRow < this.placeOf.length && key[row] === key[this.firstRow];
  }

  private isInformative(row: number): boolean {
    const { op, outcome, reason, reasons } = this.history.operations;
    const isRefused = op[row] === OP.acquire && outcome[row] === OUTCOME.fail;
    return this.reading.triesInform && isRefused && reasons[reason[row]!] === 'held';
  }

  private isDenied(row: number): boolean {
    const { op, outcome, reason, reasons } = this.history.operations;
    return op[row] === OP.release && outcome[row] === OUTCOME.fail && reasons[reason[row]!] !== 'unreachable';
  }

  /** Whether a release ends the hold that it names, if that is held. */
  private ends(row: number): boolean {
    if (this.history.operations.outcome[row] !== OUTCOME.fail) return true;
    return this.reading.failedReleaseEnds && this.isDenied(row);
  }
}

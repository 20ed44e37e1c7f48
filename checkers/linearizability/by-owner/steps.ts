/**
 * A lock that knows its holders only by their owners, as a state and the ways in which an operation can take effect.
 *
 * Operations of unknown outcome take effect no earlier than something needs them, which loses no explanation: a lock with one
 * hold less refuses no more.
 * - An unknown release is used when a grant needs the room, so its owner's known releases still find a hold until then.
 * - An unknown acquire is used by the successful release that has nothing else to end, at the same instant.
 * - A lease ends when a grant needs the room.
 *
 * A client may read under its own write lock, and is not granted that lock while it reads: so an unknown acquire of it may also
 * be used right before its owner's read.
 *
 * Where refused tries inform, a hold may be what explains a refusal; and a reentrant lock gives the same token again only to who
 * holds it: then unknown acquires may be used at any time.
 */
import { MODE, OP, OUTCOME } from '../../../harness/record/history-table.js';
import type { LockModel } from '../../../harness/vocabulary/protocol.js';
import { deniedOwnership, isUnknown, refusedForHolder } from '../models/answers.js';
import type { KeyHistory, Reading } from '../types.js';

interface Hold {
  readonly owner: number;
  /** It shares with others: a read lock. */
  readonly reads: boolean;
  /** When its lease has run out at the earliest; Infinity: never. */
  readonly endNs: number;
}

export interface State {
  /** In the order of their grants. */
  readonly holds: readonly Hold[];
  /** The highest token given; -Infinity before the first. Of a lock without tokens always that. */
  readonly token: number;
  /** The lock was granted since then, and which token it gave is not known: it is a higher one. */
  readonly isHigher: boolean;
  /** The earliest instant at which the last step can have been taken; -Infinity where no lease counts. */
  readonly atNs: number;
  /** How many operations of unknown outcome were used, by their class. */
  readonly used: ReadonlyMap<number, number>;
}

export const START: State = {
  holds: [],
  token: Number.NEGATIVE_INFINITY,
  isHigher: false,
  atNs: Number.NEGATIVE_INFINITY,
  used: new Map(),
};

export function stateKey({ holds, token, isHigher, atNs, used }: State): string {
  const held = holds.map(({ owner, reads, endNs }) => `${owner}${reads ? 'r' : ''}:${endNs}`).sort();
  const counts = [...used].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
  return `${token}${isHigher ? '+' : ''}|${atNs}|${held.join()}|${counts.join(';')}`;
}

/** Who owns the holds of a client; `anybody`: whoever holds, any client may release. */
export type Ownership = 'clients' | 'anybody';

/** What the lock promises beside its model. */
export interface Promised {
  owners: Ownership;
  /** Tokens rise with every grant of a free lock; the owner who takes it again may be given the one that it has. */
  tokens: boolean;
}

/** Unknown operations that can stand for one another: of one owner, of one kind and mode. */
class Unknowns {
  /** By class, in the order of their calls: rows, as far as time has come. */
  private readonly called = new Map<number, number[]>();

  constructor(private readonly callNs: Float64Array) {}

  call(unknownClass: number, row: number): void {
    const rows = this.called.get(unknownClass);
    if (rows) rows.push(row);
    else this.called.set(unknownClass, [row]);
  }

  /** The state after one more of the class was used, not before its call; undefined where none is left. */
  use(state: State, unknownClass: number): { row: number; state: State } | undefined {
    const rows = this.called.get(unknownClass);
    const count = state.used.get(unknownClass) ?? 0;
    if (rows === undefined || count >= rows.length) return undefined;
    // The earliest first: each of them can stand for a later one.
    const row = rows[count]!;
    const used = new Map(state.used).set(unknownClass, count + 1);
    return { row, state: { ...state, used, atNs: later(state.atNs, this.callNs[row]!) } };
  }
}

const MODES = 3;
const READ_AND_ANY = [MODE.read, MODE.exclusive] as const;
const WRITE_AND_ANY = [MODE.write, MODE.exclusive] as const;

export class Lock {
  private readonly unknowns: Unknowns;
  private readonly owners: Ownership;
  private readonly tokens: boolean;

  constructor(
    private readonly history: KeyHistory,
    private readonly model: LockModel,
    private readonly reading: Reading,
    { owners, tokens }: Promised,
  ) {
    this.unknowns = new Unknowns(history.callNs);
    this.owners = owners;
    this.tokens = tokens || model.kind === 'fenced';
  }

  /** Whether the row has to take effect within its interval, or may at any time after its call, or never matters. */
  kindOf(row: number): 'must' | 'unknown' | 'nothing' {
    const { operations: ops } = this.history;
    if (isUnknown(ops, row)) return 'unknown';
    if (ops.outcome[row] === OUTCOME.ok) return 'must';
    const informs = this.reading.triesInform && refusedForHolder(ops, row);
    const ends = this.reading.failedReleaseEnds && deniedOwnership(ops, row);
    return informs || ends ? 'must' : 'nothing';
  }

  /** An operation of unknown outcome was called: from now on it may be used. */
  callUnknown(row: number): void {
    const { op, mode } = this.history.operations;
    this.unknowns.call(this.classOf(this.ownerOf(row), op[row]!, mode[row]!), row);
  }

  /** The states in which the row may leave the lock, if it takes effect by `untilNs`. */
  *step(state: State, row: number, untilNs: number): Generator<State> {
    const { op, outcome } = this.history.operations;
    const called = this.timed(state, this.history.callNs[row]!);
    if (called.atNs > untilNs) return;
    if (op[row] === OP.acquire && outcome[row] === OUTCOME.fail) {
      if (this.blocking(called, this.ownerOf(row), this.isRead(row)).length > 0) yield called;
    } else if (op[row] === OP.acquire) {
      yield* this.granted(called, row, untilNs);
    } else if (outcome[row] === OUTCOME.fail) {
      yield { ...called, holds: called.holds.filter((hold) => !this.isOf(hold, row)) };
    } else {
      yield* this.released(called, row, untilNs);
    }
  }

  /** The states after an unknown acquire that no release needs, where a refusal or a token may. */
  *unasked(state: State, untilNs: number): Generator<State> {
    if (!this.mayNeedHolds()) return;
    const owners = this.owners === 'anybody' ? [0] : this.history.operations.clients.keys();
    for (const owner of owners) yield* this.unknownGrants(state, owner, MODE.exclusive, untilNs);
  }

  private mayNeedHolds(): boolean {
    return this.reading.triesInform || (this.tokens && this.model.kind === 'reentrant');
  }

  /**
   * Whether the row may as well take effect at once where it can: it only makes room, and no instant counts. Not where another
   * thread of its owner's waits, whose hold it might end, or which might end the hold that it ends.
   */
  isEager(state: State, row: number, pending: readonly number[]): boolean {
    const { op, outcome, mode } = this.history.operations;
    if (this.reading.leases || this.mayNeedHolds() || this.owners === 'anybody' || op[row] !== OP.release) return false;
    if (pending.some((other) => other !== row && this.ownerOf(other) === this.ownerOf(row))) return false;
    if (outcome[row] === OUTCOME.fail) return true;
    const own = state.holds.filter((hold) => this.isOf(hold, row));
    return own.length > 0 && (this.model.kind !== 'read-write' || mode[row] !== MODE.exclusive);
  }

  // ----------------------------------------------------------------------------------------------------------- grants

  private *granted(state: State, row: number, untilNs: number): Generator<State> {
    yield* this.grantedIn(state, row, untilNs);
    if (this.model.kind !== 'read-write' || !this.isRead(row)) return;
    for (const writing of this.unknownGrants(state, this.ownerOf(row), MODE.write, untilNs))
      yield* this.grantedIn(writing, row, untilNs);
  }

  private *grantedIn(state: State, row: number, untilNs: number): Generator<State> {
    const owner = this.ownerOf(row);
    const reads = this.isRead(row);
    for (const free of this.withRoom(state, owner, reads, untilNs)) {
      const given = this.tokens ? this.history.operations.token[row]! : Number.NaN;
      const isAgain = free.holds.length > 0;
      if (given < free.token || (given === free.token && (!isAgain || free.isHigher))) continue;
      const token = Number.isNaN(given) ? free.token : given;
      const isHigher = this.tokens && Number.isNaN(given) && (free.isHigher || !isAgain);
      yield { ...free, token, isHigher, holds: [...free.holds, { owner, reads, endNs: this.leaseEndNs(free, row) }] };
    }
  }

  /** The states in which an acquire would not be refused, by what of unknown outcome and of leases has ended holds. */
  private *withRoom(state: State, owner: number, reads: boolean, untilNs: number): Generator<State> {
    const blocking = this.blocking(state, owner, reads);
    if (blocking.length === 0) {
      yield state;
      return;
    }
    // Where each of them must go it makes no difference which goes first.
    for (const hold of this.oneIsEnough(blocking, owner) ? distinct(blocking) : [blocking[0]!])
      for (const without of this.ended(state, hold, untilNs)) yield* this.withRoom(without, owner, reads, untilNs);
  }

  private *ended(state: State, hold: Hold, untilNs: number): Generator<State> {
    const holds = without(state.holds, hold);
    if (hold.endNs <= untilNs) yield { ...state, holds, atNs: later(state.atNs, hold.endNs) };
    // One that says its mode can end nothing else, so it is used before one that can.
    for (const mode of hold.reads ? READ_AND_ANY : WRITE_AND_ANY) {
      const used = this.unknowns.use(state, this.classOf(hold.owner, OP.release, mode));
      if (used === undefined) continue;
      yield this.timed({ ...used.state, holds }, Number.NEGATIVE_INFINITY);
      return;
    }
  }

  /** The holds because of which an acquire would be refused. */
  private blocking({ holds }: State, owner: number, reads: boolean): readonly Hold[] {
    if (holds.length === 0) return holds;
    const { model } = this;
    switch (model.kind) {
      case 'semaphore':
        return holds.length >= model.permits ? holds : [];
      case 'reentrant':
        return holds[0]!.owner !== owner || holds.length >= model.depth ? holds : [];
      case 'read-write':
        return reads ? holds.filter((hold) => !hold.reads && hold.owner !== owner) : holds;
      default:
        return holds;
    }
  }

  private oneIsEnough(blocking: readonly Hold[], owner: number): boolean {
    if (this.model.kind === 'semaphore') return true;
    return this.model.kind === 'reentrant' && blocking[0]!.owner === owner;
  }

  // --------------------------------------------------------------------------------------------------------- releases

  private *released(state: State, row: number, untilNs: number): Generator<State> {
    const own = distinct(state.holds.filter((hold) => this.isOf(hold, row)));
    for (const hold of own) yield { ...state, holds: without(state.holds, hold) };
    const mode = this.history.operations.mode[row]!;
    // c1 writes, then may read as well, and releases one of both: which one is not said.
    const isOpen = this.model.kind === 'read-write' && mode === MODE.exclusive;
    if (own.length > 0 && !isOpen) return;
    for (const { holds, ...rest } of this.unknownGrants(state, this.ownerOf(row), mode, untilNs))
      yield { ...rest, holds: holds.slice(0, -1) };
  }

  /** The states after an unknown acquire of this owner, whose hold a release of this mode can end; it is the last hold. */
  private *unknownGrants(state: State, owner: number, mode: number, untilNs: number): Generator<State> {
    for (const acquired of Object.values(MODE)) {
      if (mode !== MODE.exclusive && (mode === MODE.read) !== (acquired === MODE.read)) continue;
      const used = this.unknowns.use(state, this.classOf(owner, OP.acquire, acquired));
      if (used === undefined) continue;
      const reads = this.isRead(used.row);
      const called = this.timed(used.state, Number.NEGATIVE_INFINITY);
      for (const free of this.withRoom(called, owner, reads, untilNs)) {
        const isHigher = this.tokens && (free.isHigher || free.holds.length === 0);
        yield { ...free, isHigher, holds: [...free.holds, { owner, reads, endNs: this.leaseEndNs(free, used.row) }] };
      }
    }
  }

  // ----------------------------------------------------------------------------------------------------------- shared

  /** Whether a release of this row may be of that hold. */
  private isOf(hold: Hold, row: number): boolean {
    const mode = this.history.operations.mode[row];
    return hold.owner === this.ownerOf(row) && (mode === MODE.exclusive || (mode === MODE.read) === hold.reads);
  }

  ownerOf(row: number): number {
    return this.owners === 'anybody' ? 0 : this.history.operations.client[row]!;
  }

  private isRead(row: number): boolean {
    return this.history.operations.mode[row] === MODE.read;
  }

  private classOf(owner: number, op: number, mode: number): number {
    return (owner * 2 + (op === OP.acquire ? 0 : 1)) * MODES + mode;
  }

  private leaseEndNs({ atNs }: State, row: number): number {
    return this.reading.leases ? atNs + this.history.leaseNs[row]! : Number.POSITIVE_INFINITY;
  }

  /** Instants are kept only where leases count: else states would differ in nothing else. */
  private timed(state: State, ns: number): State {
    return { ...state, atNs: this.reading.leases ? later(state.atNs, ns) : Number.NEGATIVE_INFINITY };
  }
}

function later(a: number, b: number): number {
  return a > b ? a : b;
}

/** One of each kind of hold. */
function distinct(holds: readonly Hold[]): Hold[] {
  return holds.filter((hold, at) => holds.findIndex((other) => isSame(hold, other)) === at);
}

function without(holds: readonly Hold[], hold: Hold): Hold[] {
  const at = holds.findIndex((other) => isSame(hold, other));
  return holds.filter((_, place) => place !== at);
}

function isSame(a: Hold, b: Hold): boolean {
  return a.owner === b.owner && a.reads === b.reads && a.endNs === b.endNs;
}

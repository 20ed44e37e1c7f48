/**
 * What a history proves about who held which lock when.
 *
 * A hold is reported for every acquire that is known to have succeeded; an acquire of unknown outcome proves nothing.
 * Every bound is drawn so that the client *certainly* acted as the holder between `fromNs` and `untilNs`, and that its
 * lease *certainly* ran until `leaseEndNs`, whatever is missing from the record: what cannot be proven held never accuses.
 * The price is that an overlap which lies wholly in the unproven part is not seen; each rule below says what that part is.
 */
import type { History } from '../../vocabulary/history.js';
import type { LeaseKind } from '../../vocabulary/protocol.js';
import type { Hold } from '../../vocabulary/verdict.js';
import { MODE, NOTICE, OP, OUTCOME } from '../history-table.js';
import { wasGivenUp } from './given-up.js';
import { grantedMs, leaseKindOf } from './lease-kind.js';
import { once } from './once.js';
import { attemptSentNs, ownStamp, trustedClients } from './operations.js';
import { type LeaseTerm, leaseEndAfter, provenBounds, type Renewal, saidOf, toldRenewals } from './renewals.js';

const ENDED_BY = ['history-end', 'release', 'client-down', 'lost'] as const satisfies Hold['endedBy'][];
const RELEASED = ['ok', 'fail', 'info'] as const;
const NOT_RELEASED = 3;

/** Every proven hold, in columns, in the order in which their grants were recorded. Times are as in `Hold`. */
export class Holds implements Iterable<Hold> {
  readonly count: number;
  /** The row of the acquire in the history's operations. */
  readonly row: Int32Array;
  /** By row of an acquire: the number of its hold, or -1. */
  readonly ofRow: Int32Array;
  /** Indexes into the operations' `clients` and `keys`. */
  readonly client: Int32Array;
  readonly key: Int32Array;
  /** 1 where it shares the key with others that share it: a read lock. */
  readonly shares: Uint8Array;
  readonly fromNs: Float64Array;
  readonly untilNs: Float64Array;
  readonly leaseEndNs: Float64Array;
  readonly grantSentNs: Float64Array;
  readonly leaseMs: Float64Array;
  readonly endedBy: Uint8Array;
  readonly released: Uint8Array;
  private related: Related | undefined;

  constructor(
    private readonly history: History,
    rows: Int32Array,
  ) {
    const { operations: ops } = history;
    this.count = rows.length;
    this.row = rows;
    this.ofRow = new Int32Array(ops.count).fill(-1);
    rows.forEach((row, k) => {
      this.ofRow[row] = k;
    });
    this.client = rows.map((row) => ops.client[row]!);
    this.key = rows.map((row) => ops.key[row]!);
    this.shares = Uint8Array.from(rows, (row) => (ops.mode[row] === MODE.read ? 1 : 0));
    this.fromNs = new Float64Array(this.count);
    this.untilNs = new Float64Array(this.count);
    this.leaseEndNs = new Float64Array(this.count);
    this.grantSentNs = new Float64Array(this.count);
    this.leaseMs = Float64Array.from(rows, (row) => ops.leaseMs[row]! || 0);
    this.endedBy = new Uint8Array(this.count);
    this.released = new Uint8Array(this.count).fill(NOT_RELEASED);
  }

  /** The hold that a release, an extension, a read or a write in that row is about, or -1. */
  about(row: number): number {
    const acquireRow = this.history.operations.hold[row]!;
    return acquireRow < 0 ? -1 : this.ofRow[acquireRow]!;
  }

  /** The hold, made afresh. `k` from 0, below `count`. */
  hold(k: number): Hold {
    const { operations: ops } = this.history;
    const row = this.row[k]!;
    const hold: Hold = {
      client: ops.clients[this.client[k]!]!,
      key: ops.keys[this.key[k]!]!,
      id: ops.id[row]!,
      fromNs: this.fromNs[k]!,
      untilNs: this.untilNs[k]!,
      endedBy: ENDED_BY[this.endedBy[k]!]!,
      leaseEndNs: this.leaseEndNs[k]!,
      grantSentNs: this.grantSentNs[k]!,
      leaseMs: this.leaseMs[k]!,
      evidence: this.evidence(k),
    };
    if (ops.mode[row] !== MODE.exclusive) hold.mode = ops.mode[row] === MODE.read ? 'read' : 'write';
    if (!Number.isNaN(ops.token[row])) hold.token = ops.token[row]!;
    if (!Number.isNaN(ops.validForMs[row])) hold.validForMs = ops.validForMs[row]!;
    if (this.released[k] !== NOT_RELEASED) hold.released = RELEASED[this.released[k]!]!;
    return hold;
  }

  /** Whether it ended because its client was gone. */
  endedByDeath(k: number): boolean {
    return ENDED_BY[this.endedBy[k]!] === 'client-down';
  }

  /** Whether it ended because its client was told, by its lock, that it had lost it. */
  endedByLoss(k: number): boolean {
    return ENDED_BY[this.endedBy[k]!] === 'lost';
  }

  *[Symbol.iterator](): Iterator<Hold> {
    for (let k = 0; k < this.count; k++) yield this.hold(k);
  }

  /** History lines: the acquire's two, then everything else that made the hold, in order. */
  private evidence(k: number): number[] {
    const { operations: ops, rare } = this.history;
    const row = this.row[k]!;
    this.related ??= new Related(this.history);
    const lines = this.related.lines(row);
    if (this.endedByDeath(k)) {
      const client = ops.clients[this.client[k]!]!;
      for (const event of rare) if (event.type === 'client-down' && event.client === client) lines.push(event.i);
    }
    return [ops.invokeLine[row]!, ops.completionLine[row]!, ...lines.sort((a, b) => a - b)];
  }
}

/** Every proven hold of a history. Made once for each. */
export const holdsOf = once((history: History): Holds => new Drawing(history).holds);

/** Draws the bounds of all holds, rule by rule. */
class Drawing {
  readonly holds: Holds;
  private readonly trusted: Uint8Array;
  private readonly kind: LeaseKind;

  constructor(private readonly history: History) {
    this.trusted = trustedClients(history);
    this.kind = leaseKindOf(history);
    this.holds = new Holds(history, grantedRows(history));
    for (let k = 0; k < this.holds.count; k++) this.granted(k);
    this.released();
    this.lost();
    this.down();
    this.renewed();
  }

  /**
   * From: when the client had the answer in hands. Without its own stamp, when the harness read the answer, which is later.
   * The lease: from when the granted attempt left. Without that stamp, from when the operation began, or was sent, which is
   * earlier: a client that waited 4 s in a queue and then got a 5 s lease counts as leased for the first second only.
   */
  private granted(k: number): void {
    const { holds } = this;
    const { operations: ops, endNs } = this.history;
    const row = holds.row[k]!;
    const fromNs = ownStamp(ops, this.trusted, row, ops.endedNs, ops.readNs[row]!);
    const grantSentNs = attemptSentNs(ops, this.trusted, row);
    holds.fromNs[k] = fromNs;
    holds.untilNs[k] = Math.max(fromNs, endNs);
    holds.grantSentNs[k] = grantSentNs;
    holds.leaseEndNs[k] = leaseEndAfter(this.leased(k), holds.untilNs[k]!, []);
  }

  /** What it was granted for, and what the lock said of it. */
  private leased(k: number): LeaseTerm {
    const leased = { sentNs: this.holds.grantSentNs[k]!, leaseMs: grantedMs(this.kind, this.holds.leaseMs[k]!) };
    return { ...leased, saidNs: saidOf(this.history, this.trusted, this.holds.row[k]!, leased) };
  }

  /**
   * A hold ends when its release *began*, whatever came of it: a client that got the answer "not yours", or none at all, has
   * stopped working under the lock all the same.
   *
   * Where that instant is not known (no answer, or no stamps) the hold is proven only until the release was *sent* to the
   * client. Say c1 is stopped at 2 s, told to release at 3 s and killed at 5 s, still stopped: it held until 5 s. Say it ran,
   * began the release at 3.001 s and died before answering: it did not. Both leave the same record, so 3 s it is; an overlap
   * that began between 3 s and 5 s is not seen.
   */
  private released(): void {
    const { operations: ops } = this.history;
    for (let row = 0; row < ops.count; row++) {
      if (ops.op[row] !== OP.release) continue;
      const k = this.about(ops.hold[row]!);
      if (k < 0) continue;
      this.endAt(k, ownStamp(ops, this.trusted, row, ops.beganNs, ops.sentNs[row]!), 'release');
      // Released twice (say, once without an answer): "ok" is the news.
      const outcome = ops.outcome[row]!;
      if (outcome !== OUTCOME.none && this.holds.released[k] !== OUTCOME.ok) this.holds.released[k] = outcome;
    }
  }

  /**
   * A client whose library reported that it lost the lock stopped holding then. If its clock cannot be trusted, the report
   * may have come at any time since the grant, and nothing is proven.
   */
  private lost(): void {
    const { notices } = this.history;
    for (let at = 0; at < notices.count; at++) {
      const k = notices.type[at] === NOTICE.lost ? this.about(notices.hold[at]!) : -1;
      if (k < 0) continue;
      this.endAt(k, this.trusted[notices.client[at]!] ? notices.clientNs[at]! : this.holds.fromNs[k]!, 'lost');
    }
  }

  /**
   * A killed client certainly acted until the moment before the kill was sent. One that died by itself did so a little
   * before its death was noticed; that gap is milliseconds unless the harness itself stood still, which `doubts.ts` looks at.
   *
   * One that is killed because it could not tell what came of an operation was told nothing more after that answer. Say c1 extends
   * at 1.3 s, says at 1.8 s that the server did not answer, and a busy harness reads that at 2.1 s: it acted until 1.8 s.
   */
  private down(): void {
    const { operations: ops } = this.history;
    const endNs = new Map<string, number>();
    for (const event of this.history.rare) if (event.type === 'client-down') endNs.set(event.client, event.endNs);
    const lastRow = new Int32Array(ops.clients.length).fill(-1);
    for (let row = 0; row < ops.count; row++) lastRow[ops.client[row]!] = row;
    const byClient = ops.clients.map((client, at) => {
      const ns = endNs.get(client);
      return ns === undefined ? undefined : Math.min(ns, this.gaveUpNs(lastRow[at]!));
    });
    for (let k = 0; k < this.holds.count; k++) {
      const ns = byClient[this.holds.client[k]!];
      if (ns !== undefined) this.endAt(k, ns, 'client-down');
    }
  }

  /** When its client said of its last operation that it cannot tell what came of it; Infinity: it did not, or not when. */
  private gaveUpNs(row: number): number {
    const { operations: ops } = this.history;
    if (row < 0 || ops.outcome[row] !== OUTCOME.info) return Number.POSITIVE_INFINITY;
    if (wasGivenUp(ops.cancelledNs[row], ops.reasons[ops.reason[row]!])) return Number.POSITIVE_INFINITY;
    if (ops.op[row] !== OP.extend && ops.op[row] !== OP.acquire) return Number.POSITIVE_INFINITY;
    return ownStamp(ops, this.trusted, row, ops.endedNs, Number.POSITIVE_INFINITY);
  }

  /**
   * Draws the leases' ends. A renewal told unasked counts only where the client's clock can be trusted: else nothing bounds
   * when it was sent.
   */
  private renewed(): void {
    const { holds } = this;
    const renewals = [...this.nestedGrants(), ...toldRenewals(this.history, this.holds.ofRow)];
    renewals.sort((a, b) => a.k - b.k || a.sentNs - b.sentNs);
    for (let from = 0, to = 0; from < renewals.length; from = to) {
      const { k } = renewals[from]!;
      while (to < renewals.length && renewals[to]!.k === k) to++;
      const proven = { fromNs: holds.fromNs[k]!, untilNs: holds.untilNs[k]! };
      const { leaseEndNs, untilNs } = provenBounds(this.leased(k), proven, renewals.slice(from, to));
      holds.leaseEndNs[k] = leaseEndNs;
      holds.untilNs[k] = untilNs;
    }
  }

  /** An owner that takes a reentrant lock again sets the expiry of what it holds already; in another mode it may. */
  private nestedGrants(): Renewal[] {
    const { holds } = this;
    const renewals: Renewal[] = [];
    const open = new Map<number, number[]>();
    for (let k = 0; k < holds.count; k++) {
      const place = holds.client[k]! * this.history.operations.keys.length + holds.key[k]!;
      const outer = (open.get(place) ?? []).filter((one) => holds.untilNs[one]! > holds.fromNs[k]!);
      const line = this.history.operations.completionLine[holds.row[k]!]!;
      for (const one of outer) {
        const inOtherMode = holds.shares[one] !== holds.shares[k];
        renewals.push({ k: one, ...this.leased(k), known: true, inOtherMode, line });
      }
      outer.push(k);
      open.set(place, outer);
    }
    return renewals;
  }

  /** The hold of the acquire in that row, or -1. */
  private about(acquireRow: number): number {
    return acquireRow < 0 ? -1 : this.holds.ofRow[acquireRow]!;
  }

  /** Ends the hold at `ns` unless something ended it earlier. It cannot end before it began: then it is empty. */
  private endAt(k: number, ns: number, by: Hold['endedBy']): void {
    const { untilNs, endedBy, fromNs } = this.holds;
    const endNs = Math.max(fromNs[k]!, ns);
    if (endNs > untilNs[k]! || (endedBy[k] !== 0 && endNs === untilNs[k])) return;
    untilNs[k] = endNs;
    endedBy[k] = ENDED_BY.indexOf(by);
  }
}

/** Rows of the acquires that succeeded, in the order in which that was recorded. */
function grantedRows({ operations: ops }: History): Int32Array {
  let count = 0;
  const rows = new Int32Array(ops.count);
  for (let row = 0; row < ops.count; row++)
    if (ops.op[row] === OP.acquire && ops.outcome[row] === OUTCOME.ok) rows[count++] = row;
  return rows.slice(0, count).sort((a, b) => ops.completionLine[a]! - ops.completionLine[b]!);
}

/** For each acquire, the history lines of what was done about its hold and said about it. */
class Related {
  /** Where the lines of each row begin in `all`; the next one's beginning is their end. */
  private readonly start: Int32Array;
  private readonly all: Int32Array;

  constructor(history: History) {
    const { operations: ops } = history;
    this.start = new Int32Array(ops.count + 1);
    forEachRelated(history, (row) => this.start[row + 1]!++);
    for (let row = 0; row < ops.count; row++) this.start[row + 1]! += this.start[row]!;
    this.all = new Int32Array(this.start[ops.count]!);
    const next = this.start.slice();
    forEachRelated(history, (row, line) => {
      this.all[next[row]!++] = line;
    });
  }

  lines(row: number): number[] {
    return [...this.all.subarray(this.start[row]!, this.start[row + 1]!)];
  }
}

function forEachRelated({ operations: ops, notices }: History, visit: (row: number, line: number) => void): void {
  for (let row = 0; row < ops.count; row++) {
    if (ops.hold[row]! < 0 || (ops.op[row] !== OP.release && ops.op[row] !== OP.extend)) continue;
    visit(ops.hold[row]!, ops.invokeLine[row]!);
    if (ops.completionLine[row]! >= 0) visit(ops.hold[row]!, ops.completionLine[row]!);
  }
  for (let at = 0; at < notices.count; at++)
    if (notices.hold[at]! >= 0 && notices.type[at] !== NOTICE.step) visit(notices.hold[at]!, notices.line[at]!);
}

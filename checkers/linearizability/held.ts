/**
 * The reading that the verdict's classes have of a run, as key histories that the procedures of this folder decide: a hold ends
 * where its release began, whatever came of it; where its client was told that it is lost; where its client went down; or, by the
 * reading of leases, once its lease has certainly run.
 *
 * It is drawn from the operations and notices themselves, and shares nothing with the holds and the sweep that accuse but what
 * says which stamps count and how much of a lease is certain. So what is wrong in one of the two is seen by the other.
 *
 * Each granted acquire becomes an acquire and, where something ended its hold, a release of unknown outcome, which took effect at
 * that instant at the earliest. Acquires that are not known to have been granted are left out: they prove nothing.
 */

import { rowsOf } from '../../harness/record/column-table.js';
import { byKey } from '../../harness/record/facts/by-key.js';
import { wasGivenUp } from '../../harness/record/facts/given-up.js';
import { grantedMs, leaseKindOf } from '../../harness/record/facts/lease-kind.js';
import { leaseMarginNs } from '../../harness/record/facts/margin.js';
import { sortNearlySorted } from '../../harness/record/facts/nearly-sorted.js';
import { attemptSentNs, ownStamp, trustedClients } from '../../harness/record/facts/operations.js';
import { OPERATION_COLUMNS } from '../../harness/record/history-columns.js';
import { MODE, NOTICE, OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History, Operations } from '../../harness/vocabulary/history.js';
import type { KeyHistory } from './types.js';

/**
 * What a hold of the history is to the other holds of its key:
 * - `leased`: it lasts until something ended it or its lease had run, whichever was first;
 * - `acted`: whoever acted on for longer than its lease's margin after that was over holds from the end of the lease on once more.
 */
export type HeldAs = 'leased' | 'acted';

/** The granted acquires of one key, and what is known of how long each was held. Times in nanoseconds of the history's clock. */
export interface HeldKey {
  readonly key: string;
  /** In the order in which they were asked for. */
  readonly tenures: readonly Tenure[];
  /** Whether a client was granted the key for writing while it had it already: no model here says whether that may be. */
  readonly upgrades: boolean;
}

interface Tenure {
  /** The row of the acquire. */
  row: number;
  client: number;
  reads: boolean;
  /** The grant: within this. */
  callNs: number;
  returnNs: number;
  /** When the holder stopped acting as one, by anything but a lease; at the latest the end of the history. */
  endNs: number;
  /** How long the lease certainly ran from the grant, where nothing but the grant says so; else Infinity. */
  leaseNs: number;
  /** Until when the lease certainly ran, where a renewal or the lock's word says so; else Infinity. */
  leasedUntilNs: number;
  /** When it was over by what was asked for and told, and how much later nobody is blamed. */
  leaseOverNs: number;
  marginNs: number;
}

/** A time in which a grant was certainly used as one. */
interface Part extends Pick<Tenure, 'row' | 'callNs' | 'returnNs' | 'leaseNs'> {
  /** When it can be over at the earliest, if its lease does not end it before. */
  endNs: number;
}

/** What gives a hold time anew: an extension, a renewal by the lock, or a grant to its owner once more. */
interface Term {
  sentNs: number;
  leaseMs: number;
  /** When it ends by the lock's own word; Infinity: it says nothing, or nothing less. */
  saidNs: number;
  isKnown: boolean;
  isInOtherMode: boolean;
}

/** All keys that were granted, one after another: of a long run each is large. */
export function* heldKeys(history: History): Generator<HeldKey> {
  const { operations: ops } = history;
  const draw = new Drawn(history);
  const isGranted = (row: number) => ops.op[row] === OP.acquire && ops.outcome[row] === OUTCOME.ok;
  for (const [key, rows] of byKey(ops.key, ops.count, ops.keys.length, isGranted).entries()) {
    if (rows.length === 0) continue;
    const tenures = Array.from(rows, (row) => draw.tenure(row));
    const upgrades = draw.withLeases(tenures);
    yield { key: ops.keys[key]!, tenures, upgrades };
  }
}

/** Whether it is another history as `acted` than as `leased`. */
export function isActedOnLate({ tenures }: HeldKey): boolean {
  return tenures.some(isLate);
}

/** The key as a history of acquires and of releases of unknown outcome, in the order of their calls. */
export function heldHistory({ operations: ops }: History, { key, tenures }: HeldKey, as: HeldAs): KeyHistory {
  const parts: Part[] = [];
  for (const tenure of tenures) {
    const { row, callNs, returnNs, leaseNs } = tenure;
    const lateNs = as === 'acted' && isLate(tenure) ? actedLateSinceNs(tenure) : undefined;
    // A client is in nobody's way but others': where its grant had to wait, its lease may run on when it acts on already.
    const endNs = Math.min(tenure.endNs, tenure.leasedUntilNs, lateNs ?? Number.POSITIVE_INFINITY);
    parts.push({ row, callNs, returnNs, leaseNs, endNs: Math.max(callNs, endNs) });
    if (lateNs === undefined) continue;
    parts.push({ row, callNs: lateNs, returnNs: lateNs, leaseNs: Number.POSITIVE_INFINITY, endNs: tenure.endNs });
  }
  const count = parts.length;
  // Each grant and its end beside each other: then they are nearly in order.
  const part = (step: number) => parts[step >> 1]!;
  const isEnd = (step: number) => (step & 1) === 1;
  const atNs = Float64Array.from({ length: 2 * count }, (_, step) =>
    isEnd(step) ? part(step).endNs : part(step).callNs,
  );
  // Of one instant the acquires are the first.
  const steps = Int32Array.from(atNs, (_, step) => step);
  sortNearlySorted(
    steps,
    (a, b) => atNs[a]! - atNs[b]! || Number(isEnd(a)) - Number(isEnd(b)) || part(a).row - part(b).row,
  );
  const place = new Int32Array(2 * count);
  steps.forEach((step, at) => {
    place[step] = at;
  });
  const operations: Operations = {
    ...rowsOf(
      OPERATION_COLUMNS,
      ops,
      Array.from(steps, (step) => part(step).row),
    ),
    op: Uint8Array.from(steps, (step) => (isEnd(step) ? OP.release : OP.acquire)),
    outcome: Uint8Array.from(steps, (step) => (isEnd(step) ? OUTCOME.none : OUTCOME.ok)),
    reason: new Int32Array(2 * count).fill(-1),
    hold: Int32Array.from(steps, (step) => (isEnd(step) ? place[step - 1]! : -1)),
  };
  return {
    key,
    operations,
    rows: Int32Array.from(steps, (_, at) => at),
    callNs: Float64Array.from(steps, (step) => atNs[step]!),
    returnNs: Float64Array.from(steps, (step) => (isEnd(step) ? Number.POSITIVE_INFINITY : part(step).returnNs)),
    leaseNs: Float64Array.from(steps, (step) => (isEnd(step) ? Number.POSITIVE_INFINITY : part(step).leaseNs)),
  };
}

/** Whether its client acted on for longer than the margin after its lease was over. */
function isLate(tenure: Tenure): boolean {
  const { endNs, leaseOverNs, marginNs } = tenure;
  return endNs - leaseOverNs > marginNs && actedLateSinceNs(tenure) < endNs;
}

function actedLateSinceNs({ returnNs, leaseOverNs }: Tenure): number {
  return Math.max(returnNs, leaseOverNs);
}

/** What the record says of each granted acquire. */
class Drawn {
  private readonly trusted: Uint8Array;
  /** By row of an acquire: the earliest end that is known. */
  private readonly endNs: Float64Array;
  /** By row of an acquire. */
  private readonly terms = new Map<number, Term[]>();
  private readonly leaseKind;

  constructor(private readonly history: History) {
    const { operations: ops, notices } = history;
    this.trusted = trustedClients(history);
    this.leaseKind = leaseKindOf(history);
    this.endNs = new Float64Array(ops.count).fill(history.endNs);
    for (let row = 0; row < ops.count; row++) {
      const hold = ops.hold[row]!;
      if (hold < 0) continue;
      if (ops.op[row] === OP.release)
        this.endsBy(hold, ownStamp(ops, this.trusted, row, ops.beganNs, ops.sentNs[row]!));
      if (ops.op[row] === OP.extend && ops.outcome[row] !== OUTCOME.fail)
        this.term(hold, this.termOf(row, ops.outcome[row] === OUTCOME.ok));
    }
    for (let at = 0; at < notices.count; at++) {
      const hold = notices.hold[at]!;
      if (hold < 0) continue;
      const isTrusted = this.trusted[notices.client[at]!] === 1;
      // Of a clock that cannot be trusted the loss may have come at any time, and a renewal have been sent at any.
      if (notices.type[at] === NOTICE.lost)
        this.endsBy(hold, isTrusted ? notices.clientNs[at]! : Number.NEGATIVE_INFINITY);
      if (notices.type[at] === NOTICE.renewed && isTrusted)
        this.term(hold, {
          sentNs: notices.clientNs[at]!,
          leaseMs: notices.leaseMs[at]!,
          saidNs: Number.POSITIVE_INFINITY,
          isKnown: true,
          isInOtherMode: false,
        });
    }
    const downNs = this.downs();
    for (let row = 0; row < ops.count; row++) this.endsBy(row, downNs[ops.client[row]!]!);
  }

  tenure(row: number): Tenure {
    const { operations: ops } = this.history;
    const returnNs = ownStamp(ops, this.trusted, row, ops.endedNs, ops.readNs[row]!);
    return {
      row,
      client: ops.client[row]!,
      reads: ops.mode[row] === MODE.read,
      callNs: Math.min(returnNs, attemptSentNs(ops, this.trusted, row)),
      returnNs,
      endNs: this.endNs[row]!,
      leaseNs: Number.POSITIVE_INFINITY,
      leasedUntilNs: Number.POSITIVE_INFINITY,
      leaseOverNs: Number.POSITIVE_INFINITY,
      marginNs: leaseMarginNs(ops.leaseMs[row]! || 0),
    };
  }

  /** Gives the tenures of one key their leases. True: one was granted for writing while its own client had the key already. */
  withLeases(tenures: readonly Tenure[]): boolean {
    let upgrades = false;
    const open = new Map<number, Tenure[]>();
    for (const inner of [...tenures].sort((a, b) => a.returnNs - b.returnNs || a.row - b.row)) {
      const outer = (open.get(inner.client) ?? []).filter(
        ({ returnNs, endNs }) => Math.max(returnNs, endNs) > inner.returnNs,
      );
      for (const one of outer) {
        this.term(one.row, { ...this.termOf(inner.row, true), isInOtherMode: one.reads !== inner.reads });
        if (!inner.reads) upgrades = true;
      }
      open.set(inner.client, [...outer, inner]);
    }
    for (const tenure of tenures) this.lease(tenure);
    return upgrades;
  }

  private lease(tenure: Tenure): void {
    const granted = this.termOf(tenure.row, true);
    const terms = (this.terms.get(tenure.row) ?? []).sort((a, b) => a.sentNs - b.sentNs);
    // In another mode it may have been given the time, or may not.
    const [together, apart] = [terms, terms.filter(({ isInOtherMode }) => !isInOtherMode)].map((some) =>
      leasedUntilNs(granted, some, tenure.endNs),
    );
    tenure.leaseOverNs = Math.min(together!, apart!);
    if (together !== apart) tenure.endNs = Math.min(tenure.endNs, tenure.leaseOverNs);
    const isAsGranted = terms.length === 0 && granted.saidNs === Number.POSITIVE_INFINITY;
    if (isAsGranted) tenure.leaseNs = Math.max(0, granted.leaseMs * 1e6 - tenure.marginNs);
    else tenure.leasedUntilNs = tenure.leaseOverNs - tenure.marginNs;
  }

  /** What the grant or extension in that row gave. */
  private termOf(row: number, isKnown: boolean): Term {
    const { operations: ops } = this.history;
    const sentNs = attemptSentNs(ops, this.trusted, row);
    const asked = ops.leaseMs[row]! || 0;
    const leaseMs = ops.op[row] === OP.acquire ? grantedMs(this.leaseKind, asked) : asked;
    const saidNs = ownStamp(ops, this.trusted, row, ops.endedNs, sentNs) + ops.validForMs[row]! * 1e6;
    // A lock keeps a little back for clocks that differ; what is well below what was asked for it means.
    const isLess = saidNs < sentNs + (leaseMs * 0.98 - 5) * 1e6;
    return { sentNs, leaseMs, saidNs: isLess ? saidNs : Number.POSITIVE_INFINITY, isKnown, isInOtherMode: false };
  }

  /**
   * By client: when it went down; or, where it could not tell what came of its last acquire or extension and was ended for that,
   * when it said so, for it was told nothing more. Infinity: it stayed up.
   */
  private downs(): Float64Array {
    const { operations: ops, rare } = this.history;
    const downNs = new Float64Array(ops.clients.length).fill(Number.POSITIVE_INFINITY);
    for (const event of rare) {
      const client = event.type === 'client-down' ? ops.clients.indexOf(event.client) : -1;
      if (client >= 0 && event.type === 'client-down') downNs[client] = event.endNs;
    }
    const last = new Int32Array(ops.clients.length).fill(-1);
    for (let row = 0; row < ops.count; row++) last[ops.client[row]!] = row;
    last.forEach((row, client) => {
      if (row < 0 || downNs[client] === Number.POSITIVE_INFINITY || ops.outcome[row] !== OUTCOME.info) return;
      if (ops.op[row] !== OP.acquire && ops.op[row] !== OP.extend) return;
      if (wasGivenUp(ops.cancelledNs[row], ops.reasons[ops.reason[row]!])) return;
      downNs[client] = Math.min(
        downNs[client]!,
        ownStamp(ops, this.trusted, row, ops.endedNs, Number.POSITIVE_INFINITY),
      );
    });
    return downNs;
  }

  private endsBy(row: number, ns: number): void {
    if (ns < this.endNs[row]!) this.endNs[row] = ns;
  }

  private term(row: number, term: Term): void {
    const terms = this.terms.get(row);
    if (terms) terms.push(term);
    else this.terms.set(row, [term]);
  }
}

/**
 * Until when a lease ran that was granted and then renewed, `terms` in the order in which they were sent. The last renewal that came
 * in time decides, also where it asked for less; one that came when the lease had ended, or the hold, mends nothing. One of which it
 * is not known whether it was carried out can only have made it shorter.
 */
function leasedUntilNs(granted: Term, terms: readonly Term[], endNs: number): number {
  const askedNs = ({ sentNs, leaseMs }: Term) => sentNs + leaseMs * 1e6;
  let inForce = granted;
  let shortestNs = Number.POSITIVE_INFINITY;
  let isMended = true;
  for (const term of terms) {
    if (!term.isKnown) shortestNs = Math.min(shortestNs, askedNs(term));
    else if (term.sentNs > askedNs(inForce) || term.sentNs > endNs) isMended = false;
    else if (isMended) inForce = term;
  }
  return Math.min(askedNs(inForce), inForce.saidNs, shortestNs);
}

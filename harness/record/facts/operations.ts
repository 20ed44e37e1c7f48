/**
 * What can be relied on in a history's operations: which clients' own stamps can be true. Everything that is decided from a
 * history stands on sent ≤ began ≤ ended ≤ read.
 */
import type { History, Operations } from '../../vocabulary/history.js';
import { NOTICE, OUTCOME } from '../history-table.js';
import { once } from './once.js';
import { moment } from './words.js';

/** The first stamp of a client that cannot be true. */
export interface StampBreach {
  client: string;
  /** History index. */
  history: number;
  text: string;
}

/**
 * Clients whose stamps break sent ≤ began ≤ (lease runs from) ≤ ended ≤ read, each with its first breach, by their index in
 * `operations.clients`. One wrong stamp condemns all of that process's: it is not known in which other answers its clock
 * was wrong.
 */
export const stampBreaches = once((history: History): ReadonlyMap<number, StampBreach> => {
  const { operations: ops, notices } = history;
  const breaches = new Map<number, StampBreach>();
  const breach = (client: number, at: number, stamps: readonly (readonly [what: string, ns: number])[]) => {
    const text = disorder(stamps);
    if (text && !breaches.has(client)) breaches.set(client, { client: ops.clients[client]!, history: at, text });
  };
  for (let row = 0; row < ops.count; row++) {
    if (ops.outcome[row] === OUTCOME.none || inOrder(history, row)) continue;
    breach(ops.client[row]!, ops.completionLine[row]!, [
      ['sent', ops.sentNs[row]!],
      ['began', ops.beganNs[row]!],
      ['lease from', ops.leaseFromNs[row]!],
      ['ended', ops.endedNs[row]!],
      ['read', ops.readNs[row]!],
    ]);
  }
  for (let at = 0; at < notices.count; at++) {
    if (notices.type[at] === NOTICE.step) continue;
    const isLoss = notices.type[at] === NOTICE.lost;
    // What was never taken cannot be lost; between that and the answer it can.
    const takenNs = isLoss ? takenAtEarliestNs(ops, notices.hold[at]!) : Number.NaN;
    const stamps = [
      ['attempt left', takenNs],
      [isLoss ? 'lost' : 'renewal sent', notices.clientNs[at]!],
      ['read', notices.atNs[at]!],
    ] as const;
    if (notices.clientNs[at]! > notices.atNs[at]! || notices.clientNs[at]! < takenNs)
      breach(notices.client[at]!, notices.line[at]!, stamps);
  }
  return breaches;
});

/** When the attempt left that was granted in that row, or something before it; NaN: there is no such row, or no stamp. */
function takenAtEarliestNs({ leaseFromNs, beganNs, sentNs }: Operations, row: number): number {
  const known = row < 0 ? [] : [leaseFromNs[row]!, beganNs[row]!, sentNs[row]!].filter((ns) => !Number.isNaN(ns));
  return known[0] ?? Number.NaN;
}

/** Whether a row's stamps are in order; of a stamp that is missing (NaN) nothing is asked. */
function inOrder({ operations: ops }: History, row: number): boolean {
  let latestNs = ops.sentNs[row]!;
  for (const column of [ops.beganNs, ops.leaseFromNs, ops.endedNs, ops.readNs]) {
    const ns = column[row]!;
    if (ns < latestNs) return false;
    if (ns > latestNs) latestNs = ns;
  }
  return true;
}

function disorder(stamps: readonly (readonly [what: string, ns: number])[]): string | undefined {
  let [before, latestNs] = ['', Number.NEGATIVE_INFINITY];
  for (const [what, ns] of stamps) {
    if (ns < latestNs) return `${what} ${moment(ns)} lies before ${before} ${moment(latestNs)}`;
    if (!Number.isNaN(ns)) [before, latestNs] = [what, ns];
  }
  return undefined;
}

/** By index in `operations.clients`: whether that client's own stamps are taken. */
export const trustedClients = once((history: History): Uint8Array => {
  const trusted = new Uint8Array(history.operations.clients.length).fill(1);
  for (const client of stampBreaches(history).keys()) trusted[client] = 0;
  return trusted;
});

/** A client's own stamp where there is one and it can be trusted. `trusted`: as `trustedClients` gives it. */
export function ownStamp(
  { client }: Operations,
  trusted: Uint8Array,
  row: number,
  column: Float64Array,
  otherwiseNs: number,
): number {
  const ns = column[row]!;
  return Number.isNaN(ns) || !trusted[client[row]!] ? otherwiseNs : ns;
}

/** When the attempt that succeeded left; without that stamp, when the operation began, or was sent, which is earlier. */
export function attemptSentNs(ops: Operations, trusted: Uint8Array, row: number): number {
  return ownStamp(ops, trusted, row, ops.leaseFromNs, ownStamp(ops, trusted, row, ops.beganNs, ops.sentNs[row]!));
}

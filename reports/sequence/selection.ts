/** Which of the exchanges on a key are told: those that a grant, a renewal or a release is made of. */
import type { Exchange } from '../../harness/record/facts/exchanges.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { Violation } from '../../harness/vocabulary/verdict.js';
import type { ReportInput } from '../input.js';
import { wasRefused } from './words.js';

/** So far back from what was wrong it is told; a lease may be hours. */
export const REACH_BACK_NS = 10e9;

/** A stretch of time that is told. */
export interface ToldSpan {
  fromNs: number;
  untilNs: number;
}

/** One of a client's, on the violation's key. */
export interface ToldOperation {
  row: number;
  host: string;
  op: number;
  outcome: number;
  fromNs: number;
  /** Infinity: it was never answered. */
  untilNs: number;
  /** Of what was granted: when the attempt that was granted left. */
  leaseFromNs: number;
  leaseMs: number;
  token: number;
  /** Of the acquire whose hold it is about; its own, of an acquire. */
  hold: number;
}

export function operationsOn(
  { history }: ReportInput,
  key: string,
  hostOf: ReadonlyMap<string, string>,
): ToldOperation[] {
  const { operations: ops } = history;
  const found: ToldOperation[] = [];
  for (let row = 0; row < ops.count; row++) {
    if (ops.keys[ops.key[row]!] !== key || (ops.op[row] as number) > OP.extend) continue;
    const client = ops.clients[ops.client[row]!]!;
    const began = ops.beganNs[row]!;
    const ended = Number.isNaN(ops.endedNs[row]!) ? ops.readNs[row]! : ops.endedNs[row]!;
    found.push({
      row,
      host: hostOf.get(client) ?? client,
      op: ops.op[row]!,
      outcome: ops.outcome[row]!,
      fromNs: Number.isNaN(began) ? ops.sentNs[row]! : began,
      untilNs: Number.isNaN(ended) ? Number.POSITIVE_INFINITY : ended,
      leaseFromNs: ops.leaseFromNs[row]!,
      leaseMs: ops.leaseMs[row]!,
      token: ops.token[row]!,
      hold: ops.op[row] === OP.acquire ? row : ops.hold[row]!,
    });
  }
  return found;
}

/** The grants of the holds that something is about, also where one needed no message, or one that is not about the key. */
export function grantsOf(
  { holds }: Pick<Violation, 'holds'>,
  operations: readonly ToldOperation[],
  hostOf: ReadonlyMap<string, string>,
): ToldOperation[] {
  return holds.flatMap((hold) => {
    const host = hostOf.get(hold.client) ?? hold.client;
    return operations.filter(
      (one) => one.op === OP.acquire && one.outcome === OUTCOME.ok && one.host === host && one.untilNs === hold.fromNs,
    );
  });
}

export interface Kept {
  exchange: Exchange;
  /** Absent: it was sent outside of all, as a renewal is. */
  operation: ToldOperation | undefined;
}

/** Those of the window; of operations that reach into it all, and of what these release the grant. */
export function selected(
  about: readonly Exchange[],
  operations: readonly ToldOperation[],
  window: ToldSpan,
): { kept: Kept[]; refused: number } {
  const all = about.map((exchange): Kept => ({ exchange, operation: operationOf(exchange, operations) }));
  const matters = ({ exchange, operation }: Kept) => {
    if (operation?.op !== OP.acquire) return true;
    const isGranted = operation.outcome === OUTCOME.ok && exchange.request.sentNs >= operation.leaseFromNs;
    return isGranted || !wasRefused(exchange);
  };
  const reaches = ({ exchange }: Kept) =>
    exchange.request.sentNs <= window.untilNs && exchangeEndNs(exchange, Number.POSITIVE_INFINITY) >= window.fromNs;
  const near = all.filter(reaches);
  const first = near.filter(matters);
  const begun = new Set(first.flatMap(({ operation }) => (operation ? [operation.row] : [])));
  const released = new Set(first.flatMap(({ operation }) => (operation ? [operation.hold] : [])));
  const isTold = (one: Kept) =>
    matters(one) &&
    (first.includes(one) ||
      (one.exchange.request.sentNs <= window.untilNs &&
        one.exchange.request.sentNs >= window.fromNs - REACH_BACK_NS &&
        one.operation !== undefined &&
        (begun.has(one.operation.row) || (released.has(one.operation.row) && one.operation.op === OP.acquire))));
  return { kept: all.filter(isTold), refused: near.length - first.length };
}

function operationOf({ client, request }: Exchange, operations: readonly ToldOperation[]): ToldOperation | undefined {
  return operations.find(
    ({ host, fromNs, untilNs }) => host === client && fromNs <= request.sentNs && request.sentNs <= untilNs,
  );
}

export function exchangeEndNs({ request, answer }: Exchange, otherwise: number): number {
  return answer?.message.arrivedNs ?? request.arrivedNs ?? otherwise;
}

/** A client's answer, held against the protocol and the stamps of the exchange. */
import { shown } from '../record/schemas/foreign-text.js';
import type { Completion } from '../vocabulary/history.js';
import type { Instruction } from '../vocabulary/workload.js';
import { type Reply, valueFields } from './client-process.js';

/** An operation of a client on what it holds. */
export type HeldOp = Exclude<Instruction['do'], 'acquire' | 'idle' | 'abandon'>;

/** What goes into the history. */
export interface JudgedReply {
  type: 'ok' | 'fail' | 'info';
  completion: Completion;
  /** How the answer breaks the protocol; then its outcome is unknown. */
  broke?: string;
}

/** Holds a reply against the request. All stamps but the reply's own are the harness's; ns. */
export function judgeReply(
  reply: Reply,
  op: HeldOp | 'acquire',
  epochNs: number,
  sentNs: number,
  readNs: number,
): JudgedReply {
  const { type, value, unanswered: _, ...stamps } = reply;
  const began = stamps.beganNs ?? sentNs;
  const ended = stamps.endedNs ?? readNs;
  if (!(sentNs <= began && began <= ended && ended <= readNs)) {
    return broken(`stamps out of order (sent ${sentNs}, began ${began}, ended ${ended}, read ${readNs})`);
  }
  if (type !== 'ok') return { type, completion: stamps };
  const { value: fields, problem } = valueFields(op, value, epochNs);
  if (problem !== undefined) return broken(`value of ${op} is not understood: ${shown(value)} (${problem})`);
  const leaseFrom = fields.grantSentNs ?? fields.sentNs;
  if (leaseFrom !== undefined && !(began <= leaseFrom && leaseFrom <= ended)) {
    return broken(`the lease is said to run from ${leaseFrom}, outside the operation (${began} to ${ended})`);
  }
  return { type, completion: { ...stamps, ...fields } };
}

function broken(what: string): JudgedReply {
  return { type: 'info', completion: { reason: `protocol: ${what}` }, broke: what };
}

/** A client's answer, held against the protocol and the stamps of the exchange. */
import type { Completion } from '../vocabulary/history.js';
import type { Instruction } from '../vocabulary/workload.js';
import { brief, type Reply, valueFields } from './client-process.js';

/** An operation of a client on what it holds. */
export type HeldOp = Exclude<Instruction['do'], 'acquire' | 'idle' | 'abandon'>;

/** What goes into the history. The outcome of an answer that breaks the protocol is unknown. */
export function judgeReply(
  reply: Reply,
  op: HeldOp | 'acquire',
  epochNs: number,
  sentNs: number,
  readNs: number,
): { type: 'ok' | 'fail' | 'info'; completion: Completion } {
  const { type, value, ...stamps } = reply;
  const began = stamps.beganNs ?? sentNs;
  const ended = stamps.endedNs ?? readNs;
  if (!(sentNs <= began && began <= ended && ended <= readNs)) {
    const reason = `protocol: stamps out of order (sent ${sentNs}, began ${began}, ended ${ended}, read ${readNs})`;
    return { type: 'info', completion: { reason } };
  }
  if (type !== 'ok') return { type, completion: stamps };
  const { value: fields, problem } = valueFields(op, value, epochNs);
  if (problem !== undefined) {
    const reason = `protocol: value of ${op} is not understood: ${brief(value)} (${problem})`;
    return { type: 'info', completion: { reason } };
  }
  const leaseFrom = fields.grantSentNs ?? fields.sentNs;
  if (leaseFrom !== undefined && !(began <= leaseFrom && leaseFrom <= ended)) {
    const reason = `protocol: the lease is said to run from ${leaseFrom}, outside the operation (${began} to ${ended})`;
    return { type: 'info', completion: { reason } };
  }
  return { type, completion: { ...stamps, ...fields } };
}

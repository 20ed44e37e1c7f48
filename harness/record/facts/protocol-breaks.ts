/** What clients said against the protocol, and which answers are lost by it. */
import type { History, HistoryEvent, OpName, ProtocolBreak } from '../../vocabulary/history.js';
import { OP } from '../history-table.js';

export interface ClientBreak extends ProtocolBreak {
  client: string;
  /** When nothing of it was heard any more. */
  atNs: number;
}

type Down = Extract<HistoryEvent, { type: 'client-down' }>;

/** All of them, in order: a client is killed for the first. */
export function protocolBreaksOf(history: History): ClientBreak[] {
  return history.rare.flatMap((event) => {
    if (event.type !== 'client-down') return [];
    const broke = event.broke ?? brokeByReason(event, history);
    return broke ? [{ ...broke, client: event.client, atNs: event.endNs }] : [];
  });
}

/** The last break between the two times (ns) by which the answer to an acquire of `key` was lost. */
export function lostGrant(history: History, key: string, fromNs: number, untilNs: number): ClientBreak | undefined {
  return protocolBreaksOf(history).findLast(
    ({ lost, atNs }) => lost?.op === 'acquire' && lost.key === key && atNs >= fromNs && atNs <= untilNs,
  );
}

/** How the first release recorded it: in the reason for which a client was killed, and in that of the answer that was lost. */
const MARK = 'protocol: ';

function brokeByReason({ client, reason }: Down, { operations: ops }: History): ProtocolBreak | undefined {
  if (!reason.startsWith(MARK)) return undefined;
  const what = reason.slice(MARK.length);
  const who = ops.clients.indexOf(client);
  for (let row = ops.count - 1; row >= 0; row--) {
    if (ops.client[row] !== who || !ops.reasons[ops.reason[row]!]?.startsWith(MARK)) continue;
    const op = (Object.keys(OP) as OpName[]).find((name) => OP[name] === ops.op[row])!;
    return { what, lost: { id: ops.id[row]!, op, key: ops.keys[ops.key[row]!]! } };
  }
  return { what };
}

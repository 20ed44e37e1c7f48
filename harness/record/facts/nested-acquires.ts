/** Acquires within a hold of the same key: a reader that is to write, say. */
import type { History } from '../../vocabulary/history.js';
import type { Hold } from '../../vocabulary/verdict.js';
import { OP } from '../history-table.js';
import { firstIndex } from './first-index.js';
import { appendTo } from './listed-by-name.js';
import { once } from './once.js';

/** By key and client: when the harness sent each acquire, ns since the epoch, in order. */
const acquiresSent = once(({ operations: ops }: History): ReadonlyMap<string, readonly number[]> => {
  const sent = new Map<string, number[]>();
  for (let row = 0; row < ops.count; row++)
    if (ops.op[row] === OP.acquire)
      appendTo(sent, `${ops.keys[ops.key[row]!]}\n${ops.clients[ops.client[row]!]}`, ops.sentNs[row]!);
  return sent;
});

/** When the client was first told to take the key once more while it held it, ns since the epoch; Infinity: never. */
export function firstNestedNs(history: History, { client, key, fromNs, untilNs }: Hold): number {
  const sent = acquiresSent(history).get(`${key}\n${client}`) ?? [];
  const next = sent[firstIndex(sent.length, (at) => sent[at]! > fromNs)];
  return next !== undefined && next < untilNs ? next : Number.POSITIVE_INFINITY;
}

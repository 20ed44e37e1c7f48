/** When clients were told to take keys. */
import { OP } from '../history-table.js';
import { appendTo } from './listed-by-name.js';
import { once } from './once.js';

/** By key and client (`<key>\n<client>`): when the harness sent each acquire, ns since the epoch, in order. */
export const acquiresSent = once(({ operations: ops }): ReadonlyMap<string, readonly number[]> => {
  const sent = new Map<string, number[]>();
  for (let row = 0; row < ops.count; row++)
    if (ops.op[row] === OP.acquire)
      appendTo(sent, `${ops.keys[ops.key[row]!]}\n${ops.clients[ops.client[row]!]}`, ops.sentNs[row]!);
  return sent;
});

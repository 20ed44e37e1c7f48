/**
 * The holder's own client removed its key, by the release of another hold of it or by an extension of this one.
 *
 * Example: c2's first hold outlives its lease, and c2 is granted the key once more, with the same owner value. Then it releases
 * the first hold, and a third client gets in beside the second. Or: c2 is to extend its lock on five nodes, one of which does not
 * answer, and gives it back on all of them before it says that it could not.
 *
 * Named where the value was certainly there, that command certainly removed it, and it ran within the client's release of another
 * hold of the key, or its extension of this one. The next one was granted after it and before the release of this one began, or
 * there were no overlap.
 *
 * Excludes what came over the replication link, and scripts that may have gone by a clock that was off.
 */

import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { type KeyWrite, RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import { OP } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import { goneLink, grantLink, leaseLink, type Reason } from './contest.js';
import { mayGoByClock, removalOf } from './released-by-other.js';

export function releasedByItself({ history }: CheckInput): Reason {
  return (contest, evidence) => {
    const { earlier, later, key } = contest;
    const removal = removalOf(contest, evidence);
    if (!removal || removal.client !== earlier.hold.client) return undefined;
    if (mayGoByClock(contest, removal, evidence)) return undefined;
    const { hold } = earlier;
    const within = operationOf(removal, hold, history);
    // What was given a time that is over already may have been so by the server's clock alone.
    const isExpiry = contest.tenure.losses[0]?.by?.name.includes('EXPIRE') === true;
    if (!within || (within.op === 'extend' && isExpiry)) return undefined;
    // Of two operations at once: until it was answered its acquire may have given back itself what it had on one of several nodes.
    if (within.sentNs < hold.fromNs && removal.ranNs <= hold.fromNs + RECKONING_NS) return undefined;
    const { client } = hold;
    return {
      name: 'released-by-itself',
      sentence: `${client} removed its own ${key} from ${removal.node} (${removal.command}) ${wordsOf(within, hold)}; that let ${later.hold.client} have it.`,
      chain: [
        grantLink(earlier),
        {
          atNs: within.sentNs,
          text: `${client} was told to ${within.op} its hold #${within.hold}`,
          history: within.line,
        },
        { atNs: removal.atNs, text: `${client} removed it with ${removal.command}`, observation: removal.observation },
        ...goneLink(contest),
        grantLink(later),
        leaseLink(earlier),
      ],
    };
  };
}

interface Within {
  op: 'release' | 'extend';
  hold: number;
  sentNs: number;
  line: number;
}

/** The client's release of another hold of the key in which this ran, or its extension of this hold. */
function operationOf({ ranNs }: KeyWrite, { client, key, id }: Hold, history: History): Within | undefined {
  const { operations: ops } = history;
  const { callNs, returnNs } = intervalsOf(history);
  const [who, which] = [ops.clients.indexOf(client), ops.keys.indexOf(key)];
  for (let row = 0; row < ops.count; row++) {
    const acquire = ops.hold[row]!;
    if (ops.client[row] !== who || ops.key[acquire] !== which) continue;
    const isOfThis = ops.id[acquire] === id;
    const op = ops.op[row] === OP.release ? 'release' : ops.op[row] === OP.extend ? 'extend' : undefined;
    if (op === undefined || isOfThis !== (op === 'extend')) continue;
    if (callNs[row]! - RECKONING_NS > ranNs || returnNs[row]! + RECKONING_NS < ranNs) continue;
    return { op, hold: ops.id[acquire]!, sentNs: ops.sentNs[row]!, line: ops.invokeLine[row]! };
  }
  return undefined;
}

function wordsOf({ op, hold }: Within, { id }: Hold): string {
  return op === 'extend'
    ? `when it was to extend its hold #${id}`
    : `by the release of its hold #${hold}, while it held it by #${id}`;
}

/**
 * The holder's own client removed its key by the release of another hold of it.
 *
 * Example: c2's first hold outlives its lease, and c2 is granted the key once more, with the same owner value. Then it releases
 * the first hold, and a third client gets in beside the second.
 *
 * Named where the value was certainly there, that command certainly removed it, and it ran within the client's release of another
 * hold of the key. The next one was granted after it and before the release of this one began, or there were no overlap.
 *
 * Excludes what came over the replication link.
 */

import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { type KeyWrite, RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import { OP } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import { goneLink, grantLink, leaseLink, type Reason } from './contest.js';
import { removalOf } from './released-by-other.js';

export function releasedByItself({ history }: CheckInput): Reason {
  return (contest, evidence) => {
    const { earlier, later, key } = contest;
    const removal = removalOf(contest, evidence);
    if (!removal || removal.client !== earlier.hold.client) return undefined;
    const release = otherRelease(removal, earlier.hold, history);
    if (!release) return undefined;
    const { client } = earlier.hold;
    return {
      name: 'released-by-itself',
      sentence: `${client} removed its own ${key} from ${removal.node} (${removal.command}) by the release of its hold #${release.hold}, while it held it by #${earlier.hold.id}; that let ${later.hold.client} have it.`,
      chain: [
        grantLink(earlier),
        {
          atNs: release.sentNs,
          text: `${client} was told to release its hold #${release.hold}`,
          history: release.line,
        },
        { atNs: removal.atNs, text: `${client} removed it with ${removal.command}`, observation: removal.observation },
        ...goneLink(contest),
        grantLink(later),
        leaseLink(earlier),
      ],
    };
  };
}

/** The client's release of another hold of the key, in which this ran. */
function otherRelease({ ranNs }: KeyWrite, { client, key, id }: Hold, history: History) {
  const { operations: ops } = history;
  const { callNs, returnNs } = intervalsOf(history);
  const [who, which] = [ops.clients.indexOf(client), ops.keys.indexOf(key)];
  for (let row = 0; row < ops.count; row++) {
    const acquire = ops.hold[row]!;
    if (ops.op[row] !== OP.release || ops.client[row] !== who) continue;
    if (ops.key[acquire] !== which || ops.id[acquire] === id) continue;
    if (callNs[row]! - RECKONING_NS > ranNs || returnNs[row]! + RECKONING_NS < ranNs) continue;
    return { hold: ops.id[acquire]!, sentNs: ops.sentNs[row]!, line: ops.invokeLine[row]! };
  }
  return undefined;
}

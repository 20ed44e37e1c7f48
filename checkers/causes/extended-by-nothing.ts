/**
 * The holder's own client extended its lock by a time that was over at once, which deletes the key: `lease-too-short`.
 *
 * Example: `extend()` was given no time, and 0 stands for "the usual one". `PEXPIRE key 0` deletes the key and answers 1. The
 * extension is confirmed, and another client gets in.
 *
 * Named where the value was certainly there, and was certainly removed by EXPIRE or one of its kin that counts from now, sent
 * by the holder's client while it extended this hold, or renewed it by itself; that extension was confirmed to the harness.
 *
 * Excludes what came over another connection than the grant, where an operation of another hold before failed or was not answered: what was
 * sent for that may come late; times of day (EXPIREAT), which a server's clock may have overtaken; extensions that failed or were not answered;
 * and, as it is tried after `released-by-itself`, what ran within another release of the key as well.
 */

import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import { trustedClients } from '../../harness/record/facts/operations.js';
import { durationOfMs } from '../../harness/record/facts/words.js';
import { NOTICE, OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import { goneLink, grantLink, leaseLink, type Reason } from './contest.js';
import { removalOf } from './released-by-other.js';

const FROM_NOW = new Set(['EXPIRE', 'PEXPIRE', 'HEXPIRE', 'HPEXPIRE']);

export function extendedByNothing({ history }: CheckInput): Reason {
  return (contest, evidence) => {
    const { earlier, later, key, tenure } = contest;
    const { hold } = earlier;
    const by = tenure.losses[0]?.by;
    const removal = removalOf(contest, evidence);
    if (!by || !FROM_NOW.has(by.name) || removal?.client !== hold.client) return undefined;
    const extension = extensionAt(removal.ranNs, hold, history);
    if (!extension) return undefined;
    if (removal.source !== earlier.write.source && mayBeOfBefore(extension.sentNs, hold, history)) return undefined;
    const gave = `${hold.client} gave ${key} no time to live (${by.name}), which deletes it`;
    const asked = `was to extend its hold #${hold.id} by ${durationOfMs(extension.leaseMs)}`;
    return {
      name: 'lease-too-short',
      sentence: `${gave}, when it ${asked}; that let ${later.hold.client} have it.`,
      chain: [
        grantLink(earlier),
        { atNs: extension.sentNs, text: `${hold.client} ${asked}`, history: extension.line },
        { atNs: removal.atNs, text: gave, observation: by.line },
        ...goneLink(contest),
        grantLink(later),
        leaseLink(earlier),
      ],
    };
  };
}

/** Whether the client was told before to release or extend another hold of the key, and that did not succeed. */
function mayBeOfBefore(sentNs: number, { client, key, id }: Hold, { operations: ops }: History): boolean {
  const [who, which] = [ops.clients.indexOf(client), ops.keys.indexOf(key)];
  for (let row = 0; row < ops.count && ops.sentNs[row]! < sentNs; row++) {
    if (ops.client[row] !== who || ops.key[row] !== which || ops.outcome[row] === OUTCOME.ok) continue;
    if (ops.op[row] !== OP.release && ops.op[row] !== OP.extend) continue;
    if (ops.id[ops.hold[row]!] !== id) return true;
  }
  return false;
}

/** What the hold was extended by, where that was confirmed, and under way at that instant. */
function extensionAt(ranNs: number, { client, id }: Hold, history: History) {
  const { operations: ops, notices } = history;
  const { callNs, returnNs } = intervalsOf(history);
  const who = ops.clients.indexOf(client);
  const isOf = (acquire: number) => ops.client[acquire] === who && ops.id[acquire] === id;
  const isDuring = (fromNs: number, untilNs: number) =>
    fromNs - RECKONING_NS <= ranNs && ranNs <= untilNs + RECKONING_NS;
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] !== OP.extend || ops.outcome[row] !== OUTCOME.ok || !isOf(ops.hold[row]!)) continue;
    if (isDuring(callNs[row]!, returnNs[row]!))
      return { sentNs: ops.sentNs[row]!, leaseMs: ops.leaseMs[row]!, line: ops.invokeLine[row]! };
  }
  if (trustedClients(history)[who] !== 1) return undefined;
  for (let at = 0; at < notices.count; at++) {
    if (notices.type[at] !== NOTICE.renewed || !isOf(notices.hold[at]!)) continue;
    const sentNs = notices.clientNs[at]!;
    if (isDuring(sentNs, notices.atNs[at]!)) return { sentNs, leaseMs: notices.leaseMs[at]!, line: notices.line[at]! };
  }
  return undefined;
}

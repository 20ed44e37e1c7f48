/**
 * Why a key that the probe at the end could not acquire need not be lost for good.
 *
 * - Its last try began while something may rightly have been in the way: a lease, or what the lock declares of places and
 *   permits. A busy machine may have begun none after that.
 * - The lock did not say that it was taken (say it said `not-synced`, or its command timed out), and servers were seen to store
 *   it for that client after that: nobody was in the way, and what the lock waited for beyond that came too late. A log that is
 *   synced once a second keeps a lock that waits for it from every grant by which it waits a quarter of that.
 * - The lock did not say that it was taken, and the harness stood still for half of the grace while it was tried.
 *
 * Excludes a refusal as taken that came when all had ended: no stall keeps a key on a server.
 */
import { ownersBy } from '../../harness/record/facts/commands/changes.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { moment } from '../../harness/record/facts/words.js';
import { OP } from '../../harness/record/history-table.js';
import { shown } from '../../harness/record/schemas/foreign-text.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import { runKeyOf } from '../causes/asks.js';
import { wholeEvidenceOf } from '../causes/whole-evidence.js';
import { Doubts } from '../worth/doubts.js';
import { patienceOf, TAKEN } from './free-and-asked.js';

export type ProbeEvent = Extract<HistoryEvent, { type: 'probe' }>;

/** `recoveredNs`: when the deployment was whole again, ns since the epoch. Undefined: there is no doubt. */
export function doubtAboutProbe(probe: ProbeEvent, recoveredNs: number, input: CheckInput): string | undefined {
  const { key, reason = '' } = probe;
  const early = triedTooEarly(probe, recoveredNs, input);
  if (early !== undefined) return early;
  if (TAKEN.has(reason)) return undefined;
  const dueNs = dueNsOf(recoveredNs, input);
  const lastNs = beganTrying(probe, recoveredNs, input);
  const node = storedFor(probe, dueNs, input);
  if (node !== undefined)
    return `${key} was stored for ${probe.client} on ${node}, and that it was refused ("${shown(reason)}") shows nobody in the way`;
  return new Doubts(input).aboutTrying(lastNs ?? dueNs, probe.atNs);
}

/** No try began when all that may rightly have been in the way had ended: whoever was proven to be may have been there by right. */
export function triedTooEarly(probe: ProbeEvent, recoveredNs: number, input: CheckInput): string | undefined {
  const { key, reason = '' } = probe;
  const lastNs = beganTrying(probe, recoveredNs, input);
  if (lastNs === undefined || lastNs >= dueNsOf(recoveredNs, input)) return undefined;
  return `${key} was last tried at ${moment(lastNs)} ("${shown(reason)}"), when a lease or a place may still have been in the way`;
}

function dueNsOf(recoveredNs: number, { history, config }: CheckInput): number {
  return recoveredNs + (config.leaseMs + patienceOf(history).ms) * 1e6;
}

/** When the last try was called; undefined: that is not recorded. */
export function beganTrying(
  { client, key, atNs }: ProbeEvent,
  recoveredNs: number,
  { history }: CheckInput,
): number | undefined {
  const { operations: ops } = history;
  const { callNs } = intervalsOf(history);
  for (let row = ops.count - 1; row >= 0 && ops.sentNs[row]! >= recoveredNs; row--)
    if (
      ops.op[row] === OP.acquire &&
      ops.sentNs[row]! <= atNs &&
      ops.clients[ops.client[row]!] === client &&
      ops.keys[ops.key[row]!] === key
    )
      return callNs[row]!;
  return undefined;
}

/** A server that was seen to store something for the client under a key of that name. */
function storedFor({ client, key, atNs }: ProbeEvent, fromNs: number, input: CheckInput): string | undefined {
  const evidence = wholeEvidenceOf(input);
  const keys = [...new Set([...input.config.keys, ...input.history.operations.keys])];
  return evidence?.nodes.find((node) => {
    const reading = evidence.readingOf(node);
    return [...(reading?.keys() ?? [])].some(
      (name) =>
        runKeyOf(name, keys) === key &&
        reading!
          .changes(name)
          .list.some(
            (one) =>
              one.by?.client === client &&
              one.applied === 'yes' &&
              one.ranFromNs >= fromNs &&
              one.atNs <= atNs &&
              ownersBy(one.after, one.line).length > 0,
          ),
    );
  });
}

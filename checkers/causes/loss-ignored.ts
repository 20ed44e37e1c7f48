/**
 * The client acted on after its lock had told it that it is not the owner any more.
 *
 * Example: c1 sleeps within an extension until its lease is nearly over. The next extension is refused, and c1, which does not look
 * at that answer (`--careless`), works on until another client is granted the key, and beside that one.
 *
 * Named where the refusal had been read before the two held beside each other, and nothing extended the hold after it: so all
 * that it did beside the other one it did against its lock's own word.
 *
 * Excludes every other failure: that a server was out of reach says nothing of who has the key.
 */

import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { moment } from '../../harness/record/facts/words.js';
import { NOTICE, OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';

const NOT_OWNER = 'not-owner';

/** `toldNs`: when it was told; whatever befell it after that did not keep it from knowing. */
export function lossIgnored(
  { stale, fromNs }: Extract<Overlap, { class: 'stale' }>,
  history: History,
): { cause: Cause; toldNs: number } | undefined {
  const refusal = refusalBefore(fromNs, stale, history);
  if (!refusal) return undefined;
  const { client, key, leaseEndNs, leaseMs, untilNs } = stale;
  const cause: Cause = {
    name: 'loss-ignored',
    sentence: `${client} was told at ${moment(refusal.atNs)} that it is not the owner of ${key} any more, and acted as the holder until ${moment(untilNs)}.`,
    chain: [
      { atNs: stale.fromNs, text: `${client} was granted ${key}`, history: stale.evidence.at(1) },
      { atNs: leaseEndNs, text: `${client}'s lease of ${leaseMs} ms ended`, history: stale.evidence.at(1) },
      { atNs: refusal.atNs, text: `its lock refused to extend it (${NOT_OWNER})`, history: refusal.line },
      { atNs: untilNs, text: `until then ${client} acted as the holder`, history: stale.evidence.at(-1) },
    ].sort((a, b) => a.atNs - b.atNs),
  };
  return { cause, toldNs: refusal.atNs };
}

/** When the first extension of the hold was asked for that was refused so: before that nothing told of the loss. Infinity: none was. */
export function refusedNs({ evidence }: Hold, history: History): number {
  const events = evidence.map((line) => history.event(line));
  const refused = new Set(
    events.flatMap((event) =>
      event?.type === 'fail' && event.op === 'extend' && event.reason === NOT_OWNER ? [event.id] : [],
    ),
  );
  const asked = events.find((event) => event?.type === 'invoke' && refused.has(event.id));
  return asked?.atNs ?? Number.POSITIVE_INFINITY;
}

/** The first refusal to extend the hold that was read by then, and after which nothing was heard to extend it. */
function refusalBefore(byNs: number, hold: Hold, history: History) {
  const { operations: ops, notices } = history;
  const who = ops.clients.indexOf(hold.client);
  const isOf = (acquire: number) => ops.client[acquire] === who && ops.id[acquire] === hold.id;
  let extendedNs = Number.NEGATIVE_INFINITY;
  // Its lock may renew it beside.
  for (let at = 0; at < notices.count; at++)
    if (notices.type[at] === NOTICE.renewed && isOf(notices.hold[at]!))
      extendedNs = Math.max(extendedNs, notices.atNs[at]!);
  const refusals: { atNs: number; line: number }[] = [];
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] !== OP.extend || !isOf(ops.hold[row]!)) continue;
    const atNs = ops.readNs[row]!;
    if (ops.outcome[row] === OUTCOME.ok) extendedNs = Math.max(extendedNs, atNs);
    else if (ops.outcome[row] === OUTCOME.fail && ops.reasons[ops.reason[row]!] === NOT_OWNER && atNs <= byNs)
      refusals.push({ atNs, line: ops.completionLine[row]! });
  }
  return refusals.find(({ atNs }) => atNs > extendedNs);
}

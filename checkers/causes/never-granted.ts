/**
 * A client said that it holds the lock although the one logical server had refused it.
 *
 * Named where the servers were watched from before the granted attempt left until a second after its answer, every request by
 * which the client asked for the key in that time was certainly refused, none of them found the client's own value there, and
 * the other hold was granted by a request of the same form: so this is how the lock stores its grants, and no other place is
 * left in which it may have stored this one.
 *
 * Example: SET NX answers nil, and the lock takes any answer for a yes.
 *
 * Excludes permits, readers and nested holds, which may rightly be granted without a write of their own, and independent
 * nodes (`minority-granted`).
 */

import type { Evidence } from '../../harness/record/facts/evidence.js';
import { asksFor, foundAnother, type KeyWrite, RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { moment } from '../../harness/record/facts/words.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';

/** The observer reads a little behind: what was asked for is in its record by then. */
const OBSERVED_WITHIN_NS = 1e9;
const ONE_GRANT_ONE_WRITE: ReadonlySet<LockModel['kind']> = new Set(['mutex', 'fenced', 'fair']);

export function neverGranted(overlap: Overlap, evidence: Evidence, model: LockModel): Cause | undefined {
  if (evidence.majority !== undefined || !ONE_GRANT_ONE_WRITE.has(model.kind)) return undefined;
  return refusedHold(overlap.second, overlap.first, evidence) ?? refusedHold(overlap.first, overlap.second, evidence);
}

function refusedHold(hold: Hold, other: Hold, evidence: Evidence): Cause | undefined {
  const granted = evidence.grantsOf(other).find(({ took }) => took === true);
  if (!granted || hold.client === other.client) return undefined;
  const watched = evidence.nodes.every((node) =>
    evidence.watchedThroughout(node, hold.grantSentNs - RECKONING_NS, hold.fromNs + OBSERVED_WITHIN_NS),
  );
  if (!watched) return undefined;
  const asked = evidence.nodes.flatMap((node) => evidence.writes(node, hold.key).filter((write) => isOf(write, hold)));
  const [first] = asked;
  if (!first || !asked.every((write) => write.took === false && foundAnother(write))) return undefined;
  if (!asked.every((write) => write.command === granted.write.command)) return undefined;
  return {
    name: 'never-granted',
    sentence: `${hold.client} said that it holds ${hold.key}, but ${first.node} had refused its ${first.command}: another owner's value was there.`,
    chain: [
      {
        atNs: granted.write.atNs,
        text: `${granted.node} granted ${other.key} to ${other.client} (${granted.write.command})`,
        observation: granted.write.observation,
      },
      ...asked.map(({ atNs, node, command, observation }) => ({
        atNs,
        text: `${node} refused ${hold.client}'s ${command}: another owner's value was there`,
        observation,
      })),
      {
        atNs: hold.fromNs,
        text: `${hold.client} said at ${moment(hold.fromNs)} that it holds the lock`,
        history: hold.evidence.at(1),
      },
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

/** Whether it may be a request of the attempt that was answered with this hold. */
function isOf(write: KeyWrite, { client, grantSentNs, fromNs }: Hold): boolean {
  return (
    write.client === client &&
    asksFor(write) &&
    write.ranNs >= grantSentNs - RECKONING_NS &&
    write.ranNs <= fromNs + RECKONING_NS
  );
}

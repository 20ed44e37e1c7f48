/**
 * Two clients said that they hold the lock, by attempts during all of which its one server was dead or stopped: the lock takes an
 * error for a grant, because "the work must go on".
 *
 * No server can have granted either of them then. What it had stored before can be the lock of one of them at the most, whom a lock
 * that remembers might tell so rightly; of the other it would be wrong only where the server had lost something. So the
 * server must have kept all that it had, by clocks that nothing moved, from the run's longest lease before the first of the
 * attempts left until it was last looked at.
 *
 * Excludes nested holds, permits and readers, callers of one process, and deployments of several servers: of those that decide
 * independently see `never-stored.ts`, which looks at what a single one that was up had stored, too.
 */
import { clientNames } from '../../harness/record/facts/clients.js';
import type { EffectSpan } from '../../harness/record/facts/effects.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { isNested } from '../../harness/record/facts/hold-order.js';
import { longestLeaseMs } from '../../harness/record/facts/longest-lease.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { moment } from '../../harness/record/facts/words.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';
import { serversKeptAll } from './kept.js';
import { ANSWERED_WITHIN_NS } from './meanwhile.js';
import { ONE_OWNER } from './never-stored.js';
import { whyNoVote } from './votes.js';

export function grantedWhileDown(overlap: Overlap, evidence: Evidence, input: CheckInput): Cause | undefined {
  const { first, second } = overlap;
  const [node, ...others] = evidence.nodes;
  if (node === undefined || others.length > 0 || evidence.majority !== undefined) return undefined;
  const holds = [first, second];
  if (!ONE_OWNER.has(input.model.kind) || holds.some((hold) => isNested(input.history, hold))) return undefined;
  if (areOneProcess(overlap, input)) return undefined;
  const sentNs = Math.min(first.grantSentNs, second.grantSentNs);
  const down = evidence.effects.whyDown(node, sentNs, Math.max(first.fromNs, second.fromNs));
  if (!down || mayHaveRun(node, down[0]!, holds, evidence)) return undefined;
  if (!hadKeptAll(node, down[0]!, holds, evidence, input)) return undefined;
  const { record } = down[0]!;
  return {
    name: 'never-granted',
    sentence: `${first.client} and ${second.client} said that they hold ${first.key}, by attempts that left and were answered while ${node} could answer nobody (${record.did}): no server can have granted either.`,
    chain: [
      ...down.map(({ record: { atNs, did, i } }) => ({ atNs, text: did, history: i })),
      ...holds.flatMap(({ client, grantSentNs, fromNs, evidence: [sent, told] }) => [
        { atNs: grantSentNs, text: `${client}'s attempt left`, history: sent },
        { atNs: fromNs, text: `${client} said at ${moment(fromNs)} that it holds the lock`, history: told },
      ]),
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

/**
 * Whether somebody else may have had the node run again: it carried out something of the attempts, or answered a look meanwhile.
 * What it printed before it went down may be read later.
 */
function mayHaveRun(node: string, { fromNs }: EffectSpan, holds: readonly Hold[], evidence: Evidence): boolean {
  const answeredNs = Math.max(...holds.map((hold) => hold.fromNs));
  return (
    holds.some((hold) => !whyNoVote(node, hold, evidence)) ||
    evidence.samples(node, fromNs + ANSWERED_WITHIN_NS, answeredNs).length > 0
  );
}

/** Whether what the node had when it went down was all that had been stored for the longest lease, up to the last look at it. */
function hadKeptAll(
  node: string,
  down: EffectSpan,
  holds: readonly Hold[],
  evidence: Evidence,
  input: CheckInput,
): boolean {
  const looked = evidence.lastSample(node, down.earliestNs)?.[1];
  if (!looked) return false;
  const leaseMs = Math.max(input.config.leaseMs, longestLeaseMs(input.history));
  const fromNs = Math.min(...holds.map(({ grantSentNs }) => grantSentNs)) - leaseMs * 1e6;
  // Up to that look, which is of the process that went down: the next one is of another.
  return serversKeptAll(input, { fromNs, untilNs: looked.atNs - 1, endsWithAnswer: true }, true);
}

/** A place of a client may hand on to the next process there, and a process among its callers. */
function areOneProcess({ first, second }: Overlap, { history }: CheckInput): boolean {
  const names = clientNames(history, first.client);
  return [...clientNames(history, second.client)].some((name) => names.has(name));
}

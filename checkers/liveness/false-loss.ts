/**
 * Did a lock say that it was lost when its own client had released it?
 *
 * A renewal that is on its way when its lock is released finds nothing there. A lock that takes that for a loss tells its client
 * so: work that ended well is called off, or the process ends by an error that nobody awaited.
 *
 * Promises: a hold is accused (`false-loss`) only where the servers' record shows that nothing was lost. One server stored its
 * owner from the grant until the hold's own client removed that within its release, which it was told had worked; after that the
 * same client asked the server about the key once more; and then the lock said `lost`, while by its client's own stamps the lease
 * still ran. It had not been told to take the key again by then, every command was seen from the grant on, and no fault was in
 * force or had been within 10 s but on other clients (`mayHaveBeenTroubled`).
 *
 * The cause is always the same: what asked after the release was answered that there was nothing, and that was taken for a loss.
 *
 * Excludes what is said when the lease is over, which a client cannot know better; independent nodes, permits, readers and holds
 * within holds; several callers in one process; and a loss that is said when the harness remembers that hold no more
 * (`harness/run/given-back.ts`).
 */

import { requestKind } from '../../harness/record/facts/commands/table.js';
import { Earliest } from '../../harness/record/facts/earliest.js';
import { type Evidence, OBSERVED_WITHIN_NS } from '../../harness/record/facts/evidence.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { type KeyWrite, RECKONING_NS, removes } from '../../harness/record/facts/key-writes.js';
import { leaseMarginNs } from '../../harness/record/facts/margin.js';
import { ownStamp, trustedClients } from '../../harness/record/facts/operations.js';
import { mayHaveBeenTroubled } from '../../harness/record/facts/troubled.js';
import { duration, moment, plural } from '../../harness/record/facts/words.js';
import { NOTICE, OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Hold, Violation } from '../../harness/vocabulary/verdict.js';
import { requestLine } from '../causes/tenure.js';
import { wholeEvidenceOf } from '../causes/whole-evidence.js';
import { reported } from './reported.js';

/** Findings that are reported with evidence and proof; all are counted. */
const MOST_REPORTED = 200;

/** A lock said that a hold was lost after its release had worked. */
interface Said {
  /** Number of the hold. */
  k: number;
  /** When its client says that it was told, ns since the epoch. */
  atNs: number;
  /** History line of the notice. */
  line: number;
  /** Row of the release. */
  release: number;
}

interface Shown {
  grant: KeyWrite;
  removal: KeyWrite;
  /** What the client asked the server about the key after that. */
  asked: KeyWrite;
}

function findFalseLosses(input: CheckInput): CheckerFindings {
  const { history } = input;
  const holds = holdsOf(history);
  const found = new Earliest<Violation>(MOST_REPORTED, (a, b) => a.fromNs - b.fromNs);
  const said = saidAfterRelease(history, holds);
  const evidence = said.length > 0 ? wholeEvidenceOf(input) : undefined;
  for (const one of said) {
    const hold = holds.hold(one.k);
    const shown = evidence && shownBy(one, hold, evidence, history);
    if (!shown) continue;
    const what = mayHaveFound(shown, hold.key, evidence) ? 'did not find it any more' : 'found nothing';
    found.add(violation(one, hold, { ...shown, what }, history));
  }
  return reported(found.list(), found.count, { falseLosses: found.count });
}

export const falseLoss: Checker = {
  name: 'false-loss',
  summary: 'no client was told that it had lost a lock which it had just released',
  properties: [
    {
      class: 'liveness',
      holds: 'No client was told that it had lost what it had released itself',
      broken: 'A client was told that it had lost what it had released itself',
      kinds: {
        'false-loss': {
          headline: (count) =>
            `False loss: ${plural(count, 'hold')} called lost though ${count === 1 ? 'its own client' : 'their own clients'} had released ${count === 1 ? 'it' : 'them'}`,
          accusedIf:
            'a lock said of a hold that it was lost, though the server shows that its own client had removed it by its release, after which the same client asked for it once more, within the lease and with no fault but on other clients',
        },
      },
    },
  ],
  judges: { models: ['mutex', 'fair', 'fenced'], plays: true },
  check: findFalseLosses,
};

/** Losses that were said when the release of the hold had begun, which worked, and before its lease was over. */
function saidAfterRelease(history: History, holds: Holds): Said[] {
  const { notices, operations: ops } = history;
  const trusted = trustedClients(history);
  const said: Said[] = [];
  const losses = new Map<number, number>();
  for (let at = 0; at < notices.count; at++) {
    if (notices.type[at] !== NOTICE.lost || notices.hold[at]! < 0 || trusted[notices.client[at]!] !== 1) continue;
    const k = holds.ofRow[notices.hold[at]!]!;
    if (k >= 0 && !losses.has(k)) losses.set(k, at);
  }
  for (let row = 0; losses.size > 0 && row < ops.count; row++) {
    const k = ops.op[row] === OP.release && ops.outcome[row] === OUTCOME.ok ? holds.about(row) : -1;
    const at = losses.get(k);
    if (at === undefined) continue;
    const atNs = notices.clientNs[at]!;
    const beganNs = ownStamp(ops, trusted, row, ops.beganNs, Number.POSITIVE_INFINITY);
    const leaseEndNs = holds.leaseEndNs[k]! - leaseMarginNs(holds.leaseMs[k]!);
    if (beganNs <= atNs && atNs < leaseEndNs && !wasAskedAgain(history, row, atNs + RECKONING_NS))
      said.push({ k, atNs, line: notices.line[at]!, release: row });
  }
  return said;
}

/** Whether the client was told to take the key again after that release and by then: what it sends next is of that. */
function wasAskedAgain({ operations: ops }: History, release: number, byNs: number): boolean {
  const key = ops.key[ops.hold[release]!];
  for (let row = release + 1; row < ops.count && ops.sentNs[row]! <= byNs; row++)
    if (ops.op[row] === OP.acquire && ops.client[row] === ops.client[release] && ops.key[row] === key) return true;
  return false;
}

function shownBy({ atNs, release }: Said, hold: Hold, evidence: Evidence, history: History): Shown | undefined {
  const { client, key, grantSentNs } = hold;
  const [grant, ...others] = evidence.grantsOf(hold);
  if (evidence.majority !== undefined || !grant || others.length > 0 || grant.took !== true) return undefined;
  const { node, write } = grant;
  const { callNs, returnNs } = intervalsOf(history);
  const own = evidence.writes(node, key).filter((one) => one.client === client && one.observation > write.observation);
  const removal = own.find((one) => removes(one, write.value) === 'yes');
  if (!removal || removal.ranNs < callNs[release]! - RECKONING_NS || removal.ranNs > returnNs[release]! + RECKONING_NS)
    return undefined;
  if (!staysUntil(removal, write, evidence, key)) return undefined;
  const asked = own.find(
    (one) => one.observation > removal.observation && one.ranNs <= atNs + RECKONING_NS && isAsk(one, removal, evidence),
  );
  // What was given more time was found there: another one's, by then.
  if (!asked || asked.effect === 'take' || asked.effect === 'prolong') return undefined;
  if (!evidence.watchedThroughout(node, grantSentNs, atNs + OBSERVED_WITHIN_NS)) return undefined;
  return mayHaveBeenTroubled(history, client, grantSentNs, atNs) ? undefined : { grant: write, removal, asked };
}

/** Whether it asks for the key: not what tells those who wait, and not what removes, be it once more, as a release may. */
function isAsk(one: KeyWrite, removal: KeyWrite, evidence: Evidence): boolean {
  const [kind, removing] = [one, removal].map((write) => requestKind(evidence.argvOf(write) ?? [write.command]));
  return !/PUBLISH|SUBSCRIBE/.test(one.command) && one.effect !== 'remove' && kind !== removing;
}

/** Whether another one's may have been there by then. */
function mayHaveFound({ asked, grant }: Shown, key: string, evidence: Evidence): boolean {
  const { list } = evidence.readingOf(grant.node)!.changes(key);
  return list.findLast(({ line }) => line < asked.observation)?.after.exists !== 'no';
}

/** Whether nothing else took the owner away between the grant and the removal, be it to be stored again. */
function staysUntil(removal: KeyWrite, grant: KeyWrite, evidence: Evidence, key: string): boolean {
  const changes = evidence.readingOf(grant.node)?.changes(key);
  const loss = grant.value === undefined ? undefined : changes?.lossOf(grant.value, grant.observation);
  return loss?.how === 'command' && requestLine(loss.by!) === removal.observation;
}

function violation(
  { atNs, line, release }: Said,
  hold: Hold,
  shown: Shown & { what: string },
  history: History,
): Violation {
  const { client, key } = hold;
  const { operations: ops } = history;
  const { grant, removal, asked, what } = shown;
  const released = { atNs: ops.sentNs[release]!, line: ops.invokeLine[release]! };
  return {
    class: 'liveness',
    kind: 'false-loss',
    key,
    fromNs: removal.ranNs,
    untilNs: Math.max(removal.ranNs, atNs),
    holds: [hold],
    evidence: [...hold.evidence.slice(0, 2), released.line, line],
    proof: `${client} was granted ${key} at ${moment(hold.fromNs)} (lease until ${moment(hold.leaseEndNs)}) and released it at ${moment(released.atNs)}, which worked; ${duration(Math.max(0, atNs - removal.ranNs))} after ${removal.node} had carried that out its lock said that it was lost.`,
    cause: {
      name: 'released-meanwhile',
      sentence: `${client} itself had removed its ${key} from ${removal.node} (${removal.command}); what it asked after that (${asked.command}) ${what}, and its lock took that for a loss.`,
      chain: [
        { atNs: grant.atNs, text: `${client} stored ${key} on ${grant.node}`, observation: grant.observation },
        { atNs: released.atNs, text: `${client} was told to release its hold #${hold.id}`, history: released.line },
        { atNs: removal.atNs, text: `${client} removed it with ${removal.command}`, observation: removal.observation },
        { atNs: asked.atNs, text: `${client} asked for it with ${asked.command}`, observation: asked.observation },
        { atNs, text: `${client} was told that hold #${hold.id} was lost`, history: line },
      ],
    },
  };
}

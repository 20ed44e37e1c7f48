/**
 * A client gives a lock back, and stores it again after that: `stored-again`.
 *
 * Example: a renewal finds that one of five servers does not have the lock, and stores it there. The hold was released meanwhile, and
 * the release comes to that server first: what the renewal stores stays there until its lease ends.
 *
 * Named where the hold was granted, and over one connection, on which what is sent first comes first, a request that names the value came
 * before the one that stored it, and ran after the release had been asked for; and all that requests of its kind were ever seen to do to the
 * run's keys is to take away what their own client had stored.
 *
 * Excludes tries that failed, which have nothing to release; what may have been stored for a later acquire; requests of which it is not
 * known when they ran; and those of which the record has the beginning only.
 */

import { type Change, ownersBy, ownersOf, storedBy, stores } from '../../harness/record/facts/commands/changes.js';
import type { Origin, StoredState } from '../../harness/record/facts/commands/state.js';
import { isScript, requestKind } from '../../harness/record/facts/commands/table.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import { OP } from '../../harness/record/history-table.js';
import type { CommandObservation, Operations } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseLink } from '../../harness/vocabulary/verdict.js';
import { wholeEvidenceOf } from './whole-evidence.js';

/** What a client stored on a server. */
export interface Stored {
  node: string;
  client: string;
  /** Its connection. */
  source: string;
  key: string;
  value: string;
  atNs: number;
  /** Line of observations.jsonl. */
  line: number;
  /** The acquire that it was stored for. */
  row: number;
}

/** What requests of each kind were seen to do to the keys of the run. */
export class RequestKinds {
  private readonly removing = new Set<string>();
  private readonly doingElse = new Set<string>();

  /** A change that the request made, or would have made. */
  did(request: CommandObservation, change: Change): void {
    const kind = wholeKindOf(request);
    if (kind === undefined || change.how !== 'command') return;
    if (removesItsOwn(change)) this.removing.add(kind);
    if (doesElse(change)) this.doingElse.add(kind);
  }

  onlyRemoves(request: CommandObservation): boolean {
    const kind = wholeKindOf(request);
    return kind !== undefined && this.removing.has(kind) && !this.doingElse.has(kind);
  }
}

/** Whether it took away what its own client had stored. */
export function removesItsOwn({ by, before, after }: Change): boolean {
  return ownersOf(before).some((owner) => isOf(by, before, owner) && stores(after, owner) === 'no');
}

/** Whether it stored or prolonged something, or took away what others had stored. What it did to what nobody knows shows nothing. */
function doesElse({ by, before, after, wanted, line }: Change): boolean {
  if (ownersBy(after, line).length > 0 || (wanted !== undefined && ownersBy(wanted, line).length > 0)) return true;
  if (after.exists !== 'no' && after.expires !== before.expires) return true;
  return ownersOf(before).some(
    (owner) => !isOf(by, before, owner) && stores(before, owner) === 'yes' && stores(after, owner) === 'no',
  );
}

function isOf(by: Origin | undefined, state: StoredState, owner: string): boolean {
  return by?.client !== undefined && storedBy(state, owner)?.client === by.client;
}

/** Its name, and of a script which; undefined where the record has not all of that. */
function wholeKindOf({ argv }: CommandObservation): string | undefined {
  const [name, script] = argv;
  const isCut = script === undefined || script.endsWith('…');
  return isCut && isScript(name!.toUpperCase()) ? undefined : requestKind(argv);
}

/** `rest`: what is known of it beside, for the end of the chain. */
export function storedAgain(
  stored: Stored,
  kinds: RequestKinds,
  input: CheckInput,
  rest: readonly CauseLink[],
): Cause | undefined {
  const { node, client, key, atNs, line, row } = stored;
  const { history } = input;
  const { operations: ops } = history;
  const release = firstReleaseOf(row, ops);
  if (release === undefined || mayBeOfLater(stored, ops)) return undefined;
  const removal = removalSince(intervalsOf(history).callNs[release]!, stored, kinds, input);
  if (!removal) return undefined;
  return {
    name: 'stored-again',
    sentence: `${client} stored ${key} on ${node} again after it had asked ${node} to remove that, over the same connection: it went on beside its own release.`,
    chain: [
      { atNs: ops.sentNs[release]!, text: `${client} was asked to release ${key}`, history: ops.invokeLine[release]! },
      { atNs: removal.atNs, text: `${client} asked ${node} to remove what it had stored`, observation: removal.line },
      { atNs, text: `${client} stored it on ${node}, over the same connection`, observation: line },
      ...rest,
    ],
  };
}

/**
 * The request to remove it that its client sent when it released it. What it had taken back in the attempt, and stored anew, a
 * slow server may run only then: so it must be one more than any other server was asked before.
 */
function removalSince(
  calledNs: number,
  stored: Stored,
  kinds: RequestKinds,
  input: CheckInput,
): { line: number; atNs: number } | undefined {
  const evidence = wholeEvidenceOf(input);
  if (!evidence) return undefined;
  const { node, source, key, value, atNs: untilNs, row } = stored;
  const askedBefore = new Map<string, number>();
  let asked = 0;
  for (const [line, request] of input.observations.commands(input.history.operations.sentNs[row]!, untilNs)) {
    const { argv, atNs } = request;
    if (!argv.includes(key) || !argv.includes(value) || !kinds.onlyRemoves(request)) continue;
    if (request.node !== node && atNs < calledNs)
      askedBefore.set(request.node, (askedBefore.get(request.node) ?? 0) + 1);
    if (request.node !== node || request.source !== source) continue;
    asked++;
    if (asked > Math.max(0, ...askedBefore.values()) && ranSince(calledNs, line, stored, evidence))
      return { line, atNs };
  }
  return undefined;
}

/** What is read late may have run before: a client whose first round had no majority takes back what it stored, and stores it anew. */
function ranSince(calledNs: number, line: number, { node, key }: Stored, evidence: Evidence): boolean {
  const request = evidence.writes(node, key).find(({ observation }) => observation === line);
  return request !== undefined && evidence.isPlaced(request) && request.ranNs >= calledNs - RECKONING_NS;
}

/** A client that stores the same name in each acquire may have stored it for one that it was asked for after the release. */
function mayBeOfLater({ row, atNs }: Stored, ops: Operations): boolean {
  for (let later = row + 1; later < ops.count && ops.sentNs[later]! <= atNs; later++)
    if (ops.op[later] === OP.acquire && ops.client[later] === ops.client[row] && ops.key[later] === ops.key[row])
      return true;
  return false;
}

/** The row of the first release of what an acquire was granted. */
function firstReleaseOf(acquire: number, ops: Operations): number | undefined {
  for (let row = acquire; row < ops.count; row++)
    if (ops.op[row] === OP.release && ops.hold[row] === acquire) return row;
  return undefined;
}

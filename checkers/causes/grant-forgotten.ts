/**
 * A server had stored a grant, was killed, came back with nothing, and granted the lock to another client, by what it stored under
 * another key (`node-forgot`).
 *
 * Example: c2 reads, and stands in `{lock:0}:readers`. The server is killed and its data removed; it runs again and has nothing stored.
 * c3 wants to write, its script finds no reader, and stores c3 in `lock:0`.
 *
 * Named where both grants were stored by their own clients on the only server, and all that the earlier one had stored under the names
 * for which the next one looked was lost with it (`lost-with-server.ts`). Others may have taken out what was stored for holds whose leases were over. Where it has a time of
 * day beside it (a score, a field's value), that was not over for the next one: or the next one's script need not have heeded it.
 *
 * Who was granted next must have looked, when the server ran again, under a key where the earlier grant would have been, by a command of its own or of its script: a
 * lock whose writers never ask for readers grants beside them, whatever its server remembers.
 *
 * Excludes semaphores, of whose permits one may be free whatever was forgotten.
 */
import { type Change, partsOf, storedBy } from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { moment } from '../../harness/record/facts/words.js';
import { shown } from '../../harness/record/schemas/foreign-text.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';
import { leaseLink } from './contest.js';
import { hasLooked, lostWithServer } from './lost-with-server.js';
import { forgettingKills } from './meanwhile.js';
import { type NamedStore, ownStoresOf, RelatedKeys } from './own-stores.js';
import { wholeEvidenceOf } from './whole-evidence.js';

/** `around`: the evidence of the overlap; the whole of it is worked out only where a server forgot something. */
export function grantForgotten(
  { first, second, others }: Overlap,
  around: Evidence,
  input: CheckInput,
): Cause | undefined {
  const { model, history } = input;
  if (model.kind === 'semaphore' || others.length > 0 || first.client === second.client) return undefined;
  const [node] = around.nodes;
  if (node === undefined || around.majority !== undefined || around.nodes.length !== 1) return undefined;
  const evidence = forgettingKills(node, around).length > 0 ? wholeEvidenceOf(input) : undefined;
  if (evidence?.nodes.length !== 1) return undefined;
  const related = new RelatedKeys(history.operations.keys);
  const [one, other] = [first, second].map((hold) => ({ hold, stored: storesOf(hold, node, evidence, related) }));
  if (!one?.stored[0] || !other?.stored[0]) return undefined;
  const [earlier, later] = one.stored[0].line < other.stored[0].line ? [one, other] : [other, one];
  const isOver = (owner: string, change: Change) => wasLeaseOver(owner, change, history);
  const { client, key: resource } = earlier.hold;
  const next = later.stored[0]!;
  // What was stored beside may have been lost so, and not what the next one's script went by.
  const looked = [...new Set(earlier.stored.map(({ name }) => name))].flatMap((name) => {
    const stored = earlier.stored.filter((one) => one.name === name);
    const lost = lostWithServer(stored, { resource, client, node, next, isOver }, evidence);
    const isSince = (line: number) => line > (lost?.emptyLine ?? -1);
    if (!hasLooked(later.hold, stored, { node, next }, input.observations, isSince)) return [];
    const hadTime = lost?.left.every(
      (state) => timeOfDayMs(partsOf(state)?.parts.get(name)?.value) > next.serverWallMs,
    );
    return [{ last: stored.at(-1)!, lost: hadTime ? lost : undefined }];
  });
  const { last, lost } = looked.at(-1) ?? {};
  if (!last || !lost || looked.some((one) => !one.lost)) return undefined;
  const stood = `${client}'s grant, ${shown(last.name, 60)} in ${last.key}`;
  const granted = ({ client, fromNs, key, evidence }: Hold) => ({
    atNs: fromNs,
    text: `${client} was granted ${key}`,
    history: evidence[1]!,
  });
  return {
    name: 'node-forgot',
    sentence: `${node} had stored ${stood}, at ${moment(last.atNs)}; then it was killed and forgot what it had (${lost.did}), and had nothing stored when it ran again, before ${later.hold.client} was granted ${later.hold.key}.`,
    chain: [
      { atNs: last.atNs, text: `${node} stored ${stood}`, observation: last.line },
      granted(earlier.hold),
      ...lost.links,
      granted(later.hold),
      leaseLink(earlier),
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

/** What was certainly stored for a hold in the attempt that was granted, in the order in which it was. */
function storesOf(hold: Hold, node: string, evidence: Evidence, related: RelatedKeys): NamedStore[] {
  const reading = evidence.readingOf(node);
  return ownStoresOf(hold, evidence, related)
    .filter(({ inTime }) => inTime)
    .flatMap(({ key, owner: name, line }): NamedStore[] => {
      const change = reading?.changes(key).ofLine(line);
      return change?.by ? [{ key, name, line, atNs: change.atNs, serverWallMs: change.by.serverWallMs }] : [];
    })
    .sort((a, b) => a.line - b.line);
}

/** Since 1970, of seconds, milliseconds or microseconds; Infinity: it is no time of these years. */
function timeOfDayMs(value: string | undefined): number {
  const number = Number(value);
  for (const perMs of [0.001, 1, 1000]) if (number > 1e12 * perMs && number < 1e13 * perMs) return number / perMs;
  return Number.POSITIVE_INFINITY;
}

/** Whether what a change took out had been stored for a hold whose lease was over by then. */
function wasLeaseOver(owner: string, { before, ranFromNs }: Change, history: History): boolean {
  const stored = storedBy(before, owner);
  if (stored?.client === undefined) return false;
  const { operations: ops } = history;
  const holds = holdsOf(history);
  const who = ops.clients.indexOf(stored.client);
  for (let k = 0; k < holds.count; k++) {
    const isIts = holds.grantSentNs[k]! - RECKONING_NS <= stored.atNs && stored.atNs <= holds.fromNs[k]! + RECKONING_NS;
    if (holds.client[k] === who && isIts) return holds.leaseEndNs[k]! <= ranFromNs;
  }
  return false;
}

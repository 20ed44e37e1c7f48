/**
 * A client that waited was overtaken because the server in whose queue it stood was killed and came back with nothing (`node-forgot`).
 *
 * Example: c2's place is in `{lock:0}:queue` from 1.2 s on. At 1.5 s the server is killed and its data removed; it runs again at 1.8 s
 * and has nothing stored. c1 asks at 2 s, finds nobody in the queue, and is granted the lock.
 *
 * Named where the only server was seen to store the place for its client, and nothing that its old process printed later took it out, nor
 * did anybody ever take out another's before its time; a fault's record says that it was killed and forgot; and a look at the new process
 * showed that nothing at all was stored, before it carried out the other one's grant. That the time of the place was not over is known of
 * whoever is said to be overtaken.
 *
 * Excludes a server that kept some of what it had, a restart of which no fault tells, deployments of more than one server, and a lock that
 * does not say when places end.
 */
import { type Change, ownersBy, ownersOf, storedBy, stores } from '../../harness/record/facts/commands/changes.js';
import type { StoredState } from '../../harness/record/facts/commands/state.js';
import { deadlineMs } from '../../harness/record/facts/deadlines.js';
import type { EffectSpan } from '../../harness/record/facts/effects.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { moment } from '../../harness/record/facts/words.js';
import { shown } from '../../harness/record/schemas/foreign-text.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause } from '../../harness/vocabulary/verdict.js';
import { forgettingKills } from './meanwhile.js';
import { RelatedKeys } from './own-stores.js';
import { type Passed, placesOf, type QueuePlace } from './queue-places.js';
import { wholeEvidenceOf } from './whole-evidence.js';

export function queueForgotten(passed: Passed, input: CheckInput): Cause | undefined {
  const { waiter, by } = passed;
  const lastsMs = deadlineMs(input.history, 'place', waiter.leaseMs);
  const evidence = wholeEvidenceOf(input);
  if (lastsMs === undefined || !evidence || evidence.majority !== undefined || evidence.nodes.length !== 1)
    return undefined;
  const [node] = evidence.nodes as [string];
  const related = new RelatedKeys(input.history.operations.keys);
  const reading = evidence.readingOf(node);
  if (!reading) return undefined;
  const places = placesOf(passed, node, input.history, evidence, related);
  const last = places.at(-1);
  const grant = evidence.grantsOf(by).at(-1);
  if (!last || grant?.took !== true) return undefined;
  const killed = forgotAfter(node, last, evidence);
  const lists = places.map(({ key }) => reading.changes(key).list);
  if (!killed || !stoodUntil(places, lists, killed.lostLine, lastsMs)) return undefined;
  const empty = evidence.firstSample(node, killed.span.record.atNs, ({ runId }) => runId !== killed.runId);
  if (!empty?.[1].isEmpty || empty[0] >= grant.write.observation) return undefined;
  const anew = { fromLine: empty[0], untilLine: grant.write.observation };
  if (lists.some((list) => storedBetween(waiter.client, list, anew))) return undefined;
  const { record } = killed.span;
  const stood = `${waiter.client}'s place ${shown(last.name, 60)} in ${last.key}`;
  return {
    name: 'node-forgot',
    sentence: `${node} had stored ${stood} at ${moment(last.atNs)}; then it was killed and forgot what it had (${record.did}), and had nothing stored when it ran again, before ${by.client} was granted ${by.key}.`,
    chain: [
      { atNs: last.atNs, text: `${node} stored ${stood}`, observation: last.line },
      { atNs: record.atNs, text: record.did, history: record.i },
      { atNs: empty[1].atNs, text: `${node} ran again, and had nothing stored`, observation: empty[0] },
      { atNs: by.fromNs, text: `${by.client} was granted ${by.key}`, history: by.evidence[1]! },
      { atNs: waiter.fromNs, text: `${waiter.client} was granted ${waiter.key}`, history: waiter.evidence[1]! },
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

type Changes = readonly Change[];

interface Killed {
  readonly span: EffectSpan;
  /** Of the process that was killed. */
  readonly runId: string;
  /** Where the record of what it printed breaks off. */
  readonly lostLine: number;
}

/** The first kill after which the node had forgotten something, after it had stored the place. */
function forgotAfter(node: string, last: QueuePlace, evidence: Evidence): Killed | undefined {
  const span = forgettingKills(node, evidence).find(({ earliestNs }) => earliestNs > last.atNs);
  const before = span && evidence.lastSample(node, span.earliestNs);
  const lost = span && evidence.watchLost(node, last.atNs, Number.POSITIVE_INFINITY);
  // Watched from the storing of the place until the old process was gone.
  if (!before || !lost || lost[1].atNs < span.earliestNs) return undefined;
  return { span, runId: before[1].runId, lostLine: lost[0] };
}

/**
 * Whether nothing that was printed before that line took a place out of its key; and, as what ran last need not have been printed, nobody
 * was ever seen to take out the place of another before its time was over.
 */
function stoodUntil(
  places: readonly QueuePlace[],
  lists: readonly Changes[],
  lostLine: number,
  lastsMs: number,
): boolean {
  const stood = places.every(({ line, name }, n) =>
    lists[n]!.every((change) => change.line < line || change.line >= lostLine || stores(change.after, name) === 'yes'),
  );
  return (
    stood &&
    lists.every((list) => list.every((change, n) => n === 0 || isRightful(list[n - 1]!.after, change, lists, lastsMs)))
  );
}

/** Whether a command took out its own client's places only, and those that nobody had stored for as long as a place lasts. */
function isRightful(before: StoredState, change: Change, lists: readonly Changes[], lastsMs: number): boolean {
  const { how, by, after, line } = change;
  if (how !== 'command' || !by) return true;
  const storedLately = (owner: string) =>
    lists.some((list) =>
      list.some(
        (earlier) =>
          earlier.line < line &&
          ownersBy(earlier.after, earlier.line).includes(owner) &&
          by.serverWallMs - (earlier.by?.serverWallMs ?? by.serverWallMs) < lastsMs,
      ),
    );
  return ownersOf(before)
    .filter((owner) => stores(after, owner) !== 'yes')
    .every(
      (owner) => (by.client !== undefined && storedBy(before, owner)?.client === by.client) || !storedLately(owner),
    );
}

/** Whether the client certainly or perhaps stored something there between two lines. */
function storedBetween(
  client: string,
  list: Changes,
  { fromLine, untilLine }: { fromLine: number; untilLine: number },
): boolean {
  return list.some(
    ({ line, by, after }) =>
      line > fromLine && line < untilLine && by?.client === client && ownersBy(after, line).length > 0,
  );
}

/**
 * A client that waited was overtaken because the server in whose queue it stood was killed and came back with nothing (`node-forgot`).
 *
 * Example: c2's place is in `{lock:0}:queue` from 1.2 s on. At 1.5 s the server is killed and its data removed; it runs again at 1.8 s
 * and has nothing stored. c1 asks at 2 s, finds nobody in the queue, and is granted the lock.
 *
 * Named where the client's last place under each key was lost with its server (`lost-with-server.ts`). That the time of the place
 * was not over is known of whoever is said to be overtaken.
 *
 * Excludes a lock that does not say when places end, and who never looks at the queue, or only when it has the lock, or goes past another
 * one's place there as well: it overtakes whatever its server remembers.
 */
import { type Change, ownersBy, ownersOf, storedBy } from '../../harness/record/facts/commands/changes.js';
import { ABSENT } from '../../harness/record/facts/commands/state.js';
import { deadlineMs } from '../../harness/record/facts/deadlines.js';
import { moment } from '../../harness/record/facts/words.js';
import { shown } from '../../harness/record/schemas/foreign-text.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause } from '../../harness/vocabulary/verdict.js';
import { type Changes, hasLooked, lostWithServer } from './lost-with-server.js';
import { ownStoresOf, RelatedKeys } from './own-stores.js';
import { type Passed, placesOf } from './queue-places.js';
import { wholeEvidenceOf } from './whole-evidence.js';

export function queueForgotten(passed: Passed, input: CheckInput): Cause | undefined {
  const { waiter, by } = passed;
  const lastsMs = deadlineMs(input.history, 'place', waiter.leaseMs);
  const evidence = wholeEvidenceOf(input);
  if (lastsMs === undefined || !evidence || evidence.majority !== undefined || evidence.nodes.length !== 1)
    return undefined;
  const [node] = evidence.nodes as [string];
  if (!evidence.readingOf(node)) return undefined;
  const related = new RelatedKeys(input.history.operations.keys);
  const places = placesOf(passed, node, input.history, evidence, related);
  const last = places.at(-1);
  const grant = evidence.grantsOf(by).at(-1);
  if (!last || grant?.took !== true) return undefined;
  const { observation: line, atNs, serverWallMs } = grant.write;
  const next = { line, atNs, serverWallMs };
  const isOver = (owner: string, change: Change, lists: readonly Changes[]) =>
    !storedLately(owner, change, lists, lastsMs);
  const { client, key: resource } = waiter;
  const lost = lostWithServer(places, { resource, client, node, next, isOver }, evidence);
  // Who looks only when it has the lock, to leave the queue, say, does not go by what it finds.
  const stored = ownStoresOf(by, evidence, related).find(({ request }) => request === line);
  const storedLine = stored?.line ?? line;
  const isSince = (at: number) => lost !== undefined && at > lost.emptyLine && at < storedLine;
  if (!lost || !hasLooked(by, places, { node, next }, input.observations, isSince)) return undefined;
  const lists = places.map(({ key }) => evidence.readingOf(node)!.changes(key).list);
  if (
    lists.some((list) =>
      stoodThere(
        passed,
        list.findLast((change) => change.line <= storedLine),
      ),
    )
  )
    return undefined;
  const stood = `${waiter.client}'s place ${shown(last.name, 60)} in ${last.key}`;
  return {
    name: 'node-forgot',
    sentence: `${node} had stored ${stood} at ${moment(last.atNs)}; then it was killed and forgot what it had (${lost.did}), and had nothing stored when it ran again, before ${by.client} was granted ${by.key}.`,
    chain: [
      { atNs: last.atNs, text: `${node} stored ${stood}`, observation: last.line },
      ...lost.links,
      { atNs: by.fromNs, text: `${by.client} was granted ${by.key}`, history: by.evidence[1]! },
      { atNs: waiter.fromNs, text: `${waiter.client} was granted ${waiter.key}`, history: waiter.evidence[1]! },
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

/** Whether a third one's place was there, since before the other one asked: who goes past that goes past any. */
function stoodThere({ by, askedNs }: Passed, { after }: Pick<Change, 'after'> = { after: ABSENT }): boolean {
  return ownersOf(after).some((name) => {
    const stored = storedBy(after, name);
    return stored?.client !== undefined && stored.client !== by.client && stored.atNs < askedNs;
  });
}

/** Whether it had been stored within the time for which a place lasts when the change took it out. */
function storedLately(owner: string, { line, by }: Change, lists: readonly Changes[], lastsMs: number): boolean {
  return lists.some((list) =>
    list.some(
      (earlier) =>
        earlier.line < line &&
        ownersBy(earlier.after, earlier.line).includes(owner) &&
        by!.serverWallMs - (earlier.by?.serverWallMs ?? by!.serverWallMs) < lastsMs,
    ),
  );
}

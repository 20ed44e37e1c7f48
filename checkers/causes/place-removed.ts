/**
 * A client that waited was taken out of the queue by another client's command before its time there was over, and was overtaken.
 *
 * Example: c2's place is in `{lock:0}:queue` from 1.2 s on, and the lock declares that a place lasts for a lease. At 1.4 s a
 * script of c3's removes it, as if c2 were dead.
 *
 * Named only where the lock declares when places end, and by the server's own clock that was not over since the client had last
 * stored its place. The one server was watched from the storing of the place until its removal, ran as one process, and nothing moved its clock
 * meanwhile. The place was stored by the waiting client in its acquire, over the connection that it was granted the lock over,
 * and was certainly there until another client's command certainly removed it, before the waiting one's granted attempt left.
 *
 * Excludes a place whose time was over by the server's own clock, and one that a stranger removed.
 */
import { stores } from '../../harness/record/facts/commands/changes.js';
import type { Origin } from '../../harness/record/facts/commands/state.js';
import { deadlineMs } from '../../harness/record/facts/deadlines.js';
import { leaseMarginNs } from '../../harness/record/facts/margin.js';
import { moment } from '../../harness/record/facts/words.js';
import { shown } from '../../harness/record/schemas/foreign-text.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause } from '../../harness/vocabulary/verdict.js';
import { isBelieved } from './believed.js';
import { ownStoresOf, RelatedKeys } from './own-stores.js';
import { changesBetween, type Passed, placesOf, type QueuePlace } from './queue-places.js';
import { wholeEvidenceOf } from './whole-evidence.js';

export function placeRemoved(passed: Passed, input: CheckInput): Cause | undefined {
  const { waiter } = passed;
  const lastsMs = deadlineMs(input.history, 'place', waiter.leaseMs);
  const evidence = wholeEvidenceOf(input);
  if (lastsMs === undefined || !evidence || evidence.majority !== undefined) return undefined;
  const related = new RelatedKeys(input.history.operations.keys);
  const nodes = new Set(ownStoresOf(waiter, evidence, related).map(({ node }) => node));
  for (const node of nodes) {
    const places = placesOf(passed, node, evidence, related);
    for (const place of places) {
      const changes = changesBetween(
        evidence.readingOf(node)!.changes(place.key),
        place.line,
        Number.POSITIVE_INFINITY,
      );
      const gone = changes.find(({ after }) => stores(after, place.name) !== 'yes');
      if (gone?.how !== 'command' || stores(gone.after, place.name) !== 'no') continue;
      const by = gone.by?.client;
      if (by === undefined || by === waiter.client || gone.atNs >= waiter.grantSentNs) continue;
      if (!isInTime(gone.by!, places.at(-1)!, lastsMs)) continue;
      if (isBelieved(node, place.atNs, gone.atNs, evidence, 0, 'still'))
        return causeOf(passed, node, place, { by, name: gone.by!.name, atNs: gone.atNs, line: gone.line });
    }
  }
  return undefined;
}

/** Whether the client had shown itself so lately that its place had to stay. */
function isInTime(removed: Origin, last: QueuePlace, lastsMs: number): boolean {
  return removed.line > last.line && removed.serverWallMs - last.serverWallMs < lastsMs - leaseMarginNs(lastsMs) / 1e6;
}

interface Removal {
  readonly by: string;
  readonly name: string;
  readonly atNs: number;
  readonly line: number;
}

function causeOf({ waiter, by }: Passed, node: string, place: QueuePlace, removal: Removal): Cause {
  const stood = `${waiter.client}'s place ${shown(place.name, 60)} in ${place.key}`;
  return {
    name: 'place-removed',
    sentence: `${removal.by} removed ${stood} on ${node} at ${moment(removal.atNs)} (${removal.name}), where it had stood since ${moment(place.atNs)} and its time was not over.`,
    chain: [
      { atNs: place.atNs, text: `${node} stored ${stood}`, observation: place.line },
      {
        atNs: removal.atNs,
        text: `${removal.by} removed ${stood} (${removal.name})`,
        observation: removal.line,
      },
      { atNs: by.fromNs, text: `${by.client} was granted ${by.key}`, history: by.evidence[1]! },
      { atNs: waiter.fromNs, text: `${waiter.client} was granted ${waiter.key}`, history: waiter.evidence[1]! },
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

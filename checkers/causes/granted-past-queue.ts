/**
 * A fair lock was granted to a client although another's place stood in the server's queue, since before that client asked.
 *
 * Example: c2's place is in `{lock:0}:queue` from 1.5 s on. c1 asks at 2 s, and the server stores c1's grant in `lock:0`, with
 * c2's place where it was.
 *
 * Named where the one server was watched from the storing of that place until the grant, ran as one process, and nothing moved
 * its clock meanwhile, be it off all the time. The place was stored by the waiting client itself, in its acquire and over the
 * connection that it was granted over, and before the other one's acquire began; every list and sorted set in which the client
 * stored it still had it, and had time left, when the grant was stored, under another key and by a command of the one who was
 * granted.
 *
 * Excludes a client that its own grant of before still let in, or that had a place of its own there when it asked (it gave up, and came
 * back to it) or may have had one, be it over the connection of its hold before; clients that are queued elsewhere than on the server,
 * one that stored something on another server in the same attempt, and independent nodes. Whose a place is follows from the connection
 * that stored it:
 * what a process sent that has died since may come late, when another is in its place.
 */

import { type Change, ownersOf, storedBy, stores } from '../../harness/record/facts/commands/changes.js';
import type { Origin, StoredState } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { moment } from '../../harness/record/facts/words.js';
import { shown } from '../../harness/record/schemas/foreign-text.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause } from '../../harness/vocabulary/verdict.js';
import { isBelieved } from './believed.js';
import { type NamedStore, type OwnStore, ownStoresOf, RelatedKeys } from './own-stores.js';
import { askedOverOf, changesBetween, isQueue, type Passed, placesOf } from './queue-places.js';
import { wholeEvidenceOf } from './whole-evidence.js';

export function grantedPastQueue(passed: Passed, input: CheckInput): Cause | undefined {
  for (const { granted, grant, places, isOwn, evidence } of grantsBeside(passed, input)) {
    const [first] = places;
    if (!first || !isBelieved(granted.node, first.atNs, grant.atNs, evidence, 0, 'still')) continue;
    // Whom it still names it lets in again: say it could not be given back before.
    if (mayHaveStored(grant.before, isOwn)) continue;
    const stood = places.every(({ key, name, line }) => {
      const changes = evidence.readingOf(granted.node)!.changes(key);
      // What ends by its time ends without a command that would show it.
      if (changes.storedAt(name, grant.atNs).truth !== 'yes') return false;
      const stood = changesBetween(changes, line, granted.line);
      // A place that the other one had lost before it asked is none that it came back to.
      const fromAsked = stood.filter((_, n) => !(stood[n + 1] && stood[n + 1]!.atNs < passed.askedNs));
      return (
        stood.every(({ after }) => stores(after, name) === 'yes') &&
        !fromAsked.some(({ after }) => mayHaveStored(after, isOwn))
      );
    });
    if (stood) return causeOf(passed, granted, first, grant.atNs);
  }
  return undefined;
}

/**
 * Whether who was granted the lock had stood in the queue before the one who waited did, and all the time until it asked, and took its
 * place out itself then: it had given up before, and could not leave, say.
 */
export function cameBack(passed: Passed, input: CheckInput): boolean {
  return grantsBeside(passed, input).some(({ granted, grant, places, isOwn, evidence }) =>
    places.some(({ key, line, atNs }) => {
      const changes = evidence.readingOf(granted.node)!.changes(key);
      const { list } = changes;
      const stood = list.slice(
        changes.firstFrom(line),
        firstIndex(list.length, (at) => list[at]!.atNs >= passed.askedNs),
      );
      const names = ownersOf(stood[0]!.after).filter((name) => {
        const by = storedBy(stood[0]!.after, name);
        return by?.client !== undefined && isOwn({ by, name });
      });
      const isBack = (name: string) => {
        const loss = changes.lossOf(name, stood.at(-1)!.line);
        const isTaken = loss?.by?.client === passed.by.client && loss.atNs <= passed.by.untilNs;
        return isTaken && stood.every(({ after }) => stores(after, name) === 'yes');
      };
      return names.some(isBack) && isBelieved(granted.node, atNs, grant.atNs, evidence, 0, 'still');
    }),
  );
}

/** What was stored last on a server of the one that was granted the lock. */
interface Beside {
  readonly granted: OwnStore;
  readonly grant: Change;
  /** Those of the one who waited. */
  readonly places: readonly NamedStore[];
  /** Whether something is of the one that was granted the lock, from before it asked. */
  readonly isOwn: IsOwn;
  readonly evidence: Evidence;
}

type IsOwn = (stored: { by: Origin; name: string }) => boolean;

function grantsBeside(passed: Passed, input: CheckInput): Beside[] {
  const evidence = wholeEvidenceOf(input);
  if (!evidence || evidence.majority !== undefined) return [];
  const related = new RelatedKeys(input.history.operations.keys);
  const kept = ownStoresOf(passed.by, evidence, related)
    .map((granted) => ({
      granted,
      grant: evidence.readingOf(granted.node)!.changes(granted.key).ofLine(granted.line)!,
    }))
    .filter(({ granted, grant }) => granted.inTime && !isQueue(grant.after));
  // What it stored first need not be its grant (a sign that it lives, say), and the place may be gone by when it was granted, or
  // never have come to the server that granted it.
  const last = kept.filter(
    ({ granted }) => !kept.some(({ granted: { node, line } }) => node !== granted.node || line > granted.line),
  );
  return last.map(({ granted, grant }): Beside => {
    const { node, owner } = granted;
    const earlier = askedOverOf(passed.by, passed.askedNs, node, input.history, evidence, related);
    const own = [grant.by?.source, ...earlier];
    const isOwn: IsOwn = ({ by, name }) =>
      by.atNs < passed.askedNs && ((by.client === passed.by.client && own.includes(by.source)) || name === owner);
    return { granted, grant, places: placesOf(passed, node, input.history, evidence, related), isOwn, evidence };
  });
}

/** Whether a place of the client's own may have been in a queue, or a grant under a key. */
function mayHaveStored(state: StoredState, isOwn: IsOwn): boolean {
  return ownersOf(state).some((name) => {
    const by = storedBy(state, name);
    return by?.client === undefined || isOwn({ by, name });
  });
}

function causeOf(
  { waiter, by, askedNs }: Passed,
  { node, key, line }: OwnStore,
  place: NamedStore,
  grantedNs: number,
): Cause {
  const stood = `${waiter.client}'s place ${shown(place.name, 60)} in ${place.key}`;
  return {
    name: 'granted-past-queue',
    sentence: `${node} granted ${by.key} to ${by.client}, which asked for it at ${moment(askedNs)}, while ${stood} had stood there since ${moment(place.atNs)}.`,
    chain: [
      { atNs: place.atNs, text: `${node} stored ${stood}`, observation: place.line },
      { atNs: askedNs, text: `${by.client} asked for ${by.key}`, history: by.evidence[0]! },
      {
        atNs: grantedNs,
        text: `${node} stored ${by.client}'s grant under ${key}, and ${stood} was still there`,
        observation: line,
      },
      { atNs: waiter.fromNs, text: `${waiter.client} was granted ${waiter.key}`, history: waiter.evidence[1]! },
    ],
  };
}

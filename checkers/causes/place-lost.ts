/**
 * A client that waited lost its place in the queue before its time there was over, and was overtaken: another client's command took it
 * out (`place-removed`), or the queue expired with all who stood in it (`place-expired`).
 *
 * Example: c2's place is in `{lock:0}:queue` from 1.2 s on, and the lock declares that a place lasts for a lease. At 1.4 s a
 * script of c3's removes it, as if c2 were dead.
 *
 * Example: a command of c3's has given the queue 0.1 s to live. It is gone at 1.5 s, and c2 with it.
 *
 * Named only where the lock declares when places end, and by the server's own clock that was not over since the client had last
 * stored its place. The one server was watched from the storing of the place until it was gone, ran as one process, and nothing moved its clock
 * meanwhile, nor since the time of the queue was set by a command of a client's. The place was stored by the waiting client in its acquire,
 * over the connection that it was granted the lock over, or had been the time before, and was certainly there until another client's command certainly removed
 * it, or the queue had certainly expired, before the waiting one's granted attempt left.
 *
 * Excludes a place whose time was over by the server's own clock, one whose name the same request stored elsewhere for the lock, as who
 * hands it over does to the next in the queue (what became of it then is another question), one that a stranger removed, and one that may have been gone for
 * another reason.
 */
import {
  type Change,
  type KeyChanges,
  lastTimed,
  ownersBy,
  stores,
} from '../../harness/record/facts/commands/changes.js';
import type { ServerReading } from '../../harness/record/facts/commands/server-reading.js';
import { stateBy } from '../../harness/record/facts/commands/state.js';
import { deadlineMs } from '../../harness/record/facts/deadlines.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import type { KeyWrite } from '../../harness/record/facts/key-writes.js';
import { leaseMarginNs } from '../../harness/record/facts/margin.js';
import { moment } from '../../harness/record/facts/words.js';
import { shown } from '../../harness/record/schemas/foreign-text.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';
import { isBelieved } from './believed.js';
import { type NamedStore, ownStoresOf, RelatedKeys } from './own-stores.js';
import { changesBetween, type Passed, placesOf } from './queue-places.js';
import { requestLine } from './tenure.js';
import { wholeEvidenceOf } from './whole-evidence.js';

export function placeLost(passed: Passed, input: CheckInput): Cause | undefined {
  const { waiter } = passed;
  const lastsMs = deadlineMs(input.history, 'place', waiter.leaseMs);
  const evidence = wholeEvidenceOf(input);
  if (lastsMs === undefined || !evidence || evidence.majority !== undefined) return undefined;
  const related = new RelatedKeys(input.history.operations.keys);
  const nodes = new Set(ownStoresOf(waiter, evidence, related).map(({ node }) => node));
  for (const node of nodes) {
    const places = placesOf(passed, node, input.history, evidence, related);
    for (const place of places) {
      const changes = evidence.readingOf(node)!.changes(place.key);
      const gone = goneFrom(place, changes, passed.by, granted(passed.by, node, evidence));
      const end = gone && endOf(gone, waiter.client);
      if (!end || end.atNs >= waiter.grantSentNs || end.line <= places.at(-1)!.line) continue;
      if (isHandedOver(end, place, evidence.readingOf(node)!, related.of(waiter.key, evidence.readingOf(node)!)))
        continue;
      if (!isInTime(end.wallMs, places.at(-1)!, lastsMs)) continue;
      if (isBelieved(node, Math.min(place.atNs, end.by.atNs), end.atNs, evidence, 0, 'still'))
        return causeOf(passed, node, place, end);
    }
  }
  return undefined;
}

/** That a place was gone, which a line shows. */
interface Gone {
  readonly line: number;
  readonly atNs: number;
  /** The command that removed it; or, where the queue had expired, what its time was set by. */
  readonly by: Change;
  readonly isExpired: boolean;
}

function granted(hold: Hold, node: string, evidence: Evidence): KeyWrite | undefined {
  const grant = evidence.grantsOf(hold).at(-1);
  return grant?.took === true && grant.node === node ? grant.write : undefined;
}

/** How a place came to be gone, by when the other one was granted the lock; undefined: it was not, or it cannot be told. */
function goneFrom(
  place: NamedStore,
  changes: KeyChanges,
  { fromNs }: Hold,
  grant: KeyWrite | undefined,
): Gone | undefined {
  const { list } = changes;
  const since = changesBetween(changes, place.line, Number.POSITIVE_INFINITY);
  const next = since.find(({ after }) => stores(after, place.name) !== 'yes');
  const expired = (by: Change | undefined, line: number, atNs: number) => by && { line, atNs, by, isExpired: true };
  // That it expires changes nothing until somebody stores there again: the other one's grant may come first, and find nobody there.
  if (grant && (!next || next.line > grant.observation)) {
    const before = firstIndex(list.length, (n) => list[n]!.line > grant.observation);
    const [fromMs, untilMs] = [grant.serverWallMs, grant.serverWallMs];
    const isOver = before > 0 && stateBy(list[before - 1]!.after, { fromMs, untilMs }).exists === 'no';
    if (isOver) return expired(lastTimed(list, before), grant.observation, grant.atNs);
  }
  if (!next || stores(next.after, place.name) !== 'no') return undefined;
  const { line, atNs } = next;
  // Who was granted the lock by then had not been let past by that.
  const isLater = grant ? (next.by ? requestLine(next.by) : line) > grant.observation : atNs > fromNs;
  if (isLater) return undefined;
  if (next.how === 'command') return { line, atNs, by: next, isExpired: false };
  return next.how === 'expired' && next.clockMs === undefined
    ? expired(lastTimed(list, list.indexOf(next)), line, atNs)
    : undefined;
}

/** Whose doing it was that a place was gone, where it was a client's, and not that of the one whose place another removed. */
interface End extends Gone {
  readonly client: string;
  readonly command: string;
  /** By the server's own clock, the latest that it can have been gone. */
  readonly wallMs: number;
}

function endOf(gone: Gone, waiter: string): End | undefined {
  const { by, isExpired } = gone;
  if (by.how !== 'command' || by.by?.client === undefined) return undefined;
  if (!isExpired && by.by.client === waiter) return undefined;
  const wallMs = isExpired ? by.after.expires.untilMs : by.by.serverWallMs;
  return { ...gone, client: by.by.client, command: by.by.name, wallMs };
}

/** Whether the request that took a place out stored its name elsewhere among the lock's keys: it was that client's turn. */
function isHandedOver(
  { by: { by }, isExpired }: End,
  { key, name }: NamedStore,
  reading: ServerReading,
  keys: readonly string[] | undefined,
): boolean {
  if (isExpired) return false;
  const request = requestLine(by!);
  return (keys ?? []).some(
    (one) =>
      one !== key &&
      reading
        .changes(one)
        .list.some(
          ({ by: other, after }) =>
            other !== undefined && requestLine(other) === request && ownersBy(after, other.line).includes(name),
        ),
  );
}

/** Whether the client had shown itself so lately that its place had to stay. */
function isInTime(goneWallMs: number, last: NamedStore, lastsMs: number): boolean {
  return goneWallMs - last.serverWallMs < lastsMs - leaseMarginNs(lastsMs) / 1e6;
}

function causeOf({ waiter, by }: Passed, node: string, place: NamedStore, end: End): Cause {
  const name = shown(place.name, 60);
  const since = `where it had stood since ${moment(place.atNs)} and its time was not over`;
  const stood = `${waiter.client}'s place ${name} in ${place.key}`;
  const time = `by the time that ${end.client} had set for it (${end.command})`;
  const said = end.isExpired
    ? {
        sentence: `${place.key} had expired on ${node} by ${moment(end.atNs)}, ${time}, and with it ${waiter.client}'s place ${name}, ${since}.`,
        text: `${place.key} had expired on ${node}, ${time}`,
      }
    : {
        sentence: `${end.client} removed ${stood} on ${node} at ${moment(end.atNs)} (${end.command}), ${since}.`,
        text: `${end.client} removed ${stood} (${end.command})`,
      };
  return {
    name: end.isExpired ? 'place-expired' : 'place-removed',
    sentence: said.sentence,
    chain: [
      { atNs: place.atNs, text: `${node} stored ${stood}`, observation: place.line },
      { atNs: end.atNs, text: said.text, observation: end.line },
      { atNs: by.fromNs, text: `${by.client} was granted ${by.key}`, history: by.evidence[1]! },
      { atNs: waiter.fromNs, text: `${waiter.client} was granted ${waiter.key}`, history: waiter.evidence[1]! },
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

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
 * over the connection that it was granted the lock over, or had been the time before, and was certainly there until another client's
 * command certainly removed it, or the queue had certainly expired, before the waiting one's granted attempt left.
 *
 * Excludes a place whose time was over by the server's own clock, one whose name, or that of its client, who removed it stored
 * elsewhere for the lock, as who hands it over does to the next in the queue (what became of it then is another question), one that
 * was put back at once, one that a stranger removed, one that may have been gone for another reason, a queue whose time was a time of
 * day by a clock that was off, and who was granted the lock by another server.
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
import { isByRightClocks } from './meanwhile.js';
import { type NamedStore, ownStoresOf, RelatedKeys } from './own-stores.js';
import { type Passed, placesOf } from './queue-places.js';
import { requestLine } from './tenure.js';
import { wholeEvidenceOf } from './whole-evidence.js';

export function placeLost(passed: Passed, input: CheckInput): Cause | undefined {
  const lastsMs = deadlineMs(input.history, 'place', passed.waiter.leaseMs);
  if (lastsMs === undefined) return undefined;
  for (const { node, place, last, end, handed, evidence } of endsOf(passed, input)) {
    if (handed || !isInTime(end.wallMs, last, lastsMs)) continue;
    if (end.isExpired && !isByRightClocks(end.by.by!, end.by.ranFromNs, evidence)) continue;
    if (isBelieved(node, Math.min(place.atNs, end.by.atNs), end.atNs, evidence, 0, 'still'))
      return causeOf(passed, node, place, end);
  }
  return undefined;
}

/**
 * Whether the client that waited had its turn before: another one's command took its place out and stored the lock for it, and it did not
 * come for that as long as its lease.
 */
export function hadItsTurn(passed: Passed, input: CheckInput): boolean {
  const { leaseMs } = passed.waiter;
  return endsOf(passed, input).some(({ node, place, handed, evidence }) => {
    const loss = handed?.changes.lossOf(handed.name, handed.change.line);
    if (loss?.how !== 'expired' || loss.ranFromNs > passed.by.fromNs) return false;
    const lastedMs = loss.before.expires.fromMs - handed!.change.by!.serverWallMs;
    const isWhole = lastedMs >= leaseMs - leaseMarginNs(leaseMs) / 1e6;
    return isWhole && isBelieved(node, place.atNs, loss.atNs, evidence, 0, 'still');
  });
}

/** How a place ended by another one's doing. */
interface Ended {
  readonly node: string;
  readonly place: NamedStore;
  /** Where the client had stored that name last. */
  readonly last: NamedStore;
  readonly end: End;
  /** What gave the lock to the client in return. */
  readonly handed: Handed | undefined;
  readonly evidence: Evidence;
}

interface Handed {
  readonly changes: KeyChanges;
  readonly change: Change;
  readonly name: string;
}

/** Of the last place of the client that waited, under each key that it stood under. */
function endsOf(passed: Passed, input: CheckInput): Ended[] {
  const { waiter, by } = passed;
  const evidence = wholeEvidenceOf(input);
  if (!evidence || evidence.majority !== undefined) return [];
  const related = new RelatedKeys(input.history.operations.keys);
  const own = ownStoresOf(waiter, evidence, related);
  // What is stored for everybody (`mode`) is nobody's name.
  const others = new Set(ownStoresOf(by, evidence, related).map(({ owner }) => owner));
  const owners = own.map(({ owner }) => owner).filter((owner) => !others.has(owner));
  return [...new Set(own.map(({ node }) => node))].flatMap((node) => {
    // What another server granted does not go by what this one has lost.
    if (evidence.grantsOf(by).some((grant) => grant.node !== node)) return [];
    const reading = evidence.readingOf(node)!;
    const places = placesOf(passed, node, input.history, evidence, related);
    const last = places.at(-1)!;
    return places.flatMap((place): Ended[] => {
      const gone = goneFrom(place, reading.changes(place.key), passed, granted(by, node, evidence));
      const end = place.name === last.name && gone && endOf(gone, waiter.client);
      if (!end || end.atNs >= waiter.grantSentNs || end.line <= last.line) return [];
      const keys = (related.of(waiter.key, reading) ?? []).filter((key) => key !== place.key);
      const handed = handedOver(end, place, [place.name, ...owners], keys, reading, waiter.grantSentNs);
      return [{ node, place, last, end, handed, evidence }];
    });
  });
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
  { waiter, by: { fromNs } }: Passed,
  grant: KeyWrite | undefined,
): Gone | undefined {
  const { list } = changes;
  const untilLine = grant?.observation ?? Number.NEGATIVE_INFINITY;
  const isThere = ({ by, after, how, line }: Change, at: number) => {
    // That the queue had expired before is told by the line that stored the place.
    if (stores(after, place.name) === 'yes' || (line === place.line && how === 'expired')) return true;
    return by?.client !== waiter.client && isPutBack(place.name, list, at, untilLine);
  };
  let at = changes.firstFrom(place.line);
  while (list[at] && isThere(list[at]!, at)) at++;
  const next = list[at];
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
  return next.how === 'expired' && next.clockMs === undefined ? expired(lastTimed(list, at), line, atNs) : undefined;
}

/**
 * Whether who took a place out put it back, before anything else became of the queue: in the same script, or else before that line.
 * So a queue is cleared of the dead: all of it is removed, and then stored anew without them.
 */
function isPutBack(name: string, list: readonly Change[], at: number, untilLine: number): boolean {
  const { by } = list[at]!;
  for (let n = at + 1; by && list[n]?.by?.source === by.source; n++) {
    const { by: then, line, after } = list[n]!;
    const isInTime = requestLine(then!) === requestLine(by) || line <= untilLine;
    if (isInTime && stores(after, name) === 'yes') return true;
  }
  return false;
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

/** Where who took a place out stored its name, or the one that its client holds by, among the lock's other keys: it was its turn. */
function handedOver(
  { client, isExpired }: End,
  { line }: NamedStore,
  names: readonly string[],
  keys: readonly string[],
  reading: ServerReading,
  untilNs: number,
): Handed | undefined {
  if (isExpired) return undefined;
  for (const key of keys) {
    const changes = reading.changes(key);
    for (let at = changes.firstFrom(line + 1); (changes.list[at]?.atNs ?? untilNs) < untilNs; at++) {
      const change = changes.list[at]!;
      const name =
        change.by?.client === client && ownersBy(change.after, change.line).find((one) => names.includes(one));
      if (name) return { changes, change, name };
    }
  }
  return undefined;
}

/** Whether the client had shown itself so lately that its place had to stay. */
function isInTime(goneWallMs: number, last: NamedStore, lastsMs: number): boolean {
  return (
    lastsMs === Number.POSITIVE_INFINITY || goneWallMs - last.serverWallMs < lastsMs - leaseMarginNs(lastsMs) / 1e6
  );
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

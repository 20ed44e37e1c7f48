/**
 * What a client had stored on the only server was still there when that was killed, which came back with nothing: its place in a queue,
 * or its grant where a lock keeps that under keys of its own.
 *
 * Proven where the server was seen to store it, and nothing that its old process printed later took it out, nor did anybody ever take
 * out another's before its time; its key had time left when the next one was granted the lock, by a clock that gained nothing; a
 * fault's record says that the server was killed and forgot; and a look at the new process showed that nothing at all was stored, before
 * it carried out the other one's grant; and it was watched from then on, and its client had not stored anything again by then.
 *
 * Excludes a name that its client had stored before over another connection, by which a release of that may still have been on its
 * way; a server that kept some of what it had, a restart of which no fault tells, and deployments of more than one server.
 */

import { isBlind } from '../../harness/record/facts/asked.js';
import { type Change, ownersBy, ownersOf, storedBy, stores } from '../../harness/record/facts/commands/changes.js';
import { partOf, type StoredState } from '../../harness/record/facts/commands/state.js';
import { isScript } from '../../harness/record/facts/commands/table.js';
import type { EffectSpan } from '../../harness/record/facts/effects.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import type { CommandObservation, Observations } from '../../harness/vocabulary/history.js';
import type { CauseLink, Hold } from '../../harness/vocabulary/verdict.js';
import { forgettingKills, wasEmptied } from './meanwhile.js';
import type { NamedStore } from './own-stores.js';

/** What the server carried out for whoever was granted the lock all the same. */
export type NextGrant = Pick<NamedStore, 'line' | 'atNs' | 'serverWallMs'>;

/** Whether somebody else may take this owner out of what was stored before the change: its time is over. */
export type IsOver = (owner: string, change: Change, lists: readonly Changes[]) => boolean;

export type Changes = readonly Change[];

export interface LostWithServer {
  /** Of each of them what its key held when the old process had printed all that is known of it. */
  readonly left: readonly StoredState[];
  /** The look that showed that the server had nothing: who looked before that found what was lost. */
  readonly emptyLine: number;
  /** Of the fault, what it did. */
  readonly did: string;
  /** The fault, and that the server had nothing when it ran again. */
  readonly links: CauseLink[];
}

interface Looked {
  /** One of the run's keys. */
  readonly resource: string;
  readonly client: string;
  readonly node: string;
  readonly next: NextGrant;
  readonly isOver: IsOver;
}

/** `stored`: of one client under one name, in the order in which it was; of none nothing is said. */
export function lostWithServer(
  stored: readonly NamedStore[],
  { resource, client, node, next, isOver }: Looked,
  evidence: Evidence,
): LostWithServer | undefined {
  const reading = evidence.readingOf(node);
  const last = stored.at(-1);
  const killed = last && forgotAfter(node, last, evidence);
  if (!reading || !killed) return undefined;
  const lists = stored.map(({ key }) => reading.changes(key).list);
  const { record } = killed.span;
  const empty = evidence.firstSample(node, record.atNs, ({ runId }) => runId !== killed.runId);
  if (!empty?.[1].isEmpty || empty[0] >= next.line) return undefined;
  // Its client may have stored it again unseen.
  if (!evidence.watchedThroughout(node, empty[1].atNs, next.atNs)) return undefined;
  const left = stored.flatMap((one, n) => leftAt(killed.lostLine, one, lists[n]!) ?? []);
  const hadTime =
    left.length === stored.length && left.every((state, n) => endOf(state, stored[n]!.name) > next.serverWallMs);
  if (!hadTime || evidence.clockGains(node, last.atNs, next.atNs).length > 0) return undefined;
  const anew = { fromLine: empty[0], untilLine: next.line };
  if (lists.some((list) => storedBetween(client, list, anew))) return undefined;
  if (stored.some((one, n) => mayTakeOutLate(one, stored, lists[n]!, client, evidence, node))) return undefined;
  // Who emptied it once, be it when nothing was there, may have done so again, just before it was killed.
  if (wasEmptied(node, resource, evidence)) return undefined;
  if (!lists.every((list) => list.every((change) => isRightful(change, lists, isOver)))) return undefined;
  return {
    left,
    emptyLine: empty[0],
    did: record.did,
    links: [
      { atNs: record.atNs, text: record.did, history: record.i },
      { atNs: empty[1].atNs, text: `${node} ran again, and had nothing stored`, observation: empty[0] },
    ],
  };
}

interface Killed {
  readonly span: EffectSpan;
  /** Of the process that was killed. */
  readonly runId: string;
  /** Where the record of what it printed breaks off. */
  readonly lostLine: number;
}

/** The first kill after which the node had forgotten something, after it had stored this. */
function forgotAfter(node: string, last: NamedStore, evidence: Evidence): Killed | undefined {
  const span = forgettingKills(node, evidence).find(({ earliestNs }) => earliestNs > last.atNs);
  const before = span && evidence.lastSample(node, span.earliestNs);
  const lost = span && evidence.watchLost(node, last.atNs, Number.POSITIVE_INFINITY);
  // Watched from the storing until the old process was gone.
  if (!before || !lost || lost[1].atNs < span.earliestNs) return undefined;
  return { span, runId: before[1].runId, lostLine: lost[0] };
}

/** What its key held before that line, if nothing that was printed until then took it out. */
function leftAt(lostLine: number, { line, name }: NamedStore, list: Changes): StoredState | undefined {
  const since = list.filter((change) => change.line >= line && change.line < lostLine);
  return since.every(({ after }) => stores(after, name) === 'yes') ? since.at(-1)?.after : undefined;
}

/** Before when it does not expire, by the server's clock. */
function endOf({ held, expires }: StoredState, name: string): number {
  const isNamed = held && held.type !== 'string' && held.type !== 'list';
  return Math.min(expires.fromMs, isNamed ? partOf(held, name).expires.fromMs : Number.POSITIVE_INFINITY);
}

/**
 * Whether a command took out its own client's only, and what had no time left. What ran last need not have been printed, so that of
 * whoever was ever seen to do otherwise nobody knows whether it did so then.
 */
function isRightful(change: Change, lists: readonly Changes[], isOver: IsOver): boolean {
  const { how, by, before, after } = change;
  if (how === 'evicted') return false;
  if (how !== 'command' || !by) return true;
  return ownersOf(before)
    .filter((owner) => stores(after, owner) !== 'yes')
    .every(
      (owner) =>
        (by.client !== undefined && storedBy(before, owner)?.client === by.client) || isOver(owner, change, lists),
    );
}

/**
 * Whether what its client had sent for an earlier store of the same name may have been on its way still: over a connection that is not
 * that of any later one, to the same process. A release of before, say, takes out the name whenever it comes.
 */
function mayTakeOutLate(
  { line, name, atNs }: NamedStore,
  stored: readonly NamedStore[],
  list: Changes,
  client: string,
  evidence: Evidence,
  node: string,
): boolean {
  const lines = new Set(stored.map((one) => one.line));
  const own = list.filter(({ by }) => by?.client === client);
  const sources = new Set(own.filter((change) => lines.has(change.line)).map(({ by }) => by!.source));
  const runId = evidence.lastSample(node, atNs)?.[1].runId;
  const [, old] =
    evidence.samples(node, Number.NEGATIVE_INFINITY, atNs).findLast(([, sample]) => sample.runId !== runId) ?? [];
  return own.some(
    (change) =>
      change.line < line &&
      ownersBy(change.after, change.line).includes(name) &&
      !sources.has(change.by!.source) &&
      !(old && change.atNs < old.atNs),
  );
}

/** Their answers tell of nothing but what they name themselves, whoever else is stored there. */
const ASKS_FOR_NOBODY: ReadonlySet<string> = new Set(
  'ZADD SADD HSET HMSET ZREM ZREMRANGEBYSCORE SREM HDEL LREM ZSCORE SISMEMBER EXPIRE PEXPIRE EXPIREAT PEXPIREAT'.split(
    ' ',
  ),
);

function asksForNobody(name: string, argv: readonly string[]): boolean {
  return ASKS_FOR_NOBODY.has(name) || (name === 'SET' && isBlind(name, argv));
}

/**
 * Whether a command of the client's, or of a script of its, looked at one of the keys in which another one was stored, in the attempt that
 * was granted. Who never looks there is granted the lock whatever its server remembers. `isMeant`: which of these looks count.
 */
export function hasLooked(
  { client, grantSentNs, fromNs }: Hold,
  stored: readonly Pick<NamedStore, 'key'>[],
  { node, next }: { readonly node: string; readonly next: Pick<NextGrant, 'atNs'> },
  observations: Observations,
  isMeant: (line: number, command: CommandObservation) => boolean = () => true,
): boolean {
  const keys = new Set(stored.map(({ key }) => key));
  const untilNs = Math.max(fromNs, next.atNs) + RECKONING_NS;
  let isOwn = false;
  for (const [line, command] of observations.commands(grantSentNs - RECKONING_NS, untilNs)) {
    if (command.node !== node) continue;
    const { source, argv } = command;
    if (source !== 'lua') isOwn = command.client === client;
    // What a script is given it need not have looked at.
    const name = argv[0]!.toUpperCase();
    if (!isOwn || isScript(name) || asksForNobody(name, argv) || !argv.some((word) => keys.has(word))) continue;
    if (isMeant(line, command)) return true;
  }
  return false;
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

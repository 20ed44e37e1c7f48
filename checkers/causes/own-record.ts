/**
 * Why exclusion was broken on a service that is not Redis, by that service's own record of whom it had stored.
 *
 * Every link is of the record: what was stored for either hold, in which order, on which server, and what came between. Where one
 * of them is missing or could be another's, nothing is said.
 */
import { effectsOf } from '../../harness/record/facts/effects.js';
import { leaseKindOf } from '../../harness/record/facts/lease-kind.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import {
  type RoleObservation,
  type ServiceRecord,
  type StoredEntry,
  serviceRecordOf,
} from '../../harness/record/facts/service-record.js';
import { duration, moment } from '../../harness/record/facts/words.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseLink, Hold } from '../../harness/vocabulary/verdict.js';
import { SAYS_PRIMARY } from './losses.js';
import { overByClock } from './over-by-clock.js';

/** What is proven of how two clients came to hold a key at once; undefined: nothing. */
export function ownRecordCause(overlap: Overlap, input: CheckInput): Cause | undefined {
  const record = serviceRecordOf(input);
  if (record.isEmpty || overlap.others.length > 0) return undefined;
  const { first, second } = overlap;
  const never = [first, second].find((hold) => record.hasNothingOf(hold));
  if (never) return neverStored(never);
  const [one, other] = [first, second].map((hold) => ({ hold, entry: record.entryOf(hold) }));
  if (!one?.entry || !other?.entry) return undefined;
  const pair = [one, other] as { hold: Hold; entry: StoredEntry }[];
  if (one.entry.log !== other.entry.log) {
    const [earlier, later] = pair.sort((a, b) => a.entry.atNs - b.entry.atNs) as [Stored, Stored];
    return twoLogs(earlier, later, record, input);
  }
  const [earlier, later] = pair.sort((a, b) => a.entry.position - b.entry.position) as [Stored, Stored];
  // What a server has lost it cannot tell of.
  if (effectsOf(input.history).spans('forgot').length > 0) return undefined;
  return oneLog(earlier, later, record, input);
}

/** That what was stored for a stale holder had gone before it stopped: a link for whatever else explains it. */
export function goneLinkOf(hold: Hold, input: CheckInput): CauseLink[] {
  const record = serviceRecordOf(input);
  const entry = record.isEmpty ? undefined : record.entryOf(hold);
  const gone = entry && record.next(entry);
  if (!gone || gone.atNs > hold.untilNs) return [];
  const what = gone.owner === undefined ? (gone.how === 'timed-out' ? 'ended by time' : 'gone') : `${told(gone)}'s now`;
  return [
    { atNs: gone.atNs, text: `${gone.node} says that ${hold.key} is ${what} (${at(gone)})`, observation: gone.line },
  ];
}

interface Stored {
  hold: Hold;
  entry: StoredEntry;
}

function neverStored(hold: Hold): Cause {
  return {
    name: 'never-granted',
    sentence: `No server had stored anything for ${hold.client} under ${hold.key} when it was told that it holds it.`,
    chain: [
      { atNs: hold.grantSentNs, text: `the attempt left ${hold.client}`, history: hold.evidence.at(0) },
      { atNs: hold.fromNs, text: `${hold.client} was granted ${hold.key}`, history: hold.evidence.at(1) },
    ],
  };
}

/** Both were stored in one order: what came right after the first? */
function oneLog(earlier: Stored, later: Stored, record: ServiceRecord, input: CheckInput): Cause | undefined {
  const { hold, entry } = earlier;
  const after = record.next(entry);
  if (!after || after.position > later.entry.position) return undefined;
  // What its own client stored anew stands again: what took it before let nobody in.
  const between = record.changes(entry.key, entry.log).filter(({ position: n }) => n > after.position);
  if (between.some(({ client, position: n }) => client === hold.client && n < later.entry.position)) return undefined;
  const earlyNs = hold.leaseEndNs - after.atNs;
  const isLaters = after.position === later.entry.position;
  const takenNs = isLaters ? Math.min(after.atNs, later.hold.fromNs) : after.atNs;
  const byClock = earlyNs > 0 ? overByClock(hold, entry, after, takenNs, record, input) : undefined;
  if (byClock) {
    const { links, ...cause } = byClock;
    const chain = [storedLink(entry), grantedLink(hold), ...links, changeLink(after), grantedLink(later.hold)];
    return { ...cause, chain: inOrder(chain) };
  }
  if (after.isSampled || !record.isWholeBetween(entry, after)) return undefined;
  // What is no longer good may be taken, and by a clock that was set it may be that before.
  if (!(earlyNs > 0) || clockMoved(input) || isOver(entry, after, record)) return undefined;
  if (after.owner !== undefined) {
    if (after.client === undefined || after.client === hold.client) return undefined;
    return {
      name: 'overwritten',
      sentence: `${after.client} stored itself over ${hold.client}'s ${hold.key}, which was still there: nothing lies between ${at(entry)} and ${at(after)}.`,
      chain: inOrder([storedLink(entry), storedLink(after), grantedLink(hold), grantedLink(later.hold)]),
    };
  }
  if (after.how === 'timed-out') return sessionExpired(earlier, later, after, input);
  // Its own client may have begun to release it, and have had no answer.
  if (hold.endedBy === 'release' && hold.untilNs <= after.atNs) return undefined;
  const lease = hold.leaseEndNs === Number.POSITIVE_INFINITY ? '' : `, ${duration(earlyNs)} before its lease was over`;
  return {
    name: 'removed-early',
    sentence: `What was stored for ${hold.client} under ${hold.key} was removed at ${moment(after.atNs)}${lease}, while ${hold.client} held it.`,
    chain: inOrder([
      storedLink(entry),
      grantedLink(hold),
      changeLink(after),
      storedLink(later.entry),
      grantedLink(later.hold),
    ]),
  };
}

/** Whether by the service's own word what it had stored was over, however long the lease: its client had it kept for less, say. */
function isOver(entry: StoredEntry, after: StoredEntry, record: ServiceRecord): boolean {
  return after.leftMs === undefined ? wasOverBy(after.atNs, entry, record) : after.leftMs <= 0;
}

function wasOverBy(byNs: number, entry: StoredEntry, record: ServiceRecord): boolean {
  const { keptMs, atNs } = record.lastProlonged(entry, byNs) ?? entry;
  return keptMs !== undefined && byNs - atNs >= (keptMs - CLOCKS_MS) * 1e6;
}

/** Its session had been ended for its silence, and the lock kept another alive for it: what it confirmed after was nobody's. */
function sessionExpired(
  { hold, entry }: Stored,
  later: Stored,
  after: StoredEntry,
  input: CheckInput,
): Cause | undefined {
  const keptAlive = hold.evidence
    .map((line) => input.history.event(line))
    .find((event) => event?.type === 'renewed' && event.sentNs > after.atNs);
  if (keptAlive?.type !== 'renewed' || leaseKindOf(input.history) !== 'session') return undefined;
  return {
    name: 'session-expired',
    sentence: `The session by which ${hold.client} held ${hold.key} had ended for its silence at ${moment(after.atNs)}; its lock took what it kept alive at ${moment(keptAlive.sentNs)} for that session, and ${hold.client} held on.`,
    chain: inOrder([
      storedLink(entry),
      grantedLink(hold),
      {
        atNs: after.atNs,
        text: `${after.node} says that it ended the session (${at(after)})`,
        observation: after.line,
      },
      { atNs: keptAlive.sentNs, text: `${hold.client} says that it keeps ${hold.key}`, history: keptAlive.i },
      storedLink(later.entry),
      grantedLink(later.hold),
    ]),
  };
}

/** Whether any server's wall clock was set in this run: leases of rows end by it. */
function clockMoved({ history }: CheckInput): boolean {
  const effects = effectsOf(history);
  return (['clock-jumped', 'clock-drifts', 'clock-strobes'] as const).some((kind) => effects.spans(kind).length > 0);
}

/** Each was stored where the other was not known. */
function twoLogs(earlier: Stored, later: Stored, record: ServiceRecord, input: CheckInput): Cause | undefined {
  const [old, next] = [earlier.entry, later.entry];
  const chain = [storedLink(old), grantedLink(earlier.hold), storedLink(next), grantedLink(later.hold)];
  const bySession = leaseKindOf(input.history) !== 'timed';
  const [oldNode, node] = [old, next].map((entry) => record.writerOf(entry)) as [string, string];
  if (oldNode === node) {
    const [before, after] = [record.roleAt(node, old.atNs), record.roleAt(node, next.atNs)];
    if (!bySession || !before || !after || before.runId === after.runId) return undefined;
    if (wasGone(old, Math.min(after.atNs, next.atNs), record)) return undefined;
    return {
      name: 'session-lost',
      sentence: `${node} was started anew, and had forgotten the session by which ${earlier.hold.client} held ${old.key}.`,
      chain: inOrder([...chain, link(after, `${after.node} runs as another process`)]),
    };
  }
  const promoted = tookOver(node, old, next, record);
  // It knew of it, and gave it away all the same. Sessions are of one server, and another's may have the same number.
  if (!old.isSampled && record.hasTold(node, old.owner))
    return promoted && prolongationLost(earlier, later, { oldNode, node, promoted }, record, input);
  const gone = record.next(old);
  if (promoted) {
    // Nothing was lost by that of what was gone by then.
    const byNs = Math.min(promoted.atNs, next.atNs);
    if (wasGone(old, byNs, record) || wasOverBy(byNs, old, record)) return undefined;
    const name = bySession ? 'session-lost' : 'failover-lost-row';
    const what = bySession ? 'the session by which' : 'the row by which';
    return {
      name,
      sentence: `${node} took ${oldNode}'s place without ${what} ${earlier.hold.client} held ${old.key}, and granted it to ${later.hold.client}.`,
      chain: inOrder([...chain, link(promoted, `${node} ${SAYS_PRIMARY}`)]),
    };
  }
  const stillThere = record.isWatched(oldNode, old.atNs, next.atNs) && (!gone || gone.atNs > next.atNs);
  // Where both took themselves for the primary, clients did ask who they were to ask.
  const roles = [oldNode, node].map((one) => record.roleAt(one, next.atNs)?.role);
  if (!bySession || !stillThere || record.promoted(node, old.atNs) || !roles.includes('replica')) return undefined;
  return {
    name: 'local-to-one-server',
    sentence: `${oldNode} had ${old.key} for ${earlier.hold.client} when ${node} granted it to ${later.hold.client}: neither knows of the other's.`,
    chain: inOrder(chain),
  };
}

/**
 * Whether it had gone by then. A server that ends lets go of its sessions first, which may be seen; of one that could be asked for
 * some time after that it was not the end.
 */
function wasGone(entry: StoredEntry, byNs: number, record: ServiceRecord): boolean {
  const gone = record.next(entry);
  if (!gone || gone.atNs > byNs) return false;
  return !gone.isSampled || record.isWatched(gone.node, gone.atNs, gone.atNs + ENDING_NS);
}

/** By which word of its own it had become the primary in the place of the one that wrote `old` when it stored `next`. */
function tookOver(node: string, old: StoredEntry, next: StoredEntry, record: ServiceRecord) {
  const promoted = record.promoted(node, old.atNs);
  if (promoted && tookOverBy(node, next.atNs, promoted.atNs, record)) return promoted;
  // The old one may not have known yet that it had been replaced.
  const before = record.lastPromoted(node, next.atNs);
  return before && old.term !== undefined && old.term < before.term ? before : undefined;
}

/** It had the row, and not the time that this was given since: when that was over, there, another took it. */
function prolongationLost(
  { hold, entry: old }: Stored,
  later: Stored,
  { oldNode, node, promoted }: { oldNode: string; node: string; promoted: RoleObservation & { line: number } },
  record: ServiceRecord,
  input: CheckInput,
): Cause | undefined {
  const [taken] = record.changes(old.key, later.entry.log);
  if (taken?.client === undefined || taken.client === hold.client || taken.position > later.entry.position)
    return undefined;
  const isOver = taken.leftMs !== undefined && taken.leftMs <= 0 && taken.atNs < hold.leaseEndNs;
  if (!isOver || clockMoved(input) || record.lastTold(node, old.key, taken.atNs)?.owner !== old.owner) return undefined;
  const prolonged = record.lastProlonged(old, taken.atNs);
  if (prolonged?.keptMs === undefined || record.hasToldOf(node, prolonged)) return undefined;
  // By what is lost it would have been there still.
  if (prolonged.keptMs < hold.leaseMs - CLOCKS_MS || record.next(old)) return undefined;
  return {
    name: 'failover-lost-extension',
    sentence: `${node} took ${oldNode}'s place with the row by which ${hold.client} held ${old.key}, and without the time that it had been given at ${moment(prolonged.atNs)}: when it was over there ${taken.client} took it, ${duration(hold.leaseEndNs - taken.atNs)} before the lease was over.`,
    chain: inOrder([
      storedLink(old),
      grantedLink(hold),
      {
        ...storedLink(prolonged),
        text: `${prolonged.node} gives ${hold.key} more time for ${hold.client} (${at(prolonged)})`,
      },
      link(promoted, `${node} ${SAYS_PRIMARY}`),
      storedLink(taken),
      grantedLink(later.hold),
    ]),
  };
}

/** What is prolonged in a statement is so by the server's clock, a bit after its time was read. */
const CLOCKS_MS = 20;

/** A server that ends cannot be asked any more so long after its sessions were let go. */
const ENDING_NS = 200e6;

/** A server is asked for its role every so often. */
const ROLE_LATE_NS = 500e6;

/** Whether it had become the primary when it stored this: it never said after that that it is a replica, or soon said that it is not. */
function tookOverBy(node: string, atNs: number, saidNs: number, record: ServiceRecord): boolean {
  return saidNs <= atNs + ROLE_LATE_NS || record.lastAsReplicaNs(node, saidNs)! <= atNs;
}

function told({ client, owner }: StoredEntry): string {
  return client ?? owner ?? 'nobody';
}

function at({ position, log }: StoredEntry): string {
  return `${log} ${position}`;
}

function storedLink(entry: StoredEntry): CauseLink {
  return {
    atNs: entry.atNs,
    text: `${entry.node} has stored ${told(entry)} under ${entry.key} (${at(entry)})`,
    observation: entry.line,
  };
}

function changeLink(entry: StoredEntry): CauseLink {
  if (entry.owner !== undefined) return storedLink(entry);
  const { atNs, node, key, line } = entry;
  return { atNs, text: `${node} says that ${key} is gone (${at(entry)})`, observation: line };
}

function grantedLink(hold: Hold): CauseLink {
  return { atNs: hold.fromNs, text: `${hold.client} was granted ${hold.key}`, history: hold.evidence.at(1) };
}

function link({ atNs, line }: { atNs: number; line: number }, text: string): CauseLink {
  return { atNs, text, observation: line };
}

function inOrder(links: CauseLink[]): CauseLink[] {
  return links.sort((a, b) => a.atNs - b.atNs);
}

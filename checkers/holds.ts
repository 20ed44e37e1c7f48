/**
 * What a history proves about who held which lock when.
 *
 * A hold is reported for every acquire that is known to have succeeded; an acquire of unknown outcome proves nothing.
 * Every bound is drawn so that the client *certainly* acted as the holder between `fromNs` and `untilNs`, and that its
 * lease *certainly* ran until `leaseEndNs`, whatever is missing from the record: what cannot be proven held never accuses.
 * The price is that an overlap which lies wholly in the unproven part is not seen; each rule below says what that part is.
 */
import type { History, HistoryEvent, Hold } from '../harness/api.js';
import { once } from './once.js';
import { type Operation, operationsOf, stampBreaches } from './operations.js';

interface Lease {
  sentNs: number;
  leaseMs: number;
}

interface Draft {
  hold: Hold;
  /** Successful renewals. */
  renewals: Lease[];
  /** Extensions of unknown outcome. */
  doubtful: Lease[];
}

/** Every proven hold, in the order in which their grants were recorded. */
export const holdsOf = once((history: History): readonly Hold[] => {
  const operations = operationsOf(history);
  const breaches = stampBreaches(history, operations);
  const trusted = (client: string) => !breaches.has(client);
  const drafts = new Map<string, Map<number, Draft>>();
  const find = (client: string, hold: number | undefined) =>
    hold === undefined ? undefined : drafts.get(client)?.get(hold);
  const endNs = history.events.reduce((latest, event) => Math.max(latest, event.atNs), 0);

  for (const operation of operations) {
    const { client, op, hold } = operation.invoke;
    if (op === 'acquire') {
      const draft = granted(operation, trusted(client), endNs);
      if (draft) drafts.set(client, (drafts.get(client) ?? new Map<number, Draft>()).set(operation.invoke.id, draft));
    } else if (op === 'extend') {
      extended(find(client, hold), operation, trusted(client));
    } else if (op === 'release') {
      released(find(client, hold), operation, trusted(client));
    }
  }
  for (const event of history.events) {
    if (event.type === 'renewed') renewed(find(event.client, event.hold), event, trusted(event.client));
    else if (event.type === 'lost') lost(find(event.client, event.hold), event, trusted(event.client));
    else if (event.type === 'client-down')
      for (const draft of drafts.get(event.client)?.values() ?? []) down(draft, event);
  }
  const holds = [...drafts.values()].flatMap((ofClient) => [...ofClient.values()].map(settled));
  return holds.sort((a, b) => a.evidence[1]! - b.evidence[1]!);
});

/**
 * From: when the client had the answer in hands. Without its own stamp, when the harness read the answer, which is later.
 * The lease: from when the granted attempt left. Without that stamp, from when the operation began, or was sent, which is
 * earlier: a client that waited 4 s in a queue and then got a 5 s lease counts as leased for the first second only.
 */
function granted({ invoke, completion }: Operation, trusted: boolean, endNs: number): Draft | undefined {
  if (completion?.type !== 'ok') return undefined;
  const leaseMs = invoke.leaseMs ?? 0;
  const fromNs = (trusted ? completion.endedNs : undefined) ?? completion.atNs;
  const grantSentNs = (trusted ? (completion.grantSentNs ?? completion.beganNs) : undefined) ?? invoke.atNs;
  const hold: Hold = {
    client: invoke.client,
    key: invoke.key,
    id: invoke.id,
    fromNs,
    untilNs: Math.max(fromNs, endNs),
    endedBy: 'history-end',
    leaseEndNs: grantSentNs + leaseMs * 1e6,
    grantSentNs,
    leaseMs,
    evidence: [invoke.i, completion.i],
  };
  if (completion.token !== undefined) hold.token = completion.token;
  if (completion.validForMs !== undefined) hold.validForMs = completion.validForMs;
  return { hold, renewals: [], doubtful: [] };
}

/**
 * A hold ends when its release *began*, whatever came of it: a client that was told "not yours" or nothing at all has
 * stopped working under the lock all the same.
 *
 * Where that instant is not known (no answer, or no stamps) the hold is proven only until the release was *sent* to the
 * client. Say c1 is stopped at 2 s, told to release at 3 s and killed at 5 s, still stopped: it held until 5 s. Say it ran,
 * began the release at 3.001 s and died before answering: it did not. Both leave the same record, so 3 s it is; an overlap
 * that began between 3 s and 5 s is not seen.
 */
function released(draft: Draft | undefined, { invoke, completion }: Operation, trusted: boolean): void {
  if (!draft) return;
  const { hold } = draft;
  const beganNs = trusted ? completion?.beganNs : undefined;
  endAt(draft, beganNs ?? invoke.atNs, 'release');
  hold.evidence.push(invoke.i);
  if (!completion) return;
  hold.evidence.push(completion.i);
  // Released twice (say, once without an answer): "ok" is the news.
  if (hold.released !== 'ok') hold.released = completion.type;
}

function extended(draft: Draft | undefined, { invoke, completion }: Operation, trusted: boolean): void {
  if (!draft) return;
  draft.hold.evidence.push(invoke.i, ...(completion ? [completion.i] : []));
  if (completion?.type === 'fail') return;
  const sentNs = (trusted ? (completion?.sentNs ?? completion?.beganNs) : undefined) ?? invoke.atNs;
  const lease = { sentNs, leaseMs: invoke.leaseMs ?? 0 };
  (completion?.type === 'ok' ? draft.renewals : draft.doubtful).push(lease);
}

/**
 * A renewal that the client told unasked. If its clock cannot be trusted, nothing bounds when the renewal was sent, so
 * the lease is not counted as renewed.
 */
function renewed(draft: Draft | undefined, event: Extract<HistoryEvent, { type: 'renewed' }>, trusted: boolean): void {
  if (!draft) return;
  draft.hold.evidence.push(event.i);
  if (trusted) draft.renewals.push({ sentNs: event.sentNs, leaseMs: event.leaseMs });
}

/**
 * A client that was told by its library that it lost the lock stopped holding then. If its clock cannot be trusted, it
 * may have been told at any time since the grant, and nothing is proven.
 */
function lost(draft: Draft | undefined, event: Extract<HistoryEvent, { type: 'lost' }>, trusted: boolean): void {
  if (!draft) return;
  draft.hold.evidence.push(event.i);
  endAt(draft, trusted ? event.clientNs : draft.hold.fromNs, 'lost');
}

/**
 * A killed client certainly acted until the moment before the kill was sent. One that died by itself did so a little before
 * its death was noticed; that gap is milliseconds unless the harness itself stood still, which `doubts.ts` looks at.
 */
function down(draft: Draft, event: Extract<HistoryEvent, { type: 'client-down' }>): void {
  if (draft.hold.endedBy !== 'history-end' && draft.hold.untilNs <= event.endNs) return;
  draft.hold.evidence.push(event.i);
  endAt(draft, event.endNs, 'client-down');
}

/** Ends the hold at `ns` unless something ended it earlier. It cannot end before it began: then it is empty. */
function endAt({ hold }: Draft, ns: number, by: Hold['endedBy']): void {
  const untilNs = Math.max(hold.fromNs, ns);
  if (hold.endedBy !== 'history-end' && untilNs >= hold.untilNs) return;
  if (untilNs > hold.untilNs) return;
  hold.untilNs = untilNs;
  hold.endedBy = by;
}

/**
 * Draws the lease's end.
 *
 * The last successful renewal decides, also where it asked for a shorter lease than the one before: the server was told
 * so. A renewal that was sent after the lease had already run out does not mend the gap: granted at 0 s for 5 s, renewed
 * at 7 s, the client was stale from 5 s on, and whoever was granted the lock at 6 s was granted it rightly.
 *
 * An extension of unknown outcome may have been carried out: it can only be held against the lease (it may have made it
 * shorter), never for it.
 */
function settled({ hold, renewals, doubtful }: Draft): Hold {
  renewals.sort((a, b) => a.sentNs - b.sentNs);
  for (const { sentNs, leaseMs } of renewals) {
    if (sentNs > hold.leaseEndNs || sentNs > hold.untilNs) break;
    hold.leaseEndNs = sentNs + leaseMs * 1e6;
  }
  for (const { sentNs, leaseMs } of doubtful) hold.leaseEndNs = Math.min(hold.leaseEndNs, sentNs + leaseMs * 1e6);
  const [invoke, ok, ...rest] = hold.evidence;
  hold.evidence = [invoke!, ok!, ...rest.sort((a, b) => a - b)];
  return hold;
}

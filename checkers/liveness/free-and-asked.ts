/**
 * Where a key was asked for and granted to no client, although none held it or can have held it: by the history alone.
 *
 * Free is a key while all that may have taken it is over. A hold counts until the answer to its release, and for the longest
 * lease of the run after; so does an attempt that failed for another reason than that the lock is taken, which may have stored
 * something. A client that died, was struck by a fault, or left an acquire without an answer may have a place or a permit on
 * the servers besides, until that ends by the lock's own declaration.
 *
 * Nothing is judged while a fault was in force that was not on clients only, or within 10 s after; while machine or harness stood
 * still; and as long as a step of the wall clock, or of a server's, may make leases longer. Nor is an acquire while its own client was struck.
 */
import { byKey, sortedBy } from '../../harness/record/facts/by-key.js';
import { namesOfClient } from '../../harness/record/facts/clients.js';
import { deadlineMs, declaredMs } from '../../harness/record/facts/deadlines.js';
import { effectsOf, type Footprint, SETTLE_NS } from '../../harness/record/facts/effects.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { longestLeaseMs } from '../../harness/record/facts/longest-lease.js';
import { attemptSentNs, trustedClients } from '../../harness/record/facts/operations.js';
import { releasesAnsweredNs } from '../../harness/record/facts/releases-answered.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';

/** Beside the lease: how late a sound lock may be. */
export const GRACE_NS = 2e9;
/** Clients that are refused ask again within this time: that is one and the same wish. */
const BETWEEN_TRIES_NS = 1e9;
/** A refusal that says that the lock is taken: such an attempt stored nothing by which it could be. */
export const TAKEN: ReadonlySet<string> = new Set(['held', 'queued-behind']);
/** What clients can be struck by that ends, if not by a heal, by the deadline of what they had on the servers. */
const SILENCED = new Set(['killed', 'stopped', 'cut', 'off-network']);

/** A time in which a key was free and asked for, ns since the epoch. */
export interface Wish {
  /** Index into the operations' `keys`. */
  readonly key: number;
  readonly fromNs: number;
  readonly untilNs: number;
}

interface Span {
  fromNs: number;
  untilNs: number;
}

/** What a lock may keep beyond a lease, milliseconds. */
export interface Patience {
  /** Beyond lease and grace, without any fault. */
  readonly ms: number;
  /** After a client was heard of for the last time; Infinity: for ever. */
  readonly afterSilenceMs: number;
}

/** By the lock's declared deadlines; one that it does not declare counts as none. */
export function patienceOf(history: History): Patience {
  const leaseMs = longestLeaseMs(history);
  const declared = [deadlineMs(history, 'place', leaseMs) ?? 0, deadlineMs(history, 'permit', leaseMs) ?? 0];
  // What never ends by itself is for clients that are heard of no more. One that gives up must give its place back.
  const ms = declaredMs(history.rare.find((event) => event.type === 'client-up')?.deadlines, leaseMs);
  return { ms, afterSilenceMs: declared.reduce((sum, one) => sum + one) };
}

/** For how long a client that is not heard of any more may be in the way, ns. */
export function silenceNs(history: History): number {
  return (longestLeaseMs(history) + patienceOf(history).afterSilenceMs) * 1e6 + GRACE_NS;
}

/** When a client was gone, ns since the epoch; Infinity: that was not recorded. */
export function endsOfClients({ rare }: History): (client: string) => number {
  const endNs = new Map(rare.flatMap((event) => (event.type === 'client-down' ? [[event.client, event.endNs]] : [])));
  return (client) => endNs.get(client) ?? Number.POSITIVE_INFINITY;
}

/** When the process was gone that a hold ended with: its lock may have renewed it until then. -Infinity: it ended otherwise. */
export function endsWithProcess(history: History): (k: number) => number {
  const holds = holdsOf(history);
  const { clients } = history.operations;
  const endNs = endsOfClients(history);
  return (k) => (holds.endedByDeath(k) ? endNs(clients[holds.client[k]!]!) : Number.NEGATIVE_INFINITY);
}

/** For how long a key may be free and asked for, ns. */
export function mostNs(history: History): number {
  return (longestLeaseMs(history) + patienceOf(history).ms) * 1e6 + GRACE_NS;
}

/** Times of more than `mostNs` in which a key was free and asked for throughout, by time. */
export function longWishes(history: History): Wish[] {
  const leastNs = mostNs(history);
  const disturbed = disturbances(history);
  const asked = askedByKey(history);
  const taken = takenByKey(history);
  return asked
    .flatMap((spans, key) =>
      without(merged(spans, BETWEEN_TRIES_NS), merged([...taken[key]!, ...disturbed])).map((span) => ({
        key,
        ...span,
      })),
    )
    .filter(({ fromNs, untilNs }) => untilNs - fromNs > leastNs)
    .sort((a, b) => a.fromNs - b.fromNs);
}

/** When clients asked: until they were refused, or until the attempt left that was granted. */
function askedByKey(history: History): Span[][] {
  const { operations: ops } = history;
  const { callNs, returnNs } = intervalsOf(history);
  const trusted = trustedClients(history);
  const struck = struckClients(history);
  const asks = (row: number) =>
    ops.op[row] === OP.acquire && (ops.outcome[row] === OUTCOME.ok || isTaken(history, row)) && !struck(row);
  return byKey(ops.key, ops.count, ops.keys.length, asks).map((rows) =>
    [...sortedBy(rows, (a, b) => callNs[a]! - callNs[b]!)].map((row) => ({
      fromNs: callNs[row]!,
      untilNs: ops.outcome[row] === OUTCOME.ok ? attemptSentNs(ops, trusted, row) : returnNs[row]!,
    })),
  );
}

/** When each key can have been taken: by holds, by what attempts may have left, by clients that were not heard of any more. */
function takenByKey(history: History): Span[][] {
  const { operations: ops } = history;
  const { callNs, returnNs } = intervalsOf(history);
  const holds = holdsOf(history);
  const leaseNs = longestLeaseMs(history) * 1e6;
  const longNs = silenceNs(history);
  const answeredNs = releasesAnsweredNs(history);
  const endNs = endsOfClients(history);
  const goneNs = endsWithProcess(history);
  const mayTake = (row: number) => ops.op[row] === OP.acquire && !isTaken(history, row);
  return byKey(ops.key, ops.count, ops.keys.length, mayTake).map((rows) =>
    [...rows].map((row) => {
      const k = holds.ofRow[row]!;
      if (k >= 0) {
        const overNs = Math.max(holds.untilNs[k]!, answeredNs[k]!, goneNs(k));
        return { fromNs: holds.grantSentNs[k]!, untilNs: overNs + (holds.endedByDeath(k) ? longNs : leaseNs) };
      }
      if (ops.outcome[row] === OUTCOME.fail) return { fromNs: callNs[row]!, untilNs: returnNs[row]! + leaseNs };
      // Its outcome is not known: until its client was gone, and its lease and place were over.
      return { fromNs: callNs[row]!, untilNs: endNs(ops.clients[ops.client[row]!]!) + longNs };
    }),
  );
}

function isTaken({ operations: { outcome, reason, reasons } }: History, row: number): boolean {
  return outcome[row] === OUTCOME.fail && TAKEN.has(reasons[reason[row]!] ?? '');
}

/** Times of which nothing is said of any key. */
function disturbances(history: History): Span[] {
  const longNs = silenceNs(history);
  const clients = clientNames(history);
  const spans: Span[] = [];
  for (const footprint of effectsOf(history).footprints()) {
    const onClients = footprint.names.size > 0 && [...footprint.names].every((name) => clients.has(name));
    spans.push(
      ...(onClients
        ? blockedBy(footprint, longNs)
        : [
            {
              fromNs: footprint.earliestNs,
              untilNs: footprint.latestNs + Math.max(SETTLE_NS, keptLongerNs(footprint, longNs)),
            },
          ]),
    );
  }
  for (const event of history.rare) {
    if (event.type !== 'disturbance') continue;
    const longerNs = event.disturbance === 'wall-clock-step' ? longNs + Math.abs(event.ms) * 1e6 : GRACE_NS;
    spans.push({ fromNs: event.beganNs, untilNs: event.atNs + longerNs });
  }
  return spans;
}

/** For how long what a clock stored while it was ahead may stand when it was set right. */
function keptLongerNs({ effects, earliestNs, latestNs }: Footprint, longNs: number): number {
  const aheadMs = effects.map((effect) => {
    if (effect.kind === 'clock-jumped') return Math.max(0, effect.offsetMs);
    if (effect.kind === 'clock-strobes') return Math.abs(effect.offsetMs);
    return effect.kind === 'clock-drifts' ? Math.max(0, (effect.ratePpm * (latestNs - earliestNs)) / 1e12) : 0;
  });
  const mostMs = aheadMs.reduce((sum, ms) => sum + ms, 0);
  return mostMs > 0 ? longNs + mostMs * 1e6 : 0;
}

/**
 * When what a client had on the servers may stand in the way that a fault struck: until its deadline, counted from when it was
 * not heard of any more; and, as it may have gone on where it stopped, once more from the heal.
 */
export function blockedBy({ effects, earliestNs, latestNs }: Footprint, longNs: number): Span[] {
  const kinds = new Set(effects.map(({ kind }) => kind));
  if (kinds.size === 0 || [...kinds].some((kind) => !SILENCED.has(kind)))
    return [{ fromNs: earliestNs, untilNs: latestNs + longNs + SETTLE_NS }];
  const struck = { fromNs: earliestNs, untilNs: earliestNs + longNs };
  // What the dead sent is carried out at once, if at all; of the others it may be on its way.
  if ([...kinds].every((kind) => kind === 'killed')) return [struck];
  return [struck, { fromNs: latestNs - GRACE_NS, untilNs: latestNs + longNs + SETTLE_NS }];
}

/** Names of all lock client processes, their places and hosts. */
function clientNames({ rare }: History): ReadonlySet<string> {
  return new Set(rare.flatMap((event) => (event.type === 'client-up' ? [...namesOfClient(event), event.host] : [])));
}

/** Whether a fault was in force on the client of an operation while it went on, or shortly before. */
function struckClients(history: History): (row: number) => boolean {
  const { operations: ops } = history;
  const { callNs, returnNs } = intervalsOf(history);
  const footprints = effectsOf(history).footprints();
  const names = new Map<string, readonly string[]>();
  for (const event of history.rare)
    if (event.type === 'client-up') names.set(event.client, [...namesOfClient(event), event.host]);
  return (row) => {
    const client = ops.clients[ops.client[row]!]!;
    const own = names.get(client) ?? [client];
    return footprints.some(
      ({ names: struck, earliestNs, latestNs }) =>
        earliestNs <= returnNs[row]! && latestNs + GRACE_NS >= callNs[row]! && own.some((name) => struck.has(name)),
    );
  };
}

/** The union of spans, those that lie no further apart than `gapNs` made one. */
function merged(spans: readonly Span[], gapNs = 0): Span[] {
  const all: Span[] = [];
  for (const { fromNs, untilNs } of [...spans].sort((a, b) => a.fromNs - b.fromNs)) {
    const last = all.at(-1);
    if (last && fromNs <= last.untilNs + gapNs) last.untilNs = Math.max(last.untilNs, untilNs);
    else all.push({ fromNs, untilNs });
  }
  return all;
}

/** What of the spans lies in none of the others; both are in order and do not touch. */
function without(spans: readonly Span[], others: readonly Span[]): Span[] {
  const left: Span[] = [];
  let next = 0;
  for (const { fromNs, untilNs } of spans) {
    let atNs = fromNs;
    while (next > 0 && others[next - 1]!.untilNs > fromNs) next--;
    for (; next < others.length && others[next]!.fromNs < untilNs; next++) {
      const other = others[next]!;
      if (other.untilNs <= atNs) continue;
      if (other.fromNs > atNs) left.push({ fromNs: atNs, untilNs: other.fromNs });
      atNs = Math.max(atNs, other.untilNs);
    }
    if (atNs < untilNs) left.push({ fromNs: atNs, untilNs });
  }
  return left;
}

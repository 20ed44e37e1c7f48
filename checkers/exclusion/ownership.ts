/**
 * Did a lock tell a client "this is still yours" when somebody else had certainly been granted the key since?
 *
 * - `revived` (exclusion): a renewal of one hold was sent after a later grant of the key had reached another client, and was
 *   carried out. By the lock's own word the first client held without a break, and the other one in the middle of it.
 * - `silent-release` (stale): a client whose lease was over began to release when the next holder had the key already, and was
 *   told that it had released. That its work was done beside somebody else's goes unnoticed for ever.
 *
 * Promises: an instant counts only as it is certain. The later grant was made after the first (`hold-order.ts`) and had been
 * answered before the renewal left, or the release began; a client that is stopped between its stamp and the sending only
 * sends later. So the node that carried it out had granted the key to another, or had heard so from the one that did; in
 * whatever order replies were lost, and whatever any clock said. Each hold is accused once.
 *
 * Excludes: pairs whose leases overlap, which are broken exclusion as they are (`mutual-exclusion.ts`) and need no second
 * finding; answers that are not known; renewals that were sent when the hold was over; a client that asked for the key again
 * meanwhile (the owner of a reentrant lock may have been granted it anew, and what it renews may be that); a release of what its
 * client had been told was lost; readers, and permits of a semaphore. A silent release is reported only where the same two holds are a stale holder beyond doubt: it says
 * more about that finding, and never makes one.
 *
 * Its cause is why the hold was not unbroken, as of an overlap of the two. Why the lock said otherwise is in the lock's code.
 */

import { Earliest } from '../../harness/record/facts/earliest.js';
import { nextHolders } from '../../harness/record/facts/hold-order.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import { leaseMarginNs } from '../../harness/record/facts/margin.js';
import { ownStamp, trustedClients } from '../../harness/record/facts/operations.js';
import { leasesOverlap, type Overlap, overlapWith } from '../../harness/record/facts/overlaps.js';
import { toldRenewals } from '../../harness/record/facts/renewals.js';
import { duration, moment, plural } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseLink, CheckerFindings, Hold, Violation } from '../../harness/vocabulary/verdict.js';
import { causeBetween } from '../causes/broken-hold.js';
import { explainerOf } from '../causes/explain.js';
import { Doubts } from '../worth/doubts.js';

/** Findings of each kind that are reported with evidence and proof; all are counted. */
const MOST_REPORTED = 200;

type Explain = (overlap: Overlap) => Cause;

/** What the lock answered about a client's `hold`, although the `next` one had been granted. */
interface Told {
  hold: number;
  next: number;
  /** When the renewal was sent, or the release began. */
  atNs: number;
  /** History line. */
  line: number;
}

function findFalseWords(input: CheckInput): CheckerFindings {
  const { history, model } = input;
  const holds = holdsOf(history);
  const next = nextHolders(holds, history.operations.keys.length, model);
  const revived = revivals(history, holds, next);
  const silent = silentReleases(input, holds, next, revived.accused);
  const explain = explainerOf(input);
  const violations = [
    ...revived.earliest.list().map((told) => renewedAnyway(told, holds, explain)),
    ...silent.list().map((told) => releasedAnyway(told, holds, explain)),
  ].sort((a, b) => a.fromNs - b.fromNs);
  const stats = { revivedHolds: revived.earliest.count, silentReleases: silent.count };
  return {
    verdict: violations.length > 0 ? 'invalid' : 'valid',
    notes: [],
    violations,
    found: {
      ...(stats.revivedHolds > 0 && { exclusion: stats.revivedHolds }),
      ...(stats.silentReleases > 0 && { stale: stats.silentReleases }),
    },
    stats,
  };
}

export const ownership: Checker = {
  name: 'ownership',
  summary: 'no client was told that a lock was still its own after another one had been granted it',
  properties: [
    {
      class: 'exclusion',
      holds: 'No renewal was confirmed after another client had been granted the lock',
      broken: 'A renewal was confirmed although another client had been granted the lock',
      kinds: {
        revived: {
          headline: (count) =>
            `Exclusion broken: ${plural(count, 'hold')} renewed although another client had been granted the lock since`,
          accusedIf:
            'a renewal was carried out that was sent after a later grant of the key to another client had been answered',
          ownMistake: {
            theory:
              'A renewal may prolong only what is still its own: one script compares the owner and prolongs, and says so where it is not.',
            link: 'https://redis.io/docs/latest/develop/use/patterns/distributed-locks/',
            onlyIf: 'servers kept all',
            since: 'its last hold',
          },
        },
      },
    },
    {
      class: 'stale',
      holds: 'No release was confirmed after another client had been granted the lock',
      broken: 'A release was confirmed although another client had been granted the lock',
      kinds: {
        'silent-release': {
          headline: (count) =>
            `Stale holder: ${plural(count, 'time')} a release answered that it had worked when another client held by then`,
          accusedIf:
            'a stale holder began to release when the next one had the lock, and the release answered that it had worked',
          ownMistake: {
            theory:
              'A release that did not find its own owner must say so: it is how a client learns that it was not alone.',
            link: 'https://redis.io/docs/latest/develop/use/patterns/distributed-locks/',
            onlyIf: 'servers kept all',
            since: 'its last hold',
          },
        },
      },
    },
  ],
  judges: { models: ['mutex', 'reentrant', 'read-write', 'fair'], plays: true },
  check: findFalseWords,
};

/** The first renewal of each hold that came after the next grant. */
function revivals(history: History, holds: Holds, next: Int32Array) {
  const asked = askedAgain(history, holds);
  const earliest = new Earliest<Told>(MOST_REPORTED, (a, b) => a.atNs - b.atNs || a.line - b.line);
  const accused = new Set<number>();
  for (const { k, sentNs, known, line } of toldRenewals(history, holds.ofRow).sort((a, b) => a.sentNs - b.sentNs)) {
    const by = next[k]!;
    if (!known || by < 0 || accused.has(k)) continue;
    if (sentNs <= holds.fromNs[by]! || sentNs >= holds.untilNs[k]! || sentNs >= asked[k]!) continue;
    if (leasesOverlap(holds, k, by)) continue;
    accused.add(k);
    earliest.add({ hold: k, next: by, atNs: sentNs, line });
  }
  return { earliest, accused };
}

/** The first release of each hold, where it was answered as done and came after the next grant. */
function silentReleases(
  { history, config }: CheckInput,
  holds: Holds,
  next: Int32Array,
  revived: ReadonlySet<number>,
): Earliest<Told> {
  const { operations: ops } = history;
  const trusted = trustedClients(history);
  const asked = askedAgain(history, holds);
  const doubts = new Doubts({ history, config });
  const found = new Earliest<Told>(MOST_REPORTED, (a, b) => a.atNs - b.atNs || a.line - b.line);
  const released = new Uint8Array(holds.count);
  for (let row = 0; row < ops.count; row++) {
    const k = ops.op[row] === OP.release ? holds.about(row) : -1;
    // One that comes after another of unknown outcome may rightly say that it is released.
    if (k < 0 || released[k] === 1) continue;
    released[k] = 1;
    const by = next[k]!;
    if (ops.outcome[row] !== OUTCOME.ok || by < 0 || revived.has(k)) continue;
    // Its client had been told that it was not alone.
    if (holds.endedByLoss(k)) continue;
    const atNs = ownStamp(ops, trusted, row, ops.beganNs, ops.sentNs[row]!);
    if (atNs >= asked[k]! || !isStale(k, by, atNs, holds)) continue;
    if (doubts.any && isDoubtful(k, by, atNs, holds, doubts)) continue;
    found.add({ hold: k, next: by, atNs, line: ops.completionLine[row]! });
  }
  return found;
}

/** Whether `k` was the stale holder of the two for longer than the margin when it began to release. */
function isStale(k: number, by: number, atNs: number, holds: Holds): boolean {
  const { fromNs, leaseEndNs, leaseMs } = holds;
  if (leaseEndNs[k] === Number.POSITIVE_INFINITY) return false;
  const marginNs = Math.max(leaseMarginNs(leaseMs[k]!), leaseMarginNs(leaseMs[by]!));
  return atNs - fromNs[by]! > marginNs && leaseEndNs[k]! <= leaseEndNs[by]! && !leasesOverlap(holds, k, by);
}

function isDoubtful(k: number, by: number, atNs: number, holds: Holds, doubts: Doubts): boolean {
  const [fromNs, untilNs] = [holds.fromNs[by]!, atNs];
  return (
    doubts.about(overlapWith(holds, { first: k, second: by, others: [], stale: k, fromNs, untilNs })) !== undefined
  );
}

/** By hold: when its client was next told to take the same key, whatever came of it. */
function askedAgain({ operations: ops }: History, holds: Holds): Float64Array {
  const askedNs = new Float64Array(holds.count).fill(Number.POSITIVE_INFINITY);
  const later = new Map<number, number>();
  for (let row = ops.count - 1; row >= 0; row--) {
    if (ops.op[row] !== OP.acquire) continue;
    const place = ops.client[row]! * ops.keys.length + ops.key[row]!;
    const k = holds.ofRow[row]!;
    if (k >= 0) askedNs[k] = later.get(place) ?? Number.POSITIVE_INFINITY;
    later.set(place, ops.sentNs[row]!);
  }
  return askedNs;
}

function renewedAnyway(told: Told, holds: Holds, explain: Explain): Violation {
  const [hold, next] = [holds.hold(told.hold), holds.hold(told.next)];
  const still = next.untilNs > told.atNs ? ' and still held it' : '';
  return {
    ...violation(told, [hold, next], explain, `${hold.client}'s renewal of ${hold.key} left, and was carried out`),
    class: 'exclusion',
    kind: 'revived',
    proof: `${hold.client} was granted ${hold.key} at ${moment(hold.fromNs)} (lease until ${moment(hold.leaseEndNs)}); ${next.client} was granted it after that, at ${moment(next.fromNs)}${still}; the renewal that ${hold.client} sent at ${moment(told.atNs)} was carried out all the same, as if no other client had held since.`,
  };
}

function releasedAnyway(told: Told, holds: Holds, explain: Explain): Violation {
  const [hold, next] = [holds.hold(told.hold), holds.hold(told.next)];
  return {
    ...violation(told, [hold, next], explain, `${hold.client} began to release ${hold.key}, and was told that it had`),
    class: 'stale',
    kind: 'silent-release',
    proof: `${hold.client}'s lease of ${hold.key} ended at ${moment(hold.leaseEndNs)}; ${next.client} was granted it at ${moment(next.fromNs)}; ${hold.client} began to release it ${duration(told.atNs - next.fromNs)} after that, at ${moment(told.atNs)}, and was told that it had released what was no longer its own.`,
  };
}

function violation(
  told: Told,
  [hold, next]: [Hold, Hold],
  explain: Explain,
  what: string,
): Omit<Violation, 'class' | 'kind' | 'proof'> {
  const cause = causeBetween(hold, next, explain, () => whatIsKnown(hold, next));
  return {
    key: hold.key,
    fromNs: told.atNs,
    untilNs: Math.max(told.atNs, Math.min(hold.untilNs, next.untilNs)),
    holds: [hold, next],
    evidence: [...new Set([...hold.evidence.slice(0, 2), ...next.evidence.slice(0, 2), told.line])].sort(
      (a, b) => a - b,
    ),
    cause: { ...cause, chain: inOrder([...cause.chain, { atNs: told.atNs, text: what, history: told.line }]) },
  };
}

function whatIsKnown(hold: Hold, next: Hold): CauseLink[] {
  const [granted, grantedNext] = [hold.evidence[1]!, next.evidence[1]!];
  return [
    { atNs: hold.fromNs, text: `${hold.client} was granted ${hold.key}`, history: granted },
    { atNs: hold.leaseEndNs, text: `${hold.client}'s lease of ${hold.leaseMs} ms ended`, history: granted },
    { atNs: next.fromNs, text: `${next.client} was granted ${hold.key}`, history: grantedNext },
  ];
}

function inOrder(chain: CauseLink[]): CauseLink[] {
  return chain.sort((a, b) => a.atNs - b.atNs);
}

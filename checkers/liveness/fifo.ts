/**
 * Was a fair lock granted in the order in which clients were queued?
 *
 * An inversion is a pair of grants of one key: A was certainly queued (its `queued` step) before B even began to ask, and B
 * had the lock in hands before the attempt that A was granted had left A's client. So B overtook A, however the stamps lie
 * within their bounds; equal stamps are no proof. Where A queued several times for one acquire (it was thrown out for not
 * showing itself, and came back) its last place counts; and an earlier one for those who asked before it had the next, if the servers'
 * record proves that it was taken from A before its time was over (`causes/place-lost.ts`).
 *
 * Promises: all pairs are counted (`fifoInversions`), in O(n log n). Each client that was overtaken is one violation, told
 * beside the first that overtook it; the first of them by completion are given with evidence.
 *
 * They are of class `liveness`: no two held at once and nothing was harmed, but that a client gets its turn, however
 * many come after it, is what a fair lock promises about waiting.
 *
 * Excludes: clients that gave up or whose outcome is not known; that asked while they held already (nested: no wait), or had not
 * given back what they held before, whose lease still ran; and those that may have lost their place by the deadline that their lock
 * declares (`lost-place.ts`), which is "cannot tell" where no fault kept them from showing themselves. By the servers' record also
 * those to whom another handed the lock over, and who did not come for it within their lease, and who were overtaken by a client
 * that came back to its place before theirs. A dead client at the head of the queue delays the others, and inverts nothing. A lock
 * whose clients learn only from another's release that they were granted sends nothing after it queued, and cannot be judged.
 */

import { byKey, sortedBy } from '../../harness/record/facts/by-key.js';
import { Earliest } from '../../harness/record/facts/earliest.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { nestedHolds } from '../../harness/record/facts/hold-order.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { countInversions } from '../../harness/record/facts/inversions.js';
import { trustedClients } from '../../harness/record/facts/operations.js';
import { moment, plural } from '../../harness/record/facts/words.js';
import { NOTICE, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';
import { cameBack, grantedPastQueue } from '../causes/granted-past-queue.js';
import { hadItsTurn, placeLost } from '../causes/place-lost.js';
import { queueForgotten } from '../causes/queue-forgotten.js';
import type { Passed } from '../causes/queue-places.js';
import { unexplained } from '../causes/unexplained.js';
import { type LostPlace, lostPlaces } from './lost-place.js';

/** The step by which a lock says that this client is in the queue now. */
const QUEUED = 'queued';
/** Clients that were overtaken and are reported with evidence and proof; all are counted. */
const MOST_REPORTED = 200;
/** Clients whose overtaking is in doubt and told one by one. */
const MOST_DOUBTS_TOLD = 10;

/** A place in the queue: since when it was certainly there, and that notice's line. */
interface Place {
  queuedNs: number;
  line: number;
}

/** A grant, and the first that was asked for after it was queued and made before it. */
interface Overtaken {
  waiter: number;
  place: Place;
  by: number;
}

/** Columns by the number of the hold. */
interface Grants {
  callNs: Float64Array;
  hadNs: Float64Array;
  /** All its places, in order; none where it is not known that it was queued. */
  places: Map<number, Place[]>;
  /** Before this it was certainly not granted. */
  grantedFromNs: Float64Array;
}

function findOvertaken(input: CheckInput): CheckerFindings {
  const { history, model } = input;
  const { operations: ops } = history;
  const holds = holdsOf(history);
  const grants = grantsOf(history, holds);
  const nested = nestedHolds(history);
  const leftHeld = leftHeldBy(holds);
  const lostPlace = lostPlaceOf(input, holds, grants);
  const lostTooSoon = (one: Overtaken) => placeLost(passedOf(one, holds, grants), input) !== undefined;
  const lineOf = (k: number) => ops.completionLine[holds.row[k]!]!;
  const overtaken = new Earliest<Overtaken>(MOST_REPORTED, (a, b) => lineOf(a.waiter) - lineOf(b.waiter));
  const doubted = new Earliest<Overtaken & { doubt: string }>(
    MOST_DOUBTS_TOLD,
    (a, b) => lineOf(a.waiter) - lineOf(b.waiter),
  );
  const stats = { fifoWaiters: 0, fifoOvertaken: 0, fifoInversions: 0, fifoWaitersNotJudged: 0, fifoInDoubt: 0 };
  for (const ofKey of byKey(holds.key, holds.count, ops.keys.length, (k) => !nested[k] && !leftHeld[k])) {
    const waiters = ofKey.filter((k) => lastQueuedNs(k, grants) < grants.grantedFromNs[k]!);
    const found = judgeKey(ofKey, waiters, grants, lostPlace, lostTooSoon);
    for (const one of found.overtaken) overtaken.add(one);
    for (const one of found.doubted) doubted.add(one);
    stats.fifoWaiters += waiters.length;
    stats.fifoInversions += found.inversions;
    stats.fifoWaitersNotJudged += found.excused;
  }
  stats.fifoOvertaken = overtaken.count;
  stats.fifoInDoubt = doubted.count;

  const violations = overtaken.list().map((one) => violation(one, holds, grants, input));
  const notes = doubted.list().map((one) => {
    const what = `an overtaking in the queue that need not be the lock's doing: ${proofOf(one, holds, grants)}`;
    return `${what} But ${one.doubt}`;
  });
  if (doubted.count > notes.length) notes.push(`${plural(doubted.count - notes.length, 'more overtaking')} like these`);
  if (model.kind === 'fair' && stats.fifoWaiters === 0) notes.push(whyNoWaiters(grants));
  return {
    verdict: violations.length > 0 ? 'invalid' : notes.length > 0 ? 'unknown' : 'valid',
    notes,
    violations,
    ...(stats.fifoWaiters === 0 && { notJudged: whyNoWaiters(grants) }),
    ...(overtaken.count > violations.length && { found: { liveness: overtaken.count } }),
    ...(doubted.count > 0 && { open: ['liveness' as const] }),
    stats,
  };
}

export const fifo: Checker = {
  name: 'fifo',
  summary: 'a fair lock was granted in the order in which clients were queued',
  properties: [
    {
      class: 'liveness',
      holds: 'The lock was granted in the order of its queue',
      broken: 'The lock was not granted in the order of its queue',
      kinds: {
        'fifo-inversion': {
          headline: (count) => `Not fair: ${plural(count, 'client')} overtaken in the queue`,
          accusedIf:
            'a client was certainly queued before another began to ask, and the other had the lock before the attempt that the first was granted had left; and the first cannot have lost its place by the deadline that the lock declares',
          ownMistake: {
            theory: 'A fair lock grants in the order of its queue: a newcomer may not take it while another waits.',
            link: 'https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks',
            onlyIf: 'servers kept all, by steady clocks',
            since: 'its evidence',
          },
        },
      },
    },
  ],
  judges: { models: ['fair'], plays: false },
  check: findOvertaken,
};

function whyNoWaiters({ places }: Grants): string {
  return places.size > 0
    ? 'whether the lock is fair cannot be determined: no granted attempt is known to have left its client after it was queued'
    : `whether the lock is fair cannot be determined: no client said that it was queued (step "${QUEUED}") for a lock it got`;
}

function grantsOf(history: History, holds: Holds): Grants {
  const { operations: ops, notices } = history;
  const trusted = trustedClients(history);
  const numbers = holds.ofRow;
  const grants: Grants = {
    callNs: Float64Array.from(holds.row, (row) => intervalsOf(history).callNs[row]!),
    hadNs: holds.fromNs,
    places: new Map(),
    grantedFromNs: holds.grantSentNs,
  };
  const name = notices.texts.indexOf(QUEUED);
  for (let at = 0; at < notices.count; at++) {
    if (notices.type[at] !== NOTICE.step || notices.text[at] !== name || notices.hold[at]! < 0) continue;
    const k = numbers[notices.hold[at]!]!;
    if (k < 0) continue;
    // Its own stamp, if it can be true; else it was queued at the latest when the harness read so.
    const stampNs = notices.clientNs[at]!;
    const sentNs = ops.sentNs[notices.hold[at]!]!;
    const own = trusted[notices.client[at]!] && stampNs >= sentNs && stampNs <= notices.atNs[at]!;
    const queuedNs = own ? stampNs : notices.atNs[at]!;
    if (lastQueuedNs(k, grants) >= queuedNs) continue;
    const places = grants.places.get(k) ?? [];
    grants.places.set(k, places);
    places.push({ queuedNs, line: notices.line[at]! });
  }
  return grants;
}

/**
 * 1 for each hold that its client was granted while it had not given its last one back, by the lease of that one: say no server could be
 * reached when it was to. A lock that lets its owner in again does so then, whoever waits.
 */
function leftHeldBy({ count, client, key, released, fromNs, leaseEndNs }: Holds): Uint8Array {
  const left = new Uint8Array(count);
  const last = new Map<string, number>();
  for (let k = 0; k < count; k++) {
    const who = `${client[k]} ${key[k]}`;
    const before = last.get(who);
    if (before !== undefined && released[before] !== OUTCOME.ok && fromNs[k]! <= leaseEndNs[before]!) left[k] = 1;
    last.set(who, k);
  }
  return left;
}

/** When it was certainly queued, the last time; NaN: not known. */
function lastQueuedNs(k: number, { places }: Pick<Grants, 'places'>): number {
  return places.get(k)?.at(-1)?.queuedNs ?? Number.NaN;
}

/** Those of the waiters that were overtaken, each with the first that did, and the number of pairs. */
function judgeKey(
  ofKey: Int32Array,
  waiters: Int32Array,
  grants: Grants,
  lostPlace: (overtaken: Overtaken) => LostPlace,
  lostTooSoon: (overtaken: Overtaken) => boolean,
) {
  const { callNs, hadNs, places, grantedFromNs } = grants;
  const byCall = sortedBy(ofKey, (a, b) => callNs[a]! - callNs[b]!);
  const byQueued = sortedBy(waiters, (a, b) => lastQueuedNs(a, grants) - lastQueuedNs(b, grants));
  const overtaken: Overtaken[] = [];
  const doubted: (Overtaken & { doubt: string })[] = [];
  let excused = 0;
  let [first, next] = [-1, byCall.length];
  for (let at = byQueued.length - 1; at >= 0; at--) {
    const waiter = byQueued[at]!;
    const ofWaiter = places.get(waiter)!;
    const place = ofWaiter.at(-1)!;
    // Of all that began to ask after it was queued, the first that had the lock.
    for (; next > 0 && callNs[byCall[next - 1]!]! > place.queuedNs; next--)
      if (first < 0 || hadNs[byCall[next - 1]!]! < hadNs[first]!) first = byCall[next - 1]!;
    const one = { waiter, place, by: first };
    const isOvertaken = first >= 0 && hadNs[first]! < grantedFromNs[waiter]!;
    const lost = isOvertaken ? lostPlace(one) : undefined;
    if (isOvertaken && !lost) {
      overtaken.push(one);
      continue;
    }
    const before = overtakenBefore(waiter, ofWaiter, byCall, grants, lostTooSoon);
    if (before) overtaken.push(before);
    else if (lost && 'doubt' in lost) doubted.push({ ...one, doubt: lost.doubt });
    else if (lost) excused++;
  }
  const column = (of: readonly number[] | Int32Array, values: Float64Array) => Float64Array.from(of, (k) => values[k]!);
  const losers = overtaken.map(({ waiter }) => waiter);
  const inversions =
    losers.length === 0
      ? 0
      : countInversions(
          { x: Float64Array.from(overtaken, ({ place }) => place.queuedNs), y: column(losers, grantedFromNs) },
          { x: column(ofKey, callNs), y: column(ofKey, hadNs) },
        );
  return { overtaken, doubted, excused, inversions };
}

/** By an earlier place that it had lost too soon: of those who asked while it had no later one, the first that is proven. */
function overtakenBefore(
  waiter: number,
  places: readonly Place[],
  byCall: Int32Array,
  { callNs, hadNs, grantedFromNs }: Grants,
  lostTooSoon: (overtaken: Overtaken) => boolean,
): Overtaken | undefined {
  for (let n = 0; n < places.length - 1; n++) {
    const [place, next] = [places[n]!, places[n + 1]!];
    let at = firstIndex(byCall.length, (of) => callNs[byCall[of]!]! > place.queuedNs);
    for (; at < byCall.length && callNs[byCall[at]!]! < next.queuedNs; at++) {
      const by = byCall[at]!;
      if (hadNs[by]! >= grantedFromNs[waiter]!) continue;
      const one = { waiter, place, by };
      if (lostTooSoon(one)) return one;
    }
  }
  return undefined;
}

/** Tells of a waiter that was overtaken whether it may have lost its place before. */
function lostPlaceOf(input: CheckInput, holds: Holds, grants: Grants): (overtaken: Overtaken) => LostPlace {
  const { operations: ops } = input.history;
  const lostPlace = lostPlaces(input);
  const clientOf = (k: number) => ops.clients[holds.client[k]!]!;
  return (one) => {
    const { waiter, place, by } = one;
    const lost = lostPlace({
      client: clientOf(waiter),
      key: ops.keys[holds.key[waiter]!]!,
      leaseMs: ops.leaseMs[holds.row[waiter]!]!,
      callNs: grants.callNs[waiter]!,
      queuedNs: place.queuedNs,
      untilNs: holds.fromNs[waiter]!,
      by: clientOf(by),
      overtakenNs: grants.hadNs[by]!,
    });
    if (lost) return lost;
    const passed = passedOf(one, holds, grants);
    return hadItsTurn(passed, input) || cameBack(passed, input) ? { excused: true } : undefined;
  };
}

function proofOf({ waiter, place, by }: Overtaken, holds: Holds, grants: Grants): string {
  const [late, early] = [holds.hold(waiter), holds.hold(by)];
  return `${late.client} was queued for ${late.key} at ${moment(place.queuedNs)}; ${early.client} asked for it only at ${moment(grants.callNs[by]!)} and had it at ${moment(early.fromNs)}, before the attempt by which ${late.client} was granted it left (at ${moment(late.grantSentNs)}).`;
}

function passedOf({ waiter, by }: Overtaken, holds: Holds, { callNs }: Grants): Passed {
  return { waiter: holds.hold(waiter), waiterAskedNs: callNs[waiter]!, by: holds.hold(by), askedNs: callNs[by]! };
}

function violation(one: Overtaken, holds: Holds, grants: Grants, input: CheckInput): Violation {
  const { place } = one;
  const passed = passedOf(one, holds, grants);
  const { waiter: late, by: early, askedNs } = passed;
  const cause =
    grantedPastQueue(passed, input) ??
    placeLost(passed, input) ??
    queueForgotten(passed, input) ??
    unexplained([
      { atNs: place.queuedNs, text: `${late.client} was queued for ${late.key}`, history: place.line },
      { atNs: early.fromNs, text: `${early.client} was granted ${early.key}`, history: early.evidence[1]! },
      { atNs: late.fromNs, text: `${late.client} was granted ${late.key}`, history: late.evidence[1]! },
    ]);
  return {
    class: 'liveness',
    kind: 'fifo-inversion',
    key: late.key,
    fromNs: askedNs,
    untilNs: late.fromNs,
    holds: [early, late],
    evidence: [...late.evidence.slice(0, 2), place.line, ...early.evidence.slice(0, 2)].sort((a, b) => a - b),
    proof: proofOf(one, holds, grants),
    cause,
  };
}

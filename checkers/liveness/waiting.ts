/**
 * Did a client go on waiting for a lock that had long been free?
 *
 * Promises: an acquire is accused (`slept`) only if for longer than its lease and a grace of 2 s, all of which it waited,
 * no client held the key or can have held it. Every client that was granted it had begun to release, had learned that it was
 * lost, or was dead, and the longest lease of the run was over since; no client was without an answer; no sample of a server
 * showed the key; no fault was in force, or had been within 10 s before, but that other clients were killed; and the machine
 * did not stand still for half of the grace. A lock that looks again when the lease of the holder is over is never that
 * late: its sleep began when the holder held, so it ended with the holder's lease.
 *
 * No client without an answer, ever: one that died or was given up while it waited may have a place in a queue, whose
 * deadline is the lock's own affair; and so may a client that is stopped or cut off. Where the lock declares that deadline,
 * others excuse the wait until it is over.
 *
 * Both ends of a wait are seen: a try that was refused, and one that was granted at last, by an attempt that left so late.
 *
 * The cause is not known: what could have lost a wake-up on its way excuses the wait.
 *
 * Excludes: keys that were asked for in vain meanwhile (`starved` tells that); semaphores (a dead holder's permit may be gone), and independent nodes, where those who wait may split the votes
 * again and again.
 */

import { byKey, countBelow, sortedBy } from '../../harness/record/facts/by-key.js';
import { othersThan } from '../../harness/record/facts/clients.js';
import { deadlineMs } from '../../harness/record/facts/deadlines.js';
import { Earliest } from '../../harness/record/facts/earliest.js';
import { effectsOf, type Footprint, SETTLE_NS } from '../../harness/record/facts/effects.js';
import { mishaps } from '../../harness/record/facts/faults.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { type Intervals, intervalsOf } from '../../harness/record/facts/intervals.js';
import { longestLeaseMs } from '../../harness/record/facts/longest-lease.js';
import { missingObservations } from '../../harness/record/facts/missing-observations.js';
import { attemptSentNs, trustedClients } from '../../harness/record/facts/operations.js';
import { majorityOf } from '../../harness/record/facts/quorum.js';
import { releasesAnsweredNs } from '../../harness/record/facts/releases-answered.js';
import { duration, durationOfMs, moment, plural } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History, HistoryEvent } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';
import { unexplained } from '../causes/unexplained.js';
import { blockedBy, endsOfClients, endsWithProcess, GRACE_NS, silenceNs } from './free-and-asked.js';
import { reported } from './reported.js';
import { type Starvation, starvationsOf } from './starvation.js';

/** A sample may be older than its line by this much. */
const SAMPLED_LATE_NS = 500e6;
const MOST_REPORTED = 200;

type Disturbance = Extract<HistoryEvent, { type: 'disturbance' }>;

interface Wait {
  row: number;
  /** From when it waited for a free lock, until it gave up or sent the attempt that was granted. */
  fromNs: number;
  untilNs: number;
}

function findSleepers(input: CheckInput): CheckerFindings {
  const { history } = input;
  const found = new Earliest<Wait>(MOST_REPORTED, (a, b) => a.fromNs - b.fromNs);
  const notJudged = whyNotJudged(input);
  const waits = notJudged === undefined ? longWaits(history) : [];
  const missing = waits.length > 0 ? missingObservations(input) : undefined;
  if (missing !== undefined) {
    const notes = [`whether clients slept beside a free lock cannot be determined: ${missing}`];
    return { verdict: 'unknown', notes, violations: [], stats: {} };
  }
  const excuses = waits.length > 0 ? new Excuses(input) : undefined;
  const starvations = waits.length > 0 ? starvationsOf(input) : [];
  for (const wait of waits)
    if (!excuses!.excuse(wait) && !starvations.some((one) => tells(one, wait, history))) found.add(wait);
  const violations = found.list().map((wait) => slept(wait, history));
  return reported(violations, found.count, { sleptBesideFreeLock: found.count }, notJudged);
}

export const waiting: Checker = {
  name: 'waiting',
  summary: 'no client went on waiting for a lock that had been free for longer than a lease and a grace',
  properties: [
    {
      class: 'liveness',
      holds: 'No client went on waiting for a lock that had long been free',
      broken: 'A client went on waiting for a lock that had long been free',
      kinds: {
        slept: {
          headline: (count) =>
            `Slept beside a free lock: ${plural(count, 'client')} waited on for longer than any lease`,
          accusedIf:
            'an acquire waited for longer than its lease and 2 s while no client held the key or can have held it, and nothing excuses the wait',
          ownMistake: {
            theory:
              'A message that wakes a waiter may never come: one that waits must look again when the lease of the holder is over.',
            link: 'https://redis.io/docs/latest/develop/pubsub/',
          },
        },
      },
    },
  ],
  judges: { models: ['mutex', 'reentrant', 'read-write', 'fair'], plays: true },
  check: findSleepers,
};

function whyNotJudged({ history, model }: CheckInput): string | undefined {
  if (model.kind === 'semaphore') return 'the permit of a dead holder may be gone';
  if (majorityOf(history)) return 'on independent nodes those who wait may split the votes again and again';
  if (mishaps(history).length > 0) return 'something befell the run that was not the lock';
  const { count, op, waitMs } = history.operations;
  for (let row = 0; row < count; row++)
    if (op[row] === OP.acquire && waitMs[row]! * 1e6 > leastNs(history, row)) return undefined;
  return `no acquire was to wait for longer than its lease and ${GRACE_NS / 1e9} s`;
}

/** Whether it is reported already that the key was asked for in vain at that time. */
function tells({ key, fromNs, untilNs }: Starvation, wait: Wait, { operations: ops }: History): boolean {
  return key === ops.keys[ops.key[wait.row]!] && fromNs <= wait.untilNs && untilNs >= wait.fromNs;
}

/** Acquires that waited for longer than their lease and the grace for a free lock, by the history alone. */
function longWaits(history: History): Wait[] {
  const { operations: ops } = history;
  const intervals = intervalsOf(history);
  const trusted = trustedClients(history);
  const waits: Wait[] = [];
  const isLong = (row: number) =>
    ops.op[row] === OP.acquire && ops.waitMs[row]! * 1e6 > leastNs(history, row) && endsItsWait(history, row);
  const endOf = (row: number) =>
    ops.outcome[row] === OUTCOME.ok ? attemptSentNs(ops, trusted, row) : intervals.returnNs[row]!;
  let taken: Taken[] | undefined;
  for (let row = 0; row < ops.count; row++) {
    if (!isLong(row) || endOf(row) - intervals.callNs[row]! <= leastNs(history, row)) continue;
    taken ??= takenByKey(history, intervals);
    const untilNs = endOf(row);
    const fromNs = Math.max(intervals.callNs[row]!, taken[ops.key[row]!]!.freeFromNs(untilNs));
    if (untilNs - fromNs > leastNs(history, row)) waits.push({ row, fromNs, untilNs });
  }
  return waits;
}

function leastNs({ operations: { leaseMs } }: History, row: number): number {
  return (leaseMs[row] || 0) * 1e6 + GRACE_NS;
}

function endsItsWait({ operations: { outcome, reason, reasons } }: History, row: number): boolean {
  return outcome[row] === OUTCOME.ok || (outcome[row] === OUTCOME.fail && reasons[reason[row]!] === 'held');
}

/** Until when a key can have been taken by those who asked for it. */
class Taken {
  private readonly rows: Int32Array;
  /** By place in `rows`: until when the key can have been taken by this one, or one before it. */
  private readonly latestNs: Float64Array;

  /** `fromNs` and `untilNs` by row: from when and until when at most it can have been taken by that acquire. */
  constructor(
    rows: Int32Array,
    private readonly fromNs: Float64Array,
    untilNs: Float64Array,
  ) {
    this.rows = sortedBy(rows, (a, b) => fromNs[a]! - fromNs[b]!);
    let latestNs = Number.NEGATIVE_INFINITY;
    this.latestNs = Float64Array.from(this.rows, (row) => {
      latestNs = Math.max(latestNs, untilNs[row]!);
      return latestNs;
    });
  }

  /** From when on it was free, as far as it was asked for before `ns`. */
  freeFromNs(ns: number): number {
    return this.latestNs[countBelow(this.rows, this.fromNs, ns) - 1] ?? Number.NEGATIVE_INFINITY;
  }
}

function takenByKey(history: History, { callNs, returnNs }: Intervals): Taken[] {
  const { operations: ops } = history;
  const holds = holdsOf(history);
  const longestNs = longestLeaseMs(history) * 1e6;
  const answeredNs = releasesAnsweredNs(history);
  const endNs = endsOfClients(history);
  const goneNs = endsWithProcess(history);
  const unansweredUntilNs = (client: number) =>
    declaresPlaces(history) ? endNs(ops.clients[client]!) + silenceNs(history) : Number.POSITIVE_INFINITY;
  const fromNs = new Float64Array(ops.count);
  const untilNs = new Float64Array(ops.count);
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] !== OP.acquire) continue;
    const k = holds.ofRow[row]!;
    fromNs[row] = k >= 0 ? holds.grantSentNs[k]! : callNs[row]!;
    const refusedNs =
      ops.outcome[row] === OUTCOME.fail ? returnNs[row]! + longestNs : unansweredUntilNs(ops.client[row]!);
    untilNs[row] = k >= 0 ? Math.max(holds.untilNs[k]!, answeredNs[k]!, goneNs(k)) + longestNs : refusedNs;
  }
  // A try that was answered "held" took nothing.
  const mayTake = (row: number) =>
    ops.op[row] === OP.acquire && !(ops.outcome[row] === OUTCOME.fail && endsItsWait(history, row));
  return byKey(ops.key, ops.count, ops.keys.length, mayTake).map((rows) => new Taken(rows, fromNs, untilNs));
}

/** Whether it is known how long a client that is heard of no more may keep a place in the queue. */
function declaresPlaces(history: History): boolean {
  return deadlineMs(history, 'place', 0) !== undefined;
}

/** What else may have kept a client from having what was free, worked out once for all waits. */
class Excuses {
  private readonly footprints: readonly Footprint[];
  private readonly disturbances: Disturbance[];
  /** When a primary was sampled; and by key, when any server was seen with it. In order. */
  private readonly sampledNs: number[] = [];
  private readonly seenNs = new Map<string, number[]>();

  constructor(private readonly input: CheckInput) {
    const { history, observations } = input;
    this.footprints = effectsOf(history).footprints();
    this.disturbances = history.rare.filter((event): event is Disturbance => event.type === 'disturbance');
    for (const [, observation] of observations.rare) {
      if (observation.type !== 'sample') continue;
      if (observation.role === 'primary') this.sampledNs.push(observation.atNs);
      for (const key of Object.keys(observation.keys)) {
        const seen = this.seenNs.get(key);
        if (seen) seen.push(observation.atNs);
        else this.seenNs.set(key, [observation.atNs]);
      }
    }
    for (const atNs of [this.sampledNs, ...this.seenNs.values()]) atNs.sort((a, b) => a - b);
  }

  excuse(wait: Wait): boolean {
    const { operations: ops } = this.input.history;
    const key = ops.keys[ops.key[wait.row]!]!;
    const [fromNs, untilNs] = [wait.fromNs + SAMPLED_LATE_NS, wait.untilNs];
    const wasSeen = hasWithin(this.seenNs.get(key) ?? [], fromNs, untilNs);
    return wasSeen || !hasWithin(this.sampledNs, fromNs, untilNs) || this.stoodStill(wait) || this.wasStruck(wait);
  }

  private wasStruck({ row, untilNs }: Wait): boolean {
    const { history } = this.input;
    const { operations: ops } = history;
    const sinceNs = ops.sentNs[row]! - SETTLE_NS;
    const near = this.footprints.filter(({ earliestNs, latestNs }) => earliestNs <= untilNs && latestNs >= sinceNs);
    if (near.length === 0) return false;
    const others = othersThan(history, ops.clients[ops.client[row]!]!);
    const byNs = untilNs - leastNs(history, row);
    return near.some((footprint) => !onlyKilled(footprint, others) && !this.isOver(footprint, others, byNs, untilNs));
  }

  /** Whether all that it struck are others, whose places had ended by then, as the lock declares. */
  private isOver(footprint: Footprint, others: ReadonlySet<string>, byNs: number, untilNs: number): boolean {
    const { history } = this.input;
    if (!declaresPlaces(history) || footprint.names.size === 0) return false;
    if (![...footprint.names].every((name) => others.has(name))) return false;
    return blockedBy(footprint, silenceNs(history)).every((span) => span.untilNs < byNs || span.fromNs > untilNs);
  }

  private stoodStill({ fromNs, untilNs }: Wait): boolean {
    const ms = this.disturbances.reduce(
      (sum, { atNs, beganNs, ms }) => (atNs < fromNs || beganNs > untilNs ? sum : sum + Math.abs(ms)),
      0,
    );
    return ms * 1e6 >= GRACE_NS / 2;
  }
}

function hasWithin(sortedNs: readonly number[], fromNs: number, untilNs: number): boolean {
  const next = sortedNs[firstIndex(sortedNs.length, (at) => sortedNs[at]! >= fromNs)];
  return next !== undefined && next <= untilNs;
}

/** Whether all that the fault did was to kill some of these: what a dead client held or waited for is looked at by itself. */
function onlyKilled({ names, effects }: Footprint, some: ReadonlySet<string>): boolean {
  return (
    effects.length > 0 && effects.every(({ kind }) => kind === 'killed') && [...names].every((name) => some.has(name))
  );
}

function slept({ row, fromNs, untilNs }: Wait, history: History): Violation {
  const { operations: ops } = history;
  const [client, key] = [ops.clients[ops.client[row]!]!, ops.keys[ops.key[row]!]!];
  const [invoke, completion] = [ops.invokeLine[row]!, ops.completionLine[row]!];
  const k = holdsOf(history).ofRow[row]!;
  const end =
    k >= 0
      ? `only then, at ${moment(untilNs)}, did the attempt leave by which it was granted`
      : `got the answer at ${moment(untilNs)} that it is held`;
  return {
    class: 'liveness',
    kind: 'slept',
    key,
    fromNs,
    untilNs,
    holds: k >= 0 ? [holdsOf(history).hold(k)] : [],
    evidence: [invoke, completion],
    proof: `No client held ${key} or can have held it from ${moment(fromNs)} on; ${client}, which asked for it at ${moment(ops.sentNs[row]!)} and was to wait for ${durationOfMs(ops.waitMs[row]!)}, waited on for ${duration(untilNs - fromNs)}, longer than any lease, and ${end}.`,
    cause: unexplained([
      { atNs: ops.sentNs[row]!, text: `${client} was told to take ${key}`, history: invoke },
      { atNs: fromNs, text: `${key} was free at the latest`, history: invoke },
      { atNs: untilNs, text: k >= 0 ? `${client}'s granted attempt left` : `${client} gave up`, history: completion },
    ]),
  };
}

/**
 * Does a semaphore lose permits? Once everything was healed and every client that could hold one has given it back or is
 * gone, all N permits of a key can be acquired again.
 *
 * A leak is accused where, after the deployment had recovered, a try was refused (`held`) although fewer than N permits can
 * have been taken at any instant of it, and never again after that all N were held at once. A permit can have been taken by
 * - a hold, from its call until its release was answered, or for as long as its client lives and has not released it; where
 *   the client is gone, did not learn what became of its release, or got the answer that the permit was not its own, until
 * the
 *   lease is over and a grace has passed;
 * - an acquire of unknown outcome, until a lease and a grace after the recovery or its own end, whichever is later;
 * - any other try at the same time, also one that was refused: two that come together may refuse each other.
 * A plain semaphore has no leases: the permit of a dead client is never given back, and that is the leak which is found.
 *
 * Cannot tell, where the deployment did not recover or not everything was healed, and where after it neither N permits were
 * held at once nor any try was refused: then there was no try to take them all. Excludes how many permits are gone before the
 * recovery, and of several the exact number ("at least"); and holding more than N at once, which `mutual-exclusion` decides.
 */

import { byKey } from '../../harness/record/facts/by-key.js';
import { mishaps, unhealed } from '../../harness/record/facts/faults.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { moment, plural } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History, HistoryEvent } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';
import { unexplained } from '../causes/unexplained.js';
import { Doubts } from '../worth/doubts.js';

/**
 * What a permit may take beyond its lease until it can be acquired again: half of what the probe at the end of a run waits.
 */
const GRACE_NS = 1e9;
/** The refusal that says that somebody else has it; others say something about servers. */
const TAKEN = 'held';
/** Grants that were never given back and are named. */
const MOST_NAMED = 20;

type Recovered = Extract<HistoryEvent, { type: 'recovered' }>;

function findLeaks(input: CheckInput): CheckerFindings {
  const { history, model } = input;
  if (model.kind !== 'semaphore') return nothingJudged('only a semaphore has permits to lose');
  const recovered = history.rare.findLast((event): event is Recovered => event.type === 'recovered');
  const doubt = doubtAbout(input, recovered);
  if (recovered === undefined || doubt !== undefined)
    return nothingJudged(`whether permits were lost cannot be determined: ${doubt}`);

  const taken = new Taken(history, recovered.atNs);
  const violations: Violation[] = [];
  const notes: string[] = [];
  for (const [key, acquires] of taken.acquiresByKey().entries()) {
    const found = judgeKey(acquires, taken, model.permits);
    const name = history.operations.keys[key]!;
    if (found.kind === 'leak') violations.push(leak(name, found, taken, recovered, model.permits));
    else if (found.kind === 'not tried')
      notes.push(
        `no try was made to take all ${plural(model.permits, 'permit')} of ${name} after everything had recovered, so whether any is lost is unknown`,
      );
  }
  return {
    verdict: violations.length > 0 ? 'invalid' : notes.length > 0 ? 'unknown' : 'valid',
    notes,
    violations,
    ...(notes.length > 0 && { open: ['liveness' as const] }),
    stats: { permitLeaks: violations.length },
  };
}

export const permits: Checker = {
  name: 'permits',
  summary: 'after everything is healed, all permits of a semaphore can be acquired again',
  properties: [
    {
      class: 'liveness',
      holds: 'After everything was healed, all permits could be acquired again',
      broken: 'After everything was healed, not all permits could be acquired again',
      kinds: {
        'permit-leak': {
          headline: (count) =>
            `Permits leaked: of ${plural(count, 'semaphore')} not all permits could be acquired again`,
          accusedIf:
            'after the recovery a try was refused although fewer permits than there are can have been taken at any instant of it, and all of them were never held at once after that',
          ownMistake: {
            theory:
              'A permit must come back once for each time it was taken, and by itself where its client cannot give it back, dead or cut off: it needs an end of its own.',
            link: 'https://redis.io/docs/latest/develop/use/patterns/distributed-locks/',
            onlyIf: 'servers kept all, by steady clocks',
          },
        },
      },
    },
  ],
  judges: { models: ['semaphore'], plays: false },
  atTheEnd: true,
  check: findLeaks,
};

function nothingJudged(why: string): CheckerFindings {
  return { verdict: 'unknown', notes: [why], violations: [], stats: {} };
}

/** Why a refused try need not be the semaphore's doing. */
function doubtAbout({ history, config }: CheckInput, recovered: Recovered | undefined): string | undefined {
  if (!recovered) return 'there is no record of a recovery';
  if (recovered.missing.length > 0) return `the deployment had not recovered (${recovered.missing.join(', ')})`;
  const [left] = unhealed(history);
  if (left !== undefined) return `not everything could be healed (${left})`;
  const [mishap] = mishaps(history);
  return mishap ? (mishap.proof ?? mishap.did) : new Doubts({ history, config }).aboutDeadlock();
}

type Found =
  | { kind: 'all had' }
  | { kind: 'not tried' }
  /** The row of the refused try, and how many permits others can have had meanwhile, at most. */
  | { kind: 'leak'; row: number; others: number };

function judgeKey(acquires: Int32Array, taken: Taken, permits: number): Found {
  const allHadNs = taken.lastInstantOf(acquires, permits);
  const refused = taken.refusedAfter(acquires, allHadNs);
  const possible = taken.possible(acquires);
  for (const row of refused) {
    // The try itself is one of those that were counted.
    const others = possible.mostDuring(taken.callNs[row]!, taken.returnNs[row]!) - 1;
    if (others < permits) return { kind: 'leak', row, others };
  }
  return allHadNs === undefined ? { kind: 'not tried' } : { kind: 'all had' };
}

/** Who has, or can have, permits from the recovery on. */
class Taken {
  readonly callNs: Float64Array;
  readonly returnNs: Float64Array;
  private readonly holds: Holds;
  /** By number of the hold: when it was certainly given back; NaN where that is unknown. */
  private readonly backNs: Float64Array;
  /** By number of the hold: 1 where its client can no longer give it back. */
  private readonly abandoned: Uint8Array;
  private readonly downNs: readonly number[];

  constructor(
    private readonly history: History,
    private readonly recoveredNs: number,
  ) {
    ({ callNs: this.callNs, returnNs: this.returnNs } = intervalsOf(history));
    this.holds = holdsOf(history);
    this.backNs = new Float64Array(this.holds.count).fill(Number.NaN);
    this.abandoned = new Uint8Array(this.holds.count);
    const { operations: ops } = history;
    const down = new Map<string, number>();
    for (const event of history.rare) if (event.type === 'client-down') down.set(event.client, event.atNs);
    this.downNs = ops.clients.map((client) => down.get(client) ?? Number.POSITIVE_INFINITY);
    for (let k = 0; k < this.holds.count; k++)
      if (this.downNs[this.holds.client[k]!]! < Number.POSITIVE_INFINITY) this.abandoned[k] = 1;
    for (let row = 0; row < ops.count; row++) {
      const k = ops.op[row] === OP.release ? this.holds.about(row) : -1;
      if (k < 0) continue;
      if (ops.outcome[row] === OUTCOME.ok) this.backNs[k] = this.returnNs[row]!;
      else this.abandoned[k] = 1;
    }
  }

  acquiresByKey(): Int32Array[] {
    const { op, key, keys, count } = this.history.operations;
    return byKey(key, count, keys.length, (row) => op[row] === OP.acquire);
  }

  /** The last instant after the recovery at which so many were certainly held at once; undefined: there was none. */
  lastInstantOf(acquires: Int32Array, permits: number): number | undefined {
    const spans: Span[] = [];
    for (const row of acquires) {
      const k = this.holds.ofRow[row]!;
      if (k < 0) continue;
      const fromNs = Math.max(this.holds.fromNs[k]!, this.recoveredNs);
      const untilNs = Math.min(this.holds.untilNs[k]!, this.holds.leaseEndNs[k]!);
      if (untilNs > fromNs) spans.push({ fromNs, untilNs });
    }
    return new Profile(spans, 'open').lastAtLeast(permits);
  }

  /** Rows of the tries that were refused because all was taken, after the recovery and after that instant, in order. */
  refusedAfter(acquires: Int32Array, ns: number | undefined): Int32Array {
    const { outcome, reason, reasons } = this.history.operations;
    const sinceNs = Math.max(this.recoveredNs, ns ?? this.recoveredNs);
    return acquires.filter(
      (row) => outcome[row] === OUTCOME.fail && reasons[reason[row]!] === TAKEN && this.callNs[row]! > sinceNs,
    );
  }

  possible(acquires: Int32Array): Profile {
    const spans: Span[] = [];
    for (const row of acquires) {
      const untilNs = this.possiblyUntilNs(row);
      if (untilNs >= this.recoveredNs) spans.push({ fromNs: this.callNs[row]!, untilNs });
    }
    return new Profile(spans, 'closed');
  }

  /** Grants of the key that were certainly never given back by the time, as holds. */
  neverGivenBack(key: string, ns: number) {
    const at = this.history.operations.keys.indexOf(key);
    const left: number[] = [];
    for (let k = 0; k < this.holds.count && left.length < MOST_NAMED; k++)
      if (this.holds.key[k] === at && this.abandoned[k] && !(this.backNs[k]! <= ns) && this.holds.fromNs[k]! < ns)
        left.push(k);
    return left.map((k) => this.holds.hold(k));
  }

  linesOf(row: number): number[] {
    const { invokeLine, completionLine } = this.history.operations;
    return [invokeLine[row]!, completionLine[row]!];
  }

  clientOf(row: number): string {
    const { clients, client } = this.history.operations;
    return clients[client[row]!]!;
  }

  private possiblyUntilNs(row: number): number {
    const { outcome, client, leaseMs } = this.history.operations;
    if (outcome[row] === OUTCOME.fail) return this.returnNs[row]!;
    const k = this.holds.ofRow[row]!;
    if (k < 0) {
      // Not known whether it was granted. It can no longer be once its client is gone and nothing is on its way any more.
      const endNs = outcome[row] === OUTCOME.info ? this.returnNs[row]! : this.downNs[client[row]!]!;
      return Math.max(endNs, this.recoveredNs) + (leaseMs[row] || 0) * 1e6 + GRACE_NS;
    }
    if (!Number.isNaN(this.backNs[k])) return this.backNs[k]!;
    if (!this.abandoned[k]) return Number.POSITIVE_INFINITY;
    const { leaseEndNs, grantSentNs } = this.holds;
    // A permit without a lease may stay for ever. That is the leak, not its excuse: it has as long as any other.
    const endNs = Number.isFinite(leaseEndNs[k]) ? leaseEndNs[k]! : grantSentNs[k]! + (leaseMs[row] || 0) * 1e6;
    return endNs + GRACE_NS;
  }
}

interface Span {
  fromNs: number;
  untilNs: number;
}

/** How many spans there are at each time. `closed` ones are also at the instants at which they begin and end. */
class Profile {
  /** From each of these times on, until the next, so many. */
  private readonly atNs: number[] = [];
  private readonly count: number[] = [];

  constructor(spans: readonly Span[], ends: 'open' | 'closed') {
    const edges = spans.flatMap(({ fromNs, untilNs }) => [
      { ns: fromNs, by: 1 },
      { ns: untilNs, by: -1 },
    ]);
    // Closed: at the same time beginnings come first, so that the most there are at that instant is seen.
    edges.sort((a, b) => a.ns - b.ns || (ends === 'closed' ? b.by - a.by : a.by - b.by));
    let now = 0;
    for (const { ns, by } of edges) {
      now += by;
      this.atNs.push(ns);
      this.count.push(now);
    }
  }

  /** The most there were at any time in [fromNs, untilNs]. */
  mostDuring(fromNs: number, untilNs: number): number {
    const first = this.firstFrom(fromNs);
    let most = first > 0 ? this.count[first - 1]! : 0;
    for (let at = first; at < this.atNs.length && this.atNs[at]! <= untilNs; at++)
      most = Math.max(most, this.count[at]!);
    return most;
  }

  /** The end of the last time at which there were so many; undefined: never. */
  lastAtLeast(many: number): number | undefined {
    for (let at = this.count.length - 1; at >= 0; at--) if (this.count[at]! >= many) return this.atNs[at + 1]!;
    return undefined;
  }

  /** The first place whose time is not before `ns`. */
  private firstFrom(ns: number): number {
    return firstIndex(this.atNs.length, (at) => this.atNs[at]! >= ns);
  }
}

function leak(
  key: string,
  { row, others }: Extract<Found, { kind: 'leak' }>,
  taken: Taken,
  recovered: Recovered,
  permits: number,
): Violation {
  const [callNs, returnNs] = [taken.callNs[row]!, taken.returnNs[row]!];
  const left = taken.neverGivenBack(key, callNs);
  return {
    class: 'liveness',
    kind: 'permit-leak',
    key,
    fromNs: callNs,
    untilNs: returnNs,
    holds: left,
    evidence: [recovered.i, ...taken.linesOf(row), ...left.flatMap(({ evidence }) => evidence)].sort((a, b) => a - b),
    proof: `Everything was healed and recovered at ${moment(recovered.atNs)}; ${taken.clientOf(row)} was refused ${key} between ${moment(callNs)} and ${moment(returnNs)}, when others can have had at most ${others} of its ${plural(permits, 'permit')}: at least ${permits - others} ${permits - others === 1 ? 'is' : 'are'} lost.`,
    cause: unexplained([
      ...left.map((hold) => ({
        atNs: hold.untilNs,
        text: `${hold.client}, granted a permit at ${moment(hold.fromNs)}, ended without having given it back`,
        history: hold.evidence[1]!,
      })),
      { atNs: returnNs, text: `${taken.clientOf(row)} was refused ${key}`, history: taken.linesOf(row)[1]! },
    ]),
  };
}

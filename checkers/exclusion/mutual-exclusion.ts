/**
 * Was a key ever held by more than its lock allows: by two clients, by a writer and anybody else, by one more than there are
 * permits? Decides from the history alone; observations only name causes.
 *
 * Promises: every overlap of proven holds is counted, as exclusion broken or stale holder, and none is accused on time that
 * is not proven held (`holds.ts`) or within the margin of a lease's end (`margin.ts`). What a disturbance of the machine or
 * the harness could have made or hidden is "cannot tell" (`doubts.ts`). Each overlap that is reported has been cut out and
 * found impossible by another procedure (`second-opinion.ts`), and every key is decided by the linearizability checker, too
 * (`two-procedures.ts`).
 *
 * Excludes: harm done to a resource, failed tries (they never accuse by themselves), fencing tokens. A grant that came after
 * its own lease had ended is counted, but is a violation only where it made two clients hold at once.
 */

import { canFail } from '../../harness/record/facts/blame.js';
import { Earliest } from '../../harness/record/facts/earliest.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import { stampBreaches } from '../../harness/record/facts/operations.js';
import { forEachOverlap, type Overlap, type OverlapFound, overlapWith } from '../../harness/record/facts/overlaps.js';
import { duration, leaseUntil, listed, moment, plural } from '../../harness/record/facts/words.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Hold, Violation, ViolationClass } from '../../harness/vocabulary/verdict.js';
import { explainerOf } from '../causes/explain.js';
import { decideHeld } from '../linearizability/decide-held.js';
import { Doubts } from '../worth/doubts.js';
import { isImpossibleOverlap } from './second-opinion.js';
import { compareProcedures, type SweptClass, type SweptKey } from './two-procedures.js';

/** Among the notes: which procedure decided. */
export const PROCEDURE = 'decided by a sweep over the certain parts of all holds, key by key';

/** Overlaps of each class that are reported with holds, proof and cause; all are counted. */
const MOST_REPORTED = 1_000;
/** Overlaps of each class that are in doubt and told one by one. */
const MOST_DOUBTS_TOLD = 10;

function findOverlaps(input: CheckInput): CheckerFindings {
  const holds = holdsOf(input.history);
  const { certain, doubtful, hidden, swept } = overlapsIn(holds, input);
  const { summary: second, disagreements } = compareProcedures(swept, decideHeld(input));
  const isDisputed = (name: ViolationClass, key: string) =>
    disagreements.some((one) => one.class === name && one.key === key);
  const overlaps = [...certain.exclusion.list(), ...certain.stale.list()].sort(byTime);
  const explain = explainerOf(input);
  const told = overlaps
    .map((found) => overlapWith(holds, found))
    .filter((overlap) => !isDisputed(overlap.class, overlap.first.key));
  const unconfirmed = told.filter((overlap) => !isImpossibleOverlap(overlap, input.model));
  const violations = told
    .filter((overlap) => !unconfirmed.includes(overlap))
    .map((overlap) => violation(overlap, explain(overlap)));

  const counts = { exclusion: certain.exclusion.count, stale: certain.stale.count };
  for (const overlap of unconfirmed) counts[overlap.class]--;
  for (const { class: name, key } of disagreements) counts[name] -= swept.get(key)?.[name].certain ?? 0;
  const { failOn, known } = input.config;
  const failing = (name: ViolationClass) => canFail(name, failOn);
  const classes = ['exclusion', 'stale'] as const;
  // Findings that do not fail the run must not hide that others, which do, may have gone unseen.
  // Nor may those that are known, of which it is not said here which they are.
  const fails = known?.allowed !== true && classes.some((name) => counts[name] > 0 && failOn.includes(name));
  const disputed = classes.filter((name) => disagreements.some((one) => one.class === name));
  const open =
    classes.some((name) => doubtful[name].count > 0 && failing(name)) ||
    unconfirmed.length > 0 ||
    disputed.some(failing);
  const unknown = !fails && (hidden !== undefined || open);
  return {
    verdict: unknown ? 'unknown' : counts.exclusion + counts.stale > 0 ? 'invalid' : 'valid',
    notes: [
      ...second.disagreed,
      ...unconfirmed.map(notConfirmed),
      ...classes.filter(failing).flatMap((name) => doubtsTold(doubtful[name])),
      ...(hidden === undefined || fails ? [] : [`an overlap may be hidden: ${hidden}`]),
      ...classes.filter((name) => !failing(name)).flatMap((name) => doubtsTold(doubtful[name])),
      ...stampNotes(input, holds),
      PROCEDURE,
    ],
    violations,
    ...(counts.exclusion + counts.stale > violations.length && { found: present(counts) }),
    open: classes.filter(
      (name) => hidden !== undefined || doubtful[name].count > 0 || unconfirmed.length > 0 || disputed.includes(name),
    ),
    second,
    stats: {
      holds: holds.count,
      ...counts,
      doubtful: doubtful.exclusion.count + doubtful.stale.count,
      grantedLate: holds.fromNs.reduce((sum, fromNs, k) => (fromNs > holds.leaseEndNs[k]! ? sum + 1 : sum), 0),
    },
  };
}

export const mutualExclusion: Checker = {
  name: 'mutual-exclusion',
  summary: 'no two clients held a key at once: both leases running (exclusion), or one past its own (stale)',
  properties: [
    {
      class: 'exclusion',
      holds: 'No lock was held by more clients at once than it allows, while their leases ran',
      broken: 'A lock was held by more clients at once than it allows, while their leases ran',
      kinds: {
        overlap: {
          headline: (count, { holds }) =>
            `Exclusion broken: ${plural(count, 'time')} ${holds.length > 2 ? 'more clients than it allows' : 'two clients'} held the lock at once`,
          accusedIf:
            'holds of a key overlapped for longer than clocks can be wrong, more of them than its lock allows, while the leases of all were running',
        },
      },
    },
    {
      class: 'stale',
      holds: 'No client acted as a holder past its lease beside another holder',
      broken: 'A client acted as a holder past its lease beside another holder',
      kinds: {
        overlap: {
          headline: (count) =>
            `Stale holder: ${plural(count, 'time')} a client acted on after its lease had ended, beside the next holder`,
          accusedIf:
            'holds of a key overlapped, more of them than its lock allows, and one of them had outlived its lease',
        },
      },
    },
  ],
  judges: { models: ['mutex', 'reentrant', 'read-write', 'semaphore', 'fair'], plays: true },
  check: findOverlaps,
};

interface ByClass<T> {
  exclusion: T;
  stale: T;
}

interface InDoubt {
  count: number;
  /** The first of them, in words. */
  texts: string[];
}

/** All overlaps, sorted into those that are certain and those that need not be the lock's doing. */
function overlapsIn(holds: Holds, { history, config, model }: CheckInput) {
  const doubts = new Doubts({ history, config });
  const { keys } = history.operations;
  const swept = new Map<string, SweptKey>();
  const certain: ByClass<Earliest<OverlapFound>> = {
    exclusion: new Earliest(MOST_REPORTED, byTime),
    stale: new Earliest(MOST_REPORTED, byTime),
  };
  const doubtful: ByClass<InDoubt> = { exclusion: { count: 0, texts: [] }, stale: { count: 0, texts: [] } };
  forEachOverlap(holds, model, (found) => {
    const name = found.stale < 0 ? 'exclusion' : 'stale';
    const key = keys[holds.key[found.second]!]!;
    const ofKey = swept.get(key) ?? { exclusion: sweptNone(), stale: sweptNone() };
    swept.set(key, ofKey);
    const ofClass = ofKey[name];
    if (ofClass.count++ === 0) ofClass.proof = () => proofOf(overlapWith(holds, found));
    const overlap = doubts.any ? overlapWith(holds, found) : undefined;
    const doubt = overlap && doubts.about(overlap);
    if (!doubt) {
      certain[name].add(found);
      ofClass.certain++;
      return;
    }
    doubtful[name].count++;
    if (doubtful[name].texts.length < MOST_DOUBTS_TOLD)
      doubtful[name].texts.push(`an overlap that need not be the lock's doing: ${proofOf(overlap)} But ${doubt}`);
  });
  return { certain, doubtful, hidden: doubts.aboutPassing(), swept };
}

function sweptNone(): SweptClass {
  return { count: 0, certain: 0, proof: () => '' };
}

/** By the instant at which each became true. */
function byTime(a: OverlapFound, b: OverlapFound): number {
  return a.fromNs - b.fromNs || a.untilNs - b.untilNs || a.second - b.second || a.first - b.first;
}

function doubtsTold({ count, texts }: InDoubt): string[] {
  return count > texts.length ? [...texts, `${plural(count - texts.length, 'more overlap')} like these`] : texts;
}

function present(counts: ByClass<number>): CheckerFindings['found'] {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

function notConfirmed(overlap: Overlap): string {
  return `an overlap that a second procedure did not confirm, which is a bug in lock-torture: ${proofOf(overlap)}`;
}

function violation(overlap: Overlap, cause: Violation['cause']): Violation {
  const holds = [overlap.first, overlap.second, ...overlap.others];
  return {
    class: overlap.class,
    kind: 'overlap',
    key: overlap.first.key,
    fromNs: overlap.fromNs,
    untilNs: overlap.untilNs,
    holds,
    evidence: [...new Set(holds.flatMap(({ evidence }) => evidence))].sort((a, b) => a - b),
    proof: proofOf(overlap),
    cause,
  };
}

/** "c1 certainly held lock:0 from 3.120 s to 5.000 s (lease until 7.001 s); c4 ...; both leases ran for 712 ms." */
function proofOf(overlap: Overlap): string {
  const { first, second, others } = overlap;
  const held = (hold: Hold, what: string) =>
    `${hold.client} certainly held ${what} from ${moment(hold.fromNs)} to ${moment(hold.untilNs)} (${leaseUntil(hold.leaseEndNs)})`;
  const long = duration(overlap.untilNs - overlap.fromNs);
  const all = [first, ...others, second];
  const conclusion =
    overlap.class === 'exclusion'
      ? `${others.length > 0 ? `all ${all.length}` : 'both'} ${all.some(hasLease) ? 'leases ran' : 'held'} for ${long}`
      : `${overlap.stale.client} acted on for ${long} after its lease had ended, beside ${listed(all.filter((hold) => hold !== overlap.stale).map(({ client }) => client))}`;
  return `${all.map((hold, at) => held(hold, at === 0 ? hold.key : 'it')).join('; ')}; ${conclusion}.`;
}

function hasLease({ leaseEndNs }: Hold): boolean {
  return leaseEndNs !== Number.POSITIVE_INFINITY;
}

function stampNotes({ history }: CheckInput, holds: Holds): string[] {
  const { operations: ops } = history;
  const notes = [...stampBreaches(history).values()].map(
    ({ client, history: at, text }) =>
      `${client} is held to the harness's stamps: its own cannot be true (history ${at}: ${text})`,
  );
  const unstamped = new Set<number>();
  for (let k = 0; k < holds.count; k++) if (Number.isNaN(ops.endedNs[holds.row[k]!]!)) unstamped.add(holds.client[k]!);
  if (unstamped.size > 0)
    notes.push(
      `${plural(unstamped.size, 'client')} without own stamps held to the harness's: time asleep may go unseen`,
    );
  return notes;
}

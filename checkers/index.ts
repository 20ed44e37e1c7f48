/** The checkers, and how what they find becomes one verdict. */

import { inOrderOfTelling } from '../harness/record/facts/classes.js';
import { faultFailures, mishaps } from '../harness/record/facts/faults.js';
import type { Checker, CheckInput } from '../harness/vocabulary/run.js';
import type { CheckerResult, Results, Violation, ViolationClass } from '../harness/vocabulary/verdict.js';
import { mutualExclusion, PROCEDURE } from './exclusion/mutual-exclusion.js';
import { ownership } from './exclusion/ownership.js';
import { permits } from './exclusion/permits.js';
import { fencing } from './harm/fencing.js';
import { lostUpdates } from './harm/lost-updates.js';
import { staleWrites } from './harm/stale-writes.js';
import { headlineOf } from './headline.js';
import { readingsOf } from './linearizability/explainable.js';
import { fifo } from './liveness/fifo.js';
import { leftBehind } from './liveness/left-behind.js';
import { liveness } from './liveness/liveness.js';
import { waiting } from './liveness/waiting.js';
import { availability } from './measures/availability.js';
import { latency } from './measures/latency.js';
import { lossToNotice } from './measures/loss-to-notice.js';
import { protocolBreaks } from './worth/protocol-breaks.js';
import { strengthOf, vacuity } from './worth/vacuity.js';

export const checkers: Record<string, Checker> = {
  'mutual-exclusion': mutualExclusion,
  ownership,
  liveness,
  waiting,
  'left-behind': leftBehind,
  fencing,
  'lost-updates': lostUpdates,
  'stale-writes': staleWrites,
  fifo,
  permits,
  vacuity,
  availability,
  latency,
  'loss-to-notice': lossToNotice,
};

/** One line each, for people. */
export const checkerSummaries: Record<string, string> = {
  'mutual-exclusion': 'no two clients held a key at once: both leases running (exclusion), or one past its own (stale)',
  ownership: 'no client was told that a lock was still its own after another one had been granted it',
  liveness: 'after everything is healed, every lock can be had again within a lease and a grace',
  waiting: 'no client went on waiting for a lock that had been free for longer than a lease and a grace',
  'left-behind': 'no failed try left something on a server that its client could have taken back',
  fencing: 'every grant carries a higher fencing token than those before it',
  'lost-updates': 'no acknowledged update of a counter that the lock protects was lost',
  'stale-writes': 'the protected resource took no write of a holder after a later one had read or written',
  fifo: 'a fair lock was granted in the order in which clients were queued',
  permits: 'after everything is healed, all permits of a semaphore can be had again',
  vacuity: 'the run was worth something: enough holds, contention, and faults that touched a held lock',
  availability: 'measures how long locks could not be had, and how soon after each fault they could again',
  latency: 'measures how long operations took, by outcome, before, under and after faults',
  'loss-to-notice': 'measures how long clients went on before they knew that they had lost a lock',
};

/** Checkers that ask of a run what only its end can show. */
const AT_THE_END = ['liveness', 'permits'];

/** Whether what it finds in a run that still goes on will be found at its end, too: so it may end the run. */
export function judgesAtAnyTime(name: string): boolean {
  return decides[name] !== undefined && !AT_THE_END.includes(name);
}

/** What a checker that cannot tell leaves open. One that is not listed decides whether the run counts at all. */
const decides: Record<string, readonly ViolationClass[]> = {
  'mutual-exclusion': ['exclusion', 'stale'],
  ownership: ['exclusion', 'stale'],
  liveness: ['liveness'],
  waiting: ['liveness'],
  'left-behind': ['liveness'],
  fencing: ['harm'],
  'lost-updates': ['harm'],
  'stale-writes': ['harm'],
  fifo: ['liveness'],
  permits: ['liveness'],
};

/**
 * Runs the named checkers and composes their findings: a violation of a class in `failOn` outranks everything, then whatever
 * cannot be told about such a class, or about the run as a whole; only else did the lock hold. Findings of other classes are
 * reported, and do not fail the run. Throws on a name that is not in `checkers`.
 *
 * `between` is called between steps, for whoever wants to tidy up meanwhile.
 */
export function judge(input: CheckInput, names: readonly string[], between: () => void = () => {}): Results {
  const { config } = input;
  // First, and what they need is given back: what the checkers work out about a history is kept for all of them.
  const readings = readingsOf(input, between);
  const results = names.map((name) => {
    const checker = checkers[name];
    if (!checker) throw new Error(`no checker is called "${name}"; there are ${Object.keys(checkers).join(', ')}`);
    const result = checker(input);
    between();
    return result;
  });
  const violations = inOrderOfTelling(
    results.flatMap((result) => result.violations),
    config.failOn,
  );
  const failing = violations.filter((violation) => config.failOn.includes(violation.class));
  const found = totals(results);
  const breaks = protocolBreaks(input.history);
  const open = [
    ...incomplete(input, names),
    ...breaks.open,
    ...results.flatMap((result) => leftOpen(result, config.failOn)),
  ];
  const verdict = failing.length > 0 ? 'violated' : open.length > 0 ? 'unknown' : 'held';
  const stats = Object.assign({}, breaks.stats, ...results.map((result) => result.stats)) as Record<string, number>;
  const exclusion = results.some(({ checker, verdict: told }) => checker === 'mutual-exclusion' && told === 'valid');
  const strength = verdict === 'held' && violations.length === 0 ? strengthOfRun(input, stats) : undefined;
  return {
    version: 1,
    runId: config.runId,
    verdict,
    exitStatus: verdict === 'violated' ? 1 : verdict === 'unknown' ? 2 : 0,
    headline: headlineOf(verdict, { violations, failing, found }, open, { exclusion, model: input.model, stats }),
    reasons: [
      ...new Set([
        ...open,
        ...results.flatMap(({ notes }) => notes.filter((note) => note !== PROCEDURE)),
        ...failedFaults(input),
        ...breaks.notes,
      ]),
    ],
    violations: [...violations],
    checkers: results,
    found,
    readings,
    ...(strength !== undefined && { strength }),
    stats,
    again: config.again,
  };
}

/** What of the run is missing: no such run can be said to have held. */
function incomplete({ history }: CheckInput, names: readonly string[]): string[] {
  const reasons: string[] = [];
  if (names.length === 0) reasons.push('no checker judges this workload');
  if (history.torn) reasons.push('the history is torn: its last line was not written to the end, and is left out');
  reasons.push(...mishaps(history).map(({ proof, did }) => proof ?? did));
  const ended = history.rare.some((event) => event.type === 'phase' && event.phase === 'end');
  if (!ended) reasons.push('the run was cut short: its history stops before its end');
  return reasons;
}

function leftOpen(result: CheckerResult, failOn: readonly ViolationClass[]): string[] {
  const classes = decides[result.checker];
  const matters = classes === undefined || classes.some((name) => failOn.includes(name));
  return result.verdict === 'unknown' && matters ? result.notes.filter((note) => note !== PROCEDURE) : [];
}

function failedFaults({ history }: CheckInput): string[] {
  const byReason = new Map<string, string[]>();
  const told = new Set(mishaps(history));
  for (const event of faultFailures(history)) {
    if (told.has(event)) continue; // by itself, and first
    const { step, fault, state, did, proof } = event;
    const reason = `${state === 'refused' ? 'was refused' : 'failed'}: ${proof ?? did}`;
    const named = `${fault}${step >= 0 ? ` (step ${step + 1} of the plan)` : ''}`;
    byReason.set(reason, [...(byReason.get(reason) ?? []), named]);
  }
  // A run that is ended early leaves many steps with the same reason: one line says it.
  return [...byReason].map(([reason, faults]) =>
    faults.length === 1
      ? `fault ${faults[0]} ${reason}`
      : `${faults.length} faults, each of which ${reason} (${faults.join(', ')})`,
  );
}

/** All violations by class, also those that are counted only. */
function totals(results: readonly CheckerResult[]): Results['found'] {
  const found: Results['found'] = {};
  for (const result of results) {
    const counts = Object.entries(result.found ?? countByClass(result.violations)) as [ViolationClass, number][];
    for (const [name, count] of counts) found[name] = (found[name] ?? 0) + count;
  }
  return found;
}

function countByClass(violations: readonly Violation[]): Results['found'] {
  const found: Results['found'] = {};
  for (const { class: name } of violations) found[name] = (found[name] ?? 0) + 1;
  return found;
}

/** The holds that a fault struck are what a run with faults proves something about; without faults, all of them. */
function strengthOfRun({ plan }: CheckInput, stats: Record<string, number>): string | undefined {
  return plan.steps.length > 0
    ? strengthOf(stats.struckHolds ?? 0, 'struck hold')
    : strengthOf(stats.holds ?? 0, 'hold');
}

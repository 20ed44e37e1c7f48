/** The checkers, and how what they find becomes one verdict. */
import type { Checker, CheckerResult, CheckInput, Results, Violation, ViolationClass } from '../harness/api.js';
import { causePhrase } from './causes.js';
import { faultFailures, mishaps } from './faults.js';
import { liveness } from './liveness.js';
import { mutualExclusion, PROCEDURE } from './mutual-exclusion.js';
import { strengthOf, vacuity } from './vacuity.js';
import { moment, plural } from './words.js';

export const checkers: Record<string, Checker> = {
  'mutual-exclusion': mutualExclusion,
  liveness,
  vacuity,
};

/** One line each, for people. */
export const checkerSummaries: Record<string, string> = {
  'mutual-exclusion': 'no two clients held a key at once: both leases running (exclusion), or one past its own (stale)',
  liveness: 'after everything is healed, every lock can be had again within a lease and a grace',
  vacuity: 'the run was worth something: enough holds, contention, and faults that touched a held lock',
};

/** What a checker that cannot tell leaves open. One that is not listed decides whether the run counts at all. */
const decides: Record<string, readonly ViolationClass[]> = {
  'mutual-exclusion': ['exclusion', 'stale'],
  liveness: ['liveness'],
};

/**
 * Runs the named checkers and composes their findings: a violation of a class in `failOn` outranks everything, then whatever
 * cannot be told about such a class, or about the run as a whole; only else did the lock hold. Findings of other classes are
 * reported, and do not fail the run. Throws on a name that is not in `checkers`.
 */
export function judge(input: CheckInput, names: readonly string[]): Results {
  const { config } = input;
  const results = names.map((name) => {
    const checker = checkers[name];
    if (!checker) throw new Error(`no checker is called "${name}"; there are ${Object.keys(checkers).join(', ')}`);
    return checker(input);
  });
  const violations = results.flatMap((result) => result.violations).sort((a, b) => a.fromNs - b.fromNs);
  const failing = violations.filter((violation) => config.failOn.includes(violation.class));
  const open = [...incomplete(input, names), ...results.flatMap((result) => leftOpen(result, config.failOn))];
  const verdict = failing.length > 0 ? 'violated' : open.length > 0 ? 'unknown' : 'held';
  const stats = Object.assign({}, ...results.map((result) => result.stats)) as Record<string, number>;
  const strength = verdict === 'held' && violations.length === 0 ? strengthOfRun(input, stats) : undefined;
  return {
    version: 1,
    runId: config.runId,
    verdict,
    exitStatus: verdict === 'violated' ? 1 : verdict === 'unknown' ? 2 : 0,
    headline: headline(verdict, violations, failing, open, stats),
    reasons: [
      ...new Set([
        ...open,
        ...results.flatMap(({ notes }) => notes.filter((note) => note !== PROCEDURE)),
        ...failedFaults(input),
      ]),
    ],
    violations,
    checkers: results,
    found: countByClass(violations),
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
  const ended = history.events.some((event) => event.type === 'phase' && event.phase === 'end');
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

// ------------------------------------------------------------------------------------------------------- the headline

function headline(
  verdict: Results['verdict'],
  violations: readonly Violation[],
  failing: readonly Violation[],
  open: readonly string[],
  stats: Record<string, number>,
): string {
  if (verdict === 'violated') return accusation(failing, violations);
  if (verdict === 'unknown') return `Cannot tell: ${open[0]}.`.replace(/\.\.$/, '.');
  const struck = stats.struckHolds ? `, ${stats.struckHolds} struck by a fault` : '';
  const holds = `${plural(stats.holds ?? 0, 'hold')}${struck}`;
  if (violations.length === 0) return `The lock held: ${holds}, never two at once.`;
  return `Nothing that fails this run was found in ${holds}; but ${alsoFound(violations)}.`;
}

/** The gravest class that fails the run, and what else was found. */
function accusation(failing: readonly Violation[], all: readonly Violation[]): string {
  const gravest = gravity.find((name) => failing.some((violation) => violation.class === name))!;
  const ofClass = failing.filter((violation) => violation.class === gravest);
  const [first] = ofClass;
  const times = plural(ofClass.length, 'time');
  const cause = causePhrase(first!.cause.name);
  const at = `first at ${moment(first!.fromNs)} on ${first!.key}, ${cause}`;
  const others = all.filter((violation) => violation.class !== gravest);
  const also = others.length > 0 ? `; also ${alsoFound(others)}` : '';
  switch (gravest) {
    case 'exclusion':
      return `Exclusion broken: ${times} two clients held the lock at once (${at})${also}.`;
    case 'harm':
      return `Harm done: ${times} the protected resource took what it should have refused (${at})${also}.`;
    case 'stale':
      return `Stale holder: ${times} a client acted on after its lease had ended, beside the next holder (${at})${also}.`;
    case 'liveness':
      return `Deadlock: ${plural(ofClass.length, 'lock')} could not be had again after everything was healed (${first!.key}: ${cause})${also}.`;
  }
}

const gravity: readonly ViolationClass[] = ['exclusion', 'harm', 'stale', 'liveness'];

const nouns: Record<ViolationClass, readonly [one: string, many: string]> = {
  exclusion: ['overlap of two holders', 'overlaps of two holders'],
  harm: ['harmful write', 'harmful writes'],
  stale: ['stale holder', 'stale holders'],
  liveness: ['deadlock', 'deadlocks'],
};

function alsoFound(violations: readonly Violation[]): string {
  const found = countByClass(violations);
  return gravity.flatMap((name) => (found[name] ? [plural(found[name], ...nouns[name])] : [])).join(' and ');
}

/** The checkers, and how what they find becomes one verdict. */

import { bearingOf, canFail } from '../harness/record/facts/blame.js';
import { className, inOrderOfTelling } from '../harness/record/facts/classes.js';
import { faultFailures, lateLinks, lateStrikes, mishaps } from '../harness/record/facts/faults.js';
import { fingerprint } from '../harness/record/facts/fingerprint.js';
import { missingObservations } from '../harness/record/facts/missing-observations.js';
import { moment, plural } from '../harness/record/facts/words.js';
import { CLASSES } from '../harness/record/schemas/violation-class.js';
import type { LockModel } from '../harness/vocabulary/protocol.js';
import type { Checker, CheckerProperty, CheckInput, RunConfig, VirtualTime } from '../harness/vocabulary/run.js';
import type {
  Blame,
  CheckerFindings,
  CheckerResult,
  FailOn,
  PropertyWords,
  Results,
  Violation,
  ViolationClass,
} from '../harness/vocabulary/verdict.js';
import type { ClientHabit } from '../harness/vocabulary/workload.js';
import { blameFor } from './causes/blame.js';
import { causePhrase } from './causes/descriptions.js';
import { NO_CHAIN } from './causes/unexplained.js';
import { countedLatches } from './exclusion/latch.js';
import { mutualExclusion, PROCEDURE } from './exclusion/mutual-exclusion.js';
import { neverGrantedHolds } from './exclusion/never-granted.js';
import { ownership } from './exclusion/ownership.js';
import { permits } from './exclusion/permits.js';
import { fencing } from './harm/fencing.js';
import { lawfulHolders } from './harm/lawful-holders.js';
import { lostUpdates } from './harm/lost-updates.js';
import { staleWrites } from './harm/stale-writes.js';
import { findingKind, headlineOf } from './headline.js';
import { readingsOf } from './linearizability/explainable.js';
import { falseLoss } from './liveness/false-loss.js';
import { fifo } from './liveness/fifo.js';
import { leftBehind } from './liveness/left-behind.js';
import { liveness } from './liveness/liveness.js';
import { overstayed } from './liveness/overstayed.js';
import { starved } from './liveness/starved.js';
import { waiting } from './liveness/waiting.js';
import { availability } from './measures/availability.js';
import { latency } from './measures/latency.js';
import { lossToNotice } from './measures/loss-to-notice.js';
import { turnover } from './measures/turnover.js';
import { verdictWordsOf } from './verdict-words.js';
import { protocolBreaks } from './worth/protocol-breaks.js';
import { boundOf, boundPercent, ENOUGH_STRIKES, strengthOf, strengthWithoutFaults } from './worth/strength.js';
import { struckByFault } from './worth/struck.js';
import { explainingReasons, vacuity } from './worth/vacuity.js';

export { boundOf, boundPercent, ENOUGH_STRIKES, strengthOf, strengthWithoutFaults };

/** Every checker, in the order in which they judge. One that is listed here needs to be named nowhere else. */
export const checkers: readonly Checker[] = [
  // First: where answers are lost, that is why others cannot tell.
  protocolBreaks,
  mutualExclusion,
  neverGrantedHolds,
  ownership,
  liveness,
  starved,
  waiting,
  overstayed,
  leftBehind,
  falseLoss,
  fencing,
  lawfulHolders,
  lostUpdates,
  staleWrites,
  fifo,
  permits,
  countedLatches,
  vacuity,
  availability,
  latency,
  lossToNotice,
  turnover,
];

/** What is known of a run before it is looked at. */
export interface RunToJudge {
  model: LockModel;
  /** Whether it is the play of a scenario. */
  played: boolean;
  /** What its clients do, where a checker may need that. */
  habit?: ClientHabit;
}

/** The checkers that judge such a run. */
export function judgesOf({ model, played, habit }: RunToJudge, all = checkers): readonly Checker[] {
  return all.filter(({ judges }) => {
    if (judges.habit !== undefined && judges.habit !== habit) return false;
    return played ? judges.plays : judges.models === 'all' || judges.models.includes(model.kind);
  });
}

/** Whether what it finds in a run that still goes on will be found at its end, too: so it may end the run. */
export function judgesAtAnyTime({ properties, atTheEnd }: Checker): boolean {
  return properties.some((property) => property.class !== undefined) && atTheEnd !== true;
}

/**
 * Runs checkers and composes their findings: a violation of a class in `failOn`, or one that is the lock's mistake where
 * `failOn` has `lock`, outranks everything; then whatever cannot be determined of these, or about the run as a whole; only
 * else did the lock hold. Other findings are reported, and do not fail the run.
 *
 * `between` is called between steps: a caller may tidy up there.
 */
export function judge(input: CheckInput, judges: readonly Checker[], between: () => void = () => {}): Results {
  const { config } = input;
  // First, and what they need is given back: what the checkers work out about a history is kept for all of them.
  const readings = readingsOf(input, between);
  const results = judges.map((checker): CheckerResult => {
    const findings = findingsOfOne(checker, input);
    between();
    return { checker: checker.name, properties: checker.properties.map(wordsOf), ...findings };
  });
  const violations = inOrderOfTelling(
    results.flatMap((result) => result.violations),
    config.failOn,
  );
  const found = totals(results);
  const missing = missingObservations(input);
  const cutShort = incomplete(input, judges);
  const explaining = judges.includes(vacuity) ? explainingReasons(input) : [];
  const { verdict, failing, open } = weigh(results, violations, config, { cutShort, explaining });
  const own = weigh(results, violations, { ...config, failOn: ['lock'] }, { cutShort, explaining });
  const stats = Object.assign({}, ...results.map((result) => result.stats)) as Record<string, number>;
  const exclusion = results.some(({ checker, verdict: told }) => checker === 'mutual-exclusion' && told === 'valid');
  const struck = judges.includes(vacuity) ? struckByFault(input) : undefined;
  const strength = verdict === 'held' && violations.length === 0 ? strengthOfRun(input, stats) : undefined;
  return {
    version: 2,
    runId: config.runId,
    verdict,
    exitStatus: verdict === 'violated' ? 1 : verdict === 'unknown' ? 2 : 0,
    words: verdictWordsOf({ input, verdict, checkers: results, violations, failing, found, own, stats }),
    headline: headlineOf(verdict, { violations, failing, found }, open, {
      exclusion,
      model: input.model,
      stats,
      judges,
    }),
    reasons: [
      ...new Set([
        ...open.filter((why) => why !== NO_REASON || verdict === 'unknown'),
        ...results.flatMap(({ notes }) => notes.filter((note) => note !== PROCEDURE)),
        ...failedFaults(input),
        ...(missing === undefined ? [] : [missing]),
      ]),
    ],
    violations: [...violations],
    ownMistakes: OWN_MISTAKES[own.verdict],
    ...(open.length > 0 && { open }),
    checkers: results,
    found,
    readings,
    ...(strength !== undefined && { strength }),
    ...(config.virtualTime && { virtualTime: virtualTimeWords(config.virtualTime, config.cut) }),
    stats,
    ...(struck && { struck }),
    reproduce: config.reproduce,
  };
}

const OWN_MISTAKES: Record<Results['verdict'], Results['ownMistakes']> = {
  violated: 'found',
  unknown: 'unknown',
  held: 'none',
};
const NO_REASON = 'a checker cannot tell whether there is more, and gives no reason';

/** What fails the run, and what is open of what may fail it: that makes it unknown where nothing fails it. */
function weigh(
  results: readonly CheckerResult[],
  violations: readonly Violation[],
  { failOn, known }: Pick<RunConfig, 'failOn' | 'known'>,
  { cutShort, explaining }: { cutShort: readonly string[]; explaining: readonly string[] },
): { verdict: Results['verdict']; failing: Violation[]; open: string[] } {
  const failing = violations.filter((violation) => bearingOf(violation, failOn) === 'fails');
  const leavesOpen = results.filter((result) => isLeftOpen(result, failOn));
  const notes = (among: readonly CheckerResult[]) =>
    among.flatMap((result) => result.notes.filter((note) => note !== PROCEDURE));
  const isProtocol = ({ checker }: CheckerResult) => checker === protocolBreaks.name;
  // The first is the headline's: what explains others comes before them. Answers that are lost leave nobody granted.
  const ordered = [
    ...cutShort,
    ...notes(leavesOpen.filter(isProtocol)),
    ...explaining,
    ...notBlamed(results, violations, { failOn, known }),
    ...notes(leavesOpen.filter((one) => !isProtocol(one))),
  ];
  const told = [...new Set(ordered)];
  const open = told.length === 0 && leavesOpen.length > 0 ? [NO_REASON] : told;
  return { verdict: failing.length > 0 ? 'violated' : open.length > 0 ? 'unknown' : 'held', failing, open };
}

/** What one checker finds, each violation with whose mistake it is. */
export function findingsOfOne(checker: Checker, input: CheckInput): CheckerFindings {
  const findings = checker.check(input);
  const blamed = (violation: Violation): Violation => {
    const blame = blameFor(violation, findingKind([checker], violation), input);
    const known = knownAs({ ...violation, blame }, input.config.known);
    const cause = { ...causeBeside(blame, violation, checker), phrase: causePhrase(violation.cause.name) };
    return { ...violation, cause, blame, ...(known && { known }) };
  };
  return { ...findings, violations: findings.violations.map(blamed) };
}

/** That it is the lock's mistake and that no evidence shows why cannot stand side by side: what is shown is what happened, not how. */
function causeBeside({ on }: Blame, violation: Violation, checker: Checker): Violation['cause'] {
  const { cause } = violation;
  const kind = findingKind([checker], violation);
  if (on !== 'lock' || cause.sentence !== NO_CHAIN || !kind) return cause;
  return { ...cause, sentence: `Proven is that ${kind.accusedIf}. Which step of the lock did it is not shown.` };
}

function knownAs(
  { blame, class: name, kind, cause }: Violation & { blame: Blame },
  known: RunConfig['known'],
): Violation['known'] {
  if (!known?.fingerprints.includes(fingerprint(blame.on, name, kind, cause.name))) return undefined;
  return known.allowed ? 'allowed' : 'fails';
}

/** Where the lock's own mistakes fail the run: what of the findings may be one, for all that is proven. */
function notBlamed(
  results: readonly CheckerResult[],
  violations: readonly Violation[],
  { failOn, known }: Pick<RunConfig, 'failOn' | 'known'>,
): string[] {
  const open = violations.filter((violation) => bearingOf(violation, failOn) === 'open');
  const [first] = open;
  const explained = countByClass(violations);
  const found = totals(results);
  // A class fails the run by itself, unless such findings may be known: of what is counted only, that cannot be said.
  const failsByClass = (name: ViolationClass) => failOn.includes(name) && known?.allowed !== true;
  const mayFail = CLASSES.filter((name) => canFail(name, failOn) && !failsByClass(name));
  const untold = mayFail.reduce((sum, name) => sum + (found[name] ?? 0) - (explained[name] ?? 0), 0);
  const whether = 'whether that is the lock’s mistake cannot be told';
  const which = known?.allowed === true ? 'whether they are known cannot be told' : whether;
  return [
    ...(first
      ? [
          `${plural(open.length, 'finding')} without a proven cause, the first (${className(first.class)}, ${first.kind}) at ${moment(first.fromNs)} on ${first.key}: ${whether}`,
        ]
      : []),
    ...(untold > 0 ? [`${plural(untold, 'finding')} more than are explained one by one: ${which}`] : []),
  ];
}

/** What of the run is missing: no such run can be said to have held. */
function incomplete({ history, playTrouble }: CheckInput, judges: readonly Checker[]): string[] {
  const reasons: string[] = [];
  if (judges.length === 0) reasons.push('no checker judges this workload');
  // A disk that is full tears a history, and a server that ends keeps plays from their end.
  reasons.push(...mishaps(history).map(({ proof, did }) => proof ?? did));
  if (history.torn) reasons.push('the history is torn: its last line was not written to the end, and is left out');
  reasons.push(...lateLinks(history));
  if (playTrouble !== undefined) reasons.push(`the play could not be played to its end: ${playTrouble}`);
  const ended = history.rare.some((event) => event.type === 'phase' && event.phase === 'end');
  if (!ended) reasons.push('the run was cut short: its history stops before its end');
  return reasons;
}

function wordsOf({ class: name, holds, broken }: CheckerProperty): PropertyWords {
  return { ...(name && { class: name }), holds, broken };
}

/**
 * Whether one that cannot tell, or not of all that there may be beside what it found, leaves open something that would fail the run,
 * or whether the run counts at all.
 */
function isLeftOpen({ verdict, properties = [], open = [] }: CheckerResult, failOn: readonly FailOn[]): boolean {
  if (verdict !== 'unknown') return open.some((name) => canFail(name, failOn));
  const classes = properties.flatMap((property) => property.class ?? []);
  return classes.length === 0 || classes.some((name) => canFail(name, failOn));
}

function failedFaults({ history }: CheckInput): string[] {
  const byReason = new Map<string, string[]>();
  const told = new Set(mishaps(history));
  for (const event of [...faultFailures(history), ...lateStrikes(history)]) {
    if (told.has(event)) continue; // by itself, and first
    const { step, fault, state, did, proof, late } = event;
    const what = state === 'refused' ? 'was refused' : 'failed';
    const reason = late === undefined ? `${what}: ${proof ?? did}` : `struck too late: ${late}`;
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

function virtualTimeWords({ why, remedy }: VirtualTime, cut: string | undefined): string {
  const shortened = cut === undefined ? '' : `; shortened: ${cut}`;
  return `Played in virtual time${why === 'as asked' ? ', as asked' : `: ${why}`}${remedy === undefined ? '' : `; for real time: ${remedy}`}${shortened}`;
}

/** Strikes are what a run with faults proves something about; without faults, holds that nothing happened to. */
function strengthOfRun({ plan, config }: CheckInput, stats: Record<string, number>): string | undefined {
  const strength =
    plan.steps.length > 0
      ? strengthOf({ strikes: stats.strikes ?? 0, struckHolds: stats.struckHolds ?? 0 })
      : strengthWithoutFaults(stats.holds ?? 0);
  return strength !== undefined && config.virtualTime ? `${strength}, in virtual time` : strength;
}

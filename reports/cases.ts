/**
 * The run as the cases of a test report: one for each checker and one for the run's verdict. What is unknown is an error: a
 * run that proves nothing must not look green. Findings that the run may have are its output, and do not fail their case.
 */
import { type Bearing, bearingOf, blamedOn, canFail, whose } from '../harness/record/facts/blame.js';
import { className, inOrderOfTelling } from '../harness/record/facts/classes.js';
import { firstWords, verdictLines } from '../harness/record/facts/verdict-words.js';
import { count, exactMoment, plural } from '../harness/record/facts/words.js';
import { CLASSES } from '../harness/record/schemas/violation-class.js';
import type { CheckerResult, FailOn, Results, Violation, ViolationClass } from '../harness/vocabulary/verdict.js';
import { countFound, whatHappened } from './words.js';

/** Failures written out for one checker; a viewer shows the first few. */
const MOST_FAILURES = 100;
export interface ReportCase {
  name: string;
  failures: { message: string; type: string; text: string }[];
  error?: { message: string; text: string };
  output: string[];
}

/**
 * Red are those with failures or an error; none is skipped. Cases and failures are in the order of telling, so that whoever is shown
 * the first sees the lock's own mistake if there is one.
 */
export function casesOf(results: Results, failOn: readonly FailOn[] = CLASSES): ReportCase[] {
  const order = inOrderOfTelling(
    results.checkers.flatMap(({ violations }) => violations),
    failOn,
  );
  const places = new Map(order.map((violation, at) => [violation, at]));
  const placeOf = ({ violations }: CheckerResult) =>
    violations.reduce((first, violation) => Math.min(first, places.get(violation)!), order.length);
  const checkers = [...results.checkers].sort((a, b) => placeOf(a) - placeOf(b));
  return [...checkers.map((one) => checkerCase(one, results, failOn)), verdictCase(results)];
}

function checkerCase(one: CheckerResult, results: Results, failOn: readonly FailOn[]): ReportCase {
  const violations = inOrderOfTelling(one.violations, failOn);
  const bearing = (wanted: Bearing) => violations.filter((violation) => bearingOf(violation, failOn) === wanted);
  const [failing, open, allowed] = [bearing('fails'), bearing('open'), bearing('allowed')];
  const failures: ReportCase['failures'] = failing.slice(0, MOST_FAILURES).map((violation) => ({
    message: `${className(violation.class)}, ${whose(blamedOn(violation))}: ${whatHappened(violation)}`,
    type: violation.class,
    text: violationText(violation, results.reproduce),
  }));
  // Of what is counted only, neither whose mistake it is nor whether it is known can be said: a class alone fails the run by it.
  const mayBeKnown = results.violations.some(({ known }) => known === 'allowed');
  const untold = (classes: readonly ViolationClass[]) =>
    countFound(one, classes) - violations.filter((violation) => classes.includes(violation.class)).length;
  const failsByClass = CLASSES.filter((name) => failOn.includes(name) && !mayBeKnown);
  const inDoubt = untold(CLASSES.filter((name) => canFail(name, failOn) && !failsByClass.includes(name)));
  const all = failing.length + untold(failsByClass);
  if (all > failures.length) {
    const stored = failing.length < all ? `the first ${count(failing.length)}` : 'all';
    const message = `${count(all - failures.length)} more violations were found; ${stored} are in results.json`;
    failures.push({ message, type: 'more', text: message });
  }
  const doubts = [
    ...(open.length > 0
      ? [`${plural(open.length, 'finding')} without a proven cause, which may be the lock's mistake`]
      : []),
    ...(inDoubt > 0
      ? [`${plural(inDoubt, 'finding')} more than are explained one by one, which may fail this run`]
      : []),
    ...one.notes,
  ];
  return {
    name: one.checker,
    failures,
    // A violation outranks unknown; the notes are printed either way.
    ...((one.verdict === 'unknown' || open.length > 0 || inDoubt > 0) && failures.length === 0
      ? {
          error: {
            message: `unknown: ${doubts[0] ?? 'the checker gave no reason'}`,
            text: `${doubts.join('\n')}\n${results.reproduce}`,
          },
        }
      : {}),
    output: [
      ...one.notes,
      ...open.map((violation) => `cannot tell whose mistake it is: ${violationText(violation, results.reproduce)}`),
      ...allowed.map((violation) => `allowed, does not fail this run: ${violationText(violation, results.reproduce)}`),
    ],
  };
}

/** Red whenever the run's exit status is not 0. */
function verdictCase(results: Results): ReportCase {
  const words = firstWords(results);
  const text = [
    words,
    ...verdictLines(results).map(([name, line]) => `${name}: ${line}`),
    ...(results.words?.stronger === undefined ? [] : [`For a stronger one: ${results.words.stronger}`]),
    results.headline,
    ...results.reasons,
    ...(results.virtualTime === undefined ? [] : [results.virtualTime]),
    results.reproduce,
  ].join('\n');
  const base: ReportCase = { name: 'verdict', failures: [], output: [text] };
  if (results.verdict === 'held' && results.exitStatus === 0) return base;
  if (results.verdict === 'violated') return { ...base, failures: [{ message: words, type: 'violated', text }] };
  return { ...base, error: { message: `${words}: ${results.reasons[0] ?? results.headline}`, text } };
}

function violationText(violation: Violation, reproduce: string): string {
  const chain = violation.cause.chain.map((link) => `  ${exactMoment(link.atNs)} ${link.text}`);
  return [
    `${className(violation.class)}, ${whose(blamedOn(violation))}: ${whatHappened(violation)}`,
    `Proof: ${violation.proof}`,
    `Why: ${violation.cause.sentence} [${violation.cause.name}]`,
    ...blameText(violation),
    ...chain,
    `History lines: ${violation.evidence.slice(0, 60).join(', ')}`,
    `Reproduce: ${reproduce}`,
  ].join('\n');
}

function blameText({ blame }: Violation): string[] {
  if (blame === undefined) return [];
  return [`Whose mistake: ${blame.on}. ${blame.theory}${blame.link === undefined ? '' : ` (${blame.link})`}`];
}

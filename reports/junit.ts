/**
 * JUnit XML for CI: a suite for the run, a case for each checker and one for the run's verdict. `unknown` is an
 * `<error>`: a run that proves nothing must not look green, and `<skipped>` does in most viewers. Findings that the
 * run may have are printed, and do not fail their case.
 */
import { type Bearing, bearingOf, blamedOn, whose } from '../harness/record/facts/blame.js';
import { className } from '../harness/record/facts/classes.js';
import { count, plural } from '../harness/record/facts/words.js';
import { clipped, visible } from '../harness/record/schemas/foreign-text.js';
import { CLASSES } from '../harness/record/schemas/violation-class.js';
import type { CheckerResult, FailOn, Results, Violation } from '../harness/vocabulary/verdict.js';
import { countFound, whatHappened } from './words.js';

/** Failures written out for one checker; a viewer shows the first few. */
const MOST_FAILURES = 100;
/** A lock's own words may be of any length. */
const LONGEST_LINE = 4_000;

interface Case {
  name: string;
  failures: { message: string; type: string; text: string }[];
  error?: { message: string; text: string };
  output: string[];
}

export function junitXml(results: Results, failOn: readonly FailOn[] = CLASSES): string {
  const checkers = results.checkers.map((one) => checkerCase(one, results, failOn));
  const cases = [...checkers, verdictCase(results, checkers)];
  const failed = cases.filter((one) => one.failures.length > 0).length;
  const errors = cases.filter((one) => one.failures.length === 0 && one.error !== undefined).length;
  const counts = `tests="${cases.length}" failures="${failed}" errors="${errors}" skipped="0"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="lock-torture" ${counts}>
<testsuite name="${xml(`lock-torture ${results.runId}`)}" ${counts}>
${cases.map(caseXml).join('\n')}
</testsuite>
</testsuites>
`;
}

function checkerCase(one: CheckerResult, results: Results, failOn: readonly FailOn[]): Case {
  const bearing = (wanted: Bearing) => one.violations.filter((violation) => bearingOf(violation, failOn) === wanted);
  const [failing, open, allowed] = [bearing('fails'), bearing('open'), bearing('allowed')];
  const failures: Case['failures'] = failing.slice(0, MOST_FAILURES).map((violation) => ({
    message: `${className(violation.class)}, ${whose(blamedOn(violation))}: ${whatHappened(violation)}`,
    type: violation.class,
    text: violationText(violation, results.reproduce),
  }));
  const ofClasses = CLASSES.filter((name) => failOn.includes(name));
  const otherwise = failing.filter((violation) => !failOn.includes(violation.class)).length;
  const all = countFound(one, ofClasses) + otherwise;
  if (all > failures.length) {
    const stored = failing.length < all ? `the first ${count(failing.length)}` : 'all';
    const message = `${count(all - failures.length)} more violations were found; ${stored} are in results.json`;
    failures.push({ message, type: 'more', text: message });
  }
  const doubts = [
    ...(open.length > 0
      ? [`${plural(open.length, 'finding')} without a proven cause, which may be the lock's mistake`]
      : []),
    ...one.notes,
  ];
  return {
    name: one.checker,
    failures,
    // A violation outranks unknown; the notes are printed either way.
    ...((one.verdict === 'unknown' || open.length > 0) && failures.length === 0
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

/** Turns red whenever the run's exit status is not 0 and no checker's case says why. */
function verdictCase(results: Results, checkers: readonly Case[]): Case {
  const text = [
    results.headline,
    ...results.reasons,
    ...(results.strength === undefined ? [] : [results.strength]),
    results.reproduce,
  ].join('\n');
  const red = checkers.some((one) => one.failures.length > 0);
  const base: Case = { name: 'verdict', failures: [], output: [text] };
  if (results.verdict === 'held' && results.exitStatus === 0) return base;
  if (results.verdict === 'violated')
    return red ? base : { ...base, failures: [{ message: results.headline, type: 'violated', text }] };
  return { ...base, error: { message: `unknown: ${results.reasons[0] ?? results.headline}`, text } };
}

function violationText(violation: Violation, reproduce: string): string {
  const chain = violation.cause.chain.map((link) => `  ${(link.atNs / 1e9).toFixed(6)} s ${link.text}`);
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

function caseXml(one: Case): string {
  const failures = one.failures.map(
    ({ message, type, text }) =>
      `<failure message="${xml(clipped(message, 500))}" type="${xml(type)}">${xml(text)}</failure>`,
  );
  const error =
    one.error === undefined
      ? []
      : [`<error message="${xml(clipped(one.error.message, 500))}" type="unknown">${xml(one.error.text)}</error>`];
  const output =
    one.output.length === 0 ? [] : [`<system-out>${xml(clipped(one.output.join('\n'), 20_000))}</system-out>`];
  return `<testcase classname="lock-torture" name="${xml(one.name)}">${[...failures, ...error, ...output].join('')}</testcase>`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** Escaped for text and attributes; what XML 1.0 forbids even as a reference is made visible, as is all that hides text. */
function xml(text: string): string {
  return text
    .split('\n')
    .map((line) => visible(clipped(line, LONGEST_LINE)))
    .join('\n')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

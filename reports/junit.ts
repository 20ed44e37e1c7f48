/**
 * JUnit XML for CI: a suite for the run, a case for each checker and one for its verdict. `unknown` is an `<error>`, for
 * `<skipped>` looks green in most viewers.
 */
import { firstWords, toneOf, verdictLines } from '../harness/record/facts/verdict-words.js';
import { clipped, visible } from '../harness/record/schemas/foreign-text.js';
import type { FailOn, Results } from '../harness/vocabulary/verdict.js';
import { casesOf, type ReportCase } from './cases.js';

/** A lock's own words may be of any length. */
const LONGEST_LINE = 4_000;

export function junitXml(results: Results, failOn?: readonly FailOn[]): string {
  const cases = casesOf(results, failOn);
  const failed = cases.filter((one) => one.failures.length > 0).length;
  const errors = cases.filter((one) => one.failures.length === 0 && one.error !== undefined).length;
  const counts = `tests="${cases.length}" failures="${failed}" errors="${errors}" skipped="0"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="lock-torture" ${counts}>
<testsuite name="${xml(`lock-torture ${results.runId}`)}" ${counts}>
<properties>
${propertiesOf(results).map(propertyXml).join('\n')}
</properties>
${cases.map(caseXml).join('\n')}
</testsuite>
</testsuites>
`;
}

/** The verdict and its lines; and, where something was let through, that as a warning: its cases are green. */
function propertiesOf(results: Results): [name: string, value: string][] {
  const words = firstWords(results);
  return [
    ['verdict', words],
    ...(toneOf(results) === 'passed' ? [['warning', words] as [string, string]] : []),
    ...verdictLines(results).map(([name, line]): [string, string] => [name.toLowerCase(), line]),
  ];
}

function propertyXml([name, value]: [name: string, value: string]): string {
  return `<property name="${xml(name)}" value="${xml(clipped(value, LONGEST_LINE))}"/>`;
}

function caseXml(one: ReportCase): string {
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

/**
 * The Common Test Report Format (ctrf.io), specification 0.0: JSON that many CI services and summaries read. The cases are
 * JUnit's. What is unknown has the status `failed`, and says `unknown` beside it, so that it does not look green anywhere.
 */
import { firstWords, toneOf, verdictLines } from '../harness/record/facts/verdict-words.js';
import { clipped, visible } from '../harness/record/schemas/foreign-text.js';
import { casesOf, type ReportCase } from './cases.js';
import type { ReportInput } from './input.js';

const LONGEST_MESSAGE = 500;
const LONGEST_TEXT = 20_000;

export function ctrfJson({ config, results, history, serverVersion }: ReportInput): string {
  const start = Date.parse(config.startedAt);
  const tookMs = Math.round(history.endNs / 1e6);
  const cases = casesOf(results, config.failOn);
  const failed = cases.filter((one) => statusOf(one) !== 'passed').length;
  const report = {
    reportFormat: 'CTRF',
    specVersion: '0.0.0',
    generatedBy: 'lock-torture',
    results: {
      tool: { name: 'lock-torture' },
      summary: {
        ...{ tests: cases.length, passed: cases.length - failed, failed, skipped: 0, pending: 0, other: 0 },
        ...{ start, stop: start + tookMs },
      },
      tests: cases.map((one) => testOf(one, results.runId, one.name === 'verdict' ? tookMs : 0)),
      environment: {
        testEnvironment: shown(`${config.topology} on ${config.runtime}, ${serverVersion}`, LONGEST_MESSAGE),
        extra: {
          verdict: shown(firstWords(results), LONGEST_MESSAGE),
          ...(toneOf(results) === 'passed' && { warning: shown(firstWords(results), LONGEST_MESSAGE) }),
          inShort: verdictLines(results).map(([name, line]) => shown(`${name}: ${line}`, LONGEST_MESSAGE)),
          lock: shown(config.lock, LONGEST_MESSAGE),
          seed: config.seed,
          reproduce: shown(results.reproduce, LONGEST_TEXT),
        },
      },
    },
  };
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

/** `duration`: the checkers judge one run, whose length is the verdict's. */
function testOf(one: ReportCase, runId: string, duration: number) {
  const [first] = one.failures;
  const message = first?.message ?? one.error?.message;
  const trace = one.failures.length > 0 ? one.failures.map(({ text }) => text).join('\n\n') : one.error?.text;
  return {
    name: one.name,
    suite: [`lock-torture ${shown(runId, LONGEST_MESSAGE)}`],
    status: statusOf(one) === 'passed' ? 'passed' : 'failed',
    rawStatus: statusOf(one),
    duration,
    ...(message !== undefined && { message: shown(message, LONGEST_MESSAGE) }),
    ...(trace !== undefined && { trace: shown(trace, LONGEST_TEXT) }),
    ...(one.output.length > 0 && { stdout: shown(one.output.join('\n'), LONGEST_TEXT).split('\n') }),
  };
}

function statusOf({ failures, error }: ReportCase): 'passed' | 'violated' | 'unknown' {
  return failures.length > 0 ? 'violated' : error === undefined ? 'passed' : 'unknown';
}

function shown(text: string, longest: number): string {
  return clipped(text, longest).split('\n').map(visible).join('\n');
}

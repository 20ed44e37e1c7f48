/** What the terminal says at the end of a run, and the object that `--json` prints. Plain text unless colour is asked for. */
import { type Bearing, bearingOf, blamedOn, canFail, whose } from '../harness/record/facts/blame.js';
import { className } from '../harness/record/facts/classes.js';
import { firstWords, type Tone, toneOf, verdictLines } from '../harness/record/facts/verdict-words.js';
import { count, plural } from '../harness/record/facts/words.js';
import { clipped, visible } from '../harness/record/schemas/foreign-text.js';
import { CLASSES } from '../harness/record/schemas/violation-class.js';
import type { FailOn, JsonSummary, Results, Violation } from '../harness/vocabulary/verdict.js';
import { countFound, knownWords, mostTelling, shownOfFound, whatHappened } from './words.js';

export interface SummaryInput {
  results: Results;
  /** Findings that fail a run; the others are shown as allowed. */
  failOn: readonly FailOn[];
  /** Where the HTML report is; absent: none was written. */
  reportPath?: string;
  /** ANSI colour. */
  colour?: boolean;
}

/** Violations told in full; the report has all. */
const MOST_TOLD = 5;
const LONGEST_LINE = 600;

/** Amber for what passed by what is allowed: it is no green. */
const COLOURS: Record<Tone, string> = { held: '1;32', passed: '1;33', violated: '1;31', unknown: '1;33' };

type Paint = (code: string, text: string) => string;

/** Several lines without a newline at the end. What locks and users said is made harmless for a terminal. */
export function closingSummary(input: SummaryInput): string {
  const { results, failOn } = input;
  const paint: Paint = input.colour === true ? (code, text) => `\u001b[${code}m${text}\u001b[0m` : (_, text) => text;
  const lines = verdictLines(results);
  const width = Math.max(...lines.map(([name]) => name.length));
  const theories = new Set<string>();
  const told = mostTelling(results.violations, MOST_TOLD).map(({ violation, number }) => ({
    violation,
    number,
    bearing: bearingOf(violation, failOn),
    theory: theoryOf(violation, theories),
  }));
  const untold = countFound(results) - told.length;
  const shown = shownOfFound(results);
  return [
    `${paint(COLOURS[toneOf(results)] ?? COLOURS.unknown, plain(firstWords(results)))} (exit status ${results.exitStatus})`,
    ...lines.map(([name, line]) => `  ${`${name}:`.padEnd(width + 1)} ${plain(line)}`),
    ...(results.words?.stronger === undefined
      ? []
      : [`  For a stronger one: ${plain(results.words.stronger, Number.POSITIVE_INFINITY)}`]),
    ...(results.virtualTime === undefined ? [] : [`  ${plain(results.virtualTime)}.`]),
    ...(lines.length > 0 ? [''] : []),
    plain(results.headline),
    ...foundLine(results, failOn),
    ...results.reasons.map((reason) => `${paint('33', 'Note:')} ${plain(reason)}`),
    ...told.flatMap((one) => ['', ...violationLines(one, paint)]),
    ...(untold > 0
      ? [
          '',
          `${plural(untold, 'more violation')}${shown === undefined ? ' in the report' : `; reported are ${shown}`}.`,
        ]
      : []),
    '',
    ...(input.reportPath === undefined ? [] : [`Report: ${plain(input.reportPath)}`]),
    `Reproduce: ${plain(results.reproduce, Number.POSITIVE_INFINITY)}`,
  ].join('\n');
}

/** On one line, without anything that a terminal would act on. */
function plain(text: string, longest = LONGEST_LINE): string {
  return visible(clipped(text, longest));
}

function foundLine(results: Results, failOn: readonly FailOn[]): string[] {
  const words = CLASSES.flatMap((one) => {
    const times = results.found[one] ?? 0;
    if (times === 0) return [];
    return [`${className(one)} ${count(times)}${canFail(one, failOn) ? '' : ' (does not fail this run)'}`];
  });
  if (words.length === 0) return [];
  return [`Found: ${words.join(', ')}`];
}

const BEARING_WORDS: Record<Bearing, string> = {
  fails: '',
  open: ' (cannot tell whether it fails this run)',
  allowed: ' (allowed: does not fail this run)',
};

interface Told {
  violation: Violation;
  number: number;
  bearing: Bearing;
  theory: string | undefined;
}

/** The theory behind its blame, with where to read more; undefined where there is none, or it is among those told already. */
function theoryOf({ blame }: Violation, told: Set<string>): string | undefined {
  if (blame === undefined || blame.on === 'unexplained' || told.has(blame.theory)) return undefined;
  told.add(blame.theory);
  return `${plain(blame.theory)}${blame.link === undefined ? '' : ` ${plain(blame.link)}`}`;
}

function violationLines({ violation, number, bearing, theory }: Told, paint: Paint): string[] {
  const name = `${number}. ${className(violation.class)}, ${whose(blamedOn(violation))}${knownWords(violation)}${BEARING_WORDS[bearing]}`;
  return [
    `${paint(bearing === 'fails' ? '31' : '33', name)}: ${plain(whatHappened(violation))}`,
    `   Proof: ${plain(violation.proof)}`,
    `   Why:   ${plain(violation.cause.sentence)}${violation.cause.name === 'unexplained' ? '' : ` [${plain(violation.cause.name)}]`}`,
    ...(theory === undefined ? [] : [`   Whose: ${theory}`]),
  ];
}

/** One object, for machines. Every reported violation is in it; of many that is the first of each class, and `found` has all. */
export function jsonSummary(results: Results, folder: string, reportPath?: string): JsonSummary {
  return {
    version: 2,
    runId: results.runId,
    verdict: results.verdict,
    exitStatus: results.exitStatus,
    words: results.words ?? null,
    headline: results.headline,
    reasons: results.reasons,
    strength: results.strength ?? null,
    virtualTime: results.virtualTime ?? null,
    found: results.found,
    violations: results.violations.map((violation) => ({
      class: violation.class,
      kind: violation.kind,
      key: violation.key,
      fromNs: violation.fromNs,
      untilNs: violation.untilNs,
      clients: violation.holds.map((hold) => hold.client),
      what: whatHappened(violation),
      proof: violation.proof,
      cause: violation.cause.name,
      why: violation.cause.sentence,
      blame: violation.blame ?? null,
      known: violation.known ?? null,
    })),
    ownMistakes: results.ownMistakes ?? 'unknown',
    checkers: Object.fromEntries(results.checkers.map((one) => [one.checker, one.verdict])),
    stats: results.stats,
    folder,
    report: reportPath ?? null,
    reproduce: results.reproduce,
  };
}

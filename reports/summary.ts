/** What the terminal says at the end of a run, and the object that `--json` prints. Plain text unless colour is asked for. */
import { type Bearing, bearingOf, canFail, whose } from '../harness/record/facts/blame.js';
import { className } from '../harness/record/facts/classes.js';
import { type FindingGroup, groupInWords, groupsOf } from '../harness/record/facts/groups.js';
import { fewWords, firstWords, type Tone, toneOf, verdictLines } from '../harness/record/facts/verdict-words.js';
import { count, plural } from '../harness/record/facts/words.js';
import { clipped, visible } from '../harness/record/schemas/foreign-text.js';
import { CLASSES } from '../harness/record/schemas/violation-class.js';
import type { FailOn, JsonSummary, Results } from '../harness/vocabulary/verdict.js';
import { knownWords, notesInShort, shownOfFound, whatHappened } from './words.js';
import { wrapped } from './wrap.js';

export interface SummaryInput {
  results: Results;
  /** Findings that fail a run; the others are shown as allowed. */
  failOn: readonly FailOn[];
  /** Where the HTML report is; absent: none was written. */
  reportPath?: string;
  /** ANSI colour. */
  colour?: boolean;
  /** Of the terminal, for lines that are broken at words. Absent: each line stays whole, for whoever searches or stores them. */
  columns?: number;
}

/** Causes that are told; the report has all. */
const MOST_TOLD = 5;
const LONGEST_LINE = 600;

/** Amber for what passed by what is allowed: it is no green. */
const COLOURS: Record<Tone, string> = { held: '1;32', passed: '1;33', violated: '1;31', unknown: '1;33' };

type Paint = (code: string, text: string) => string;

/**
 * Several lines without a newline at the end: the verdict, what was found by its causes, and at last, where a reader's eye is, the verdict
 * again with its counts and the report. What locks and users said is made harmless for a terminal.
 */
export function closingSummary(input: SummaryInput): string {
  const { results, failOn, columns } = input;
  const paint: Paint = input.colour === true ? (code, text) => `\u001b[${code}m${text}\u001b[0m` : (_, text) => text;
  const lines = verdictLines(results);
  const width = Math.max(...lines.map(([name]) => name.length));
  const groups = groupsOf(results.violations);
  const told = groups.slice(0, MOST_TOLD);
  const theories = new Set<string>();
  const tone = COLOURS[toneOf(results)] ?? COLOURS.unknown;
  const text = [
    `${paint(tone, plain(firstWords(results)))} (exit status ${results.exitStatus})`,
    ...lines.map(([name, line]) => `  ${`${name}:`.padEnd(width + 1)} ${plain(line)}`),
    ...(results.words?.stronger === undefined
      ? []
      : [`  For a stronger one: ${plain(results.words.stronger, Number.POSITIVE_INFINITY)}`]),
    ...(results.virtualTime === undefined ? [] : [`  ${plain(results.virtualTime)}.`]),
    ...(lines.length > 0 ? [''] : []),
    plain(results.headline),
    ...notesInShort(results.reasons).map((reason) => `${paint('33', 'Note:')} ${plain(reason)}`),
    ...told.flatMap((group, at) => ['', ...groupLines(group, at + 1, failOn, theoryOf(group, theories), paint)]),
    ...moreLines(groups.length - told.length, results),
    '',
    `Reproduce: ${plain(results.reproduce, Number.POSITIVE_INFINITY)}`,
    `${paint(tone, plain(fewWords(results)))}. ${foundWords(results, failOn)}`,
    ...(input.reportPath === undefined ? [] : [`Report: ${plain(input.reportPath, Number.POSITIVE_INFINITY)}`]),
  ].join('\n');
  return columns === undefined ? text : wrapped(text, columns);
}

/** On one line, without anything that a terminal would act on. */
function plain(text: string, longest = LONGEST_LINE): string {
  return visible(clipped(text, longest));
}

/** `Found: exclusion broken ×80, stale holder ×3 (does not fail this run).` */
function foundWords({ found }: Results, failOn: readonly FailOn[]): string {
  const words = CLASSES.flatMap((one) => {
    const times = found[one] ?? 0;
    if (times === 0) return [];
    return [`${className(one)} ×${count(times)}${canFail(one, failOn) ? '' : ' (does not fail this run)'}`];
  });
  return `Found: ${words.length === 0 ? 'nothing' : words.join(', ')}.`;
}

const BEARING_WORDS: Record<Bearing, string> = {
  fails: '',
  open: ' (cannot tell whether it fails this run)',
  allowed: ' (allowed: does not fail this run)',
};

/** The theory behind a group's blame, with where to read more; undefined where there is none, or it is among those told already. */
function theoryOf({ clearest }: FindingGroup, told: Set<string>): string | undefined {
  const { blame } = clearest.violation;
  if (blame === undefined || blame.on === 'unexplained' || told.has(blame.theory)) return undefined;
  told.add(blame.theory);
  return `${plain(blame.theory)}${blame.link === undefined ? '' : ` ${plain(blame.link)}`}`;
}

/** `1. exclusion broken, the deployment's: failover lost the write ×80, longest 1.1 s`, and the clearest of them. */
function groupLines(
  group: FindingGroup,
  number: number,
  failOn: readonly FailOn[],
  theory: string | undefined,
  paint: Paint,
): string[] {
  const { violation } = group.clearest;
  const { cause } = violation;
  const bearing = bearingOf(violation, failOn);
  const name = `${number}. ${plain(group.what)}, ${whose(group.blame)}${knownWords(violation)}${BEARING_WORDS[bearing]}`;
  return [
    `${paint(bearing === 'fails' ? '31' : '33', name)}: ${plain(groupInWords(group))}`,
    `   ${group.members.length > 1 ? 'Clearest:' : 'What:    '} ${plain(whatHappened(violation))}`,
    `   Proof:    ${plain(violation.proof)}`,
    `   Why:      ${plain(cause.sentence)}${cause.name === 'unexplained' ? '' : ` [${plain(cause.name)}]`}`,
    ...(theory === undefined ? [] : [`   Whose:    ${theory}`]),
  ];
}

/** What is not told here: causes, and violations that are counted only. */
function moreLines(causes: number, results: Results): string[] {
  const shown = shownOfFound(results);
  const lines = [
    ...(causes > 0 ? [`${plural(causes, 'more cause')} in the report.`] : []),
    ...(shown === undefined ? [] : [`All are counted; explained one by one are ${shown}.`]),
  ];
  return lines.length === 0 ? [] : ['', ...lines];
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

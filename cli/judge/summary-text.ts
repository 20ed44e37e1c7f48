/** How a series looks: a line for each run as it ends, a table of all for the terminal, the same as Markdown. Pure. */

import { join } from 'node:path';
import { strengthOf, strengthWithoutFaults } from '../../checkers/index.js';
import { className } from '../../harness/record/facts/classes.js';
import { plural } from '../../harness/record/facts/words.js';
import { BLAMES } from '../../harness/record/schemas/blame.js';
import { visible } from '../../harness/record/schemas/foreign-text.js';
import { CLASSES } from '../../harness/record/schemas/violation-class.js';
import type { ViolationClass } from '../../harness/vocabulary/verdict.js';
import { EXIT_MEANING } from '../../reports/words.js';
import type { ReproducedFinding, Reproduction } from './reproduction.js';
import { runToShow, type SeriesEnd, type SeriesRow, type SeriesSummary } from './series-summary.js';

/** `run 2 of 5, seed 43: violated, exclusion × 9 (failover-lost-write)`. */
export function rowLine(row: SeriesRow, planned: number | undefined): string {
  const which = `run ${row.n}${planned === undefined ? '' : ` of ${planned}`}, seed ${row.seed}`;
  const found = classesOf(row)
    .map(({ name, times, causes }) => `, ${name} × ${times} (${causes.join(', ')})`)
    .join('');
  const reproduced = row.reproduced === undefined ? '' : row.reproduced ? ', reproduced' : ', not reproduced';
  return visible(`${which}: ${verdictCell(row)}${found}${reproduced}`);
}

/** The end of a series, for a terminal. Without a newline at the end. */
export function summaryText(summary: SeriesSummary, summaryFile?: string): string {
  const shown = runToShow(summary.runs);
  const several = summary.planned !== 1;
  return [
    ...(several ? ['', ...textTable(summary)] : []),
    '',
    ...sentences(summary).map(visible),
    ...(several && shown ? ['', ...showLines(shown).map(visible)] : []),
    ...(summaryFile === undefined ? [] : [`Summary: ${visible(summaryFile)}`]),
  ].join('\n');
}

/** `summary.md`. `folderOf`: where a run's folder is, as the page links to it. */
export function summaryMarkdown(
  summary: SeriesSummary,
  title: string,
  folderOf: (run: string) => string = (run) => `../${run}`,
): string {
  const [head, ...rows] = table(summary);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const linked = (cells: readonly string[], at: number) => {
    const { runId } = summary.runs[at]!;
    return cells.map((cell) => (cell === runId ? `[${runId}](${folderOf(runId)}/report.html)` : markdownCell(cell)));
  };
  const shown = runToShow(summary.runs);
  return [
    `# ${title}`,
    '',
    ...sentences(summary).map((sentence) => `${visible(sentence)}  `),
    '',
    line(head!),
    `| ${head!.map(() => '---').join(' | ')} |`,
    ...rows.map((cells, at) => line(linked(cells, at))),
    '',
    ...(shown ? ['```', ...showLines(shown).map(visible), '```', ''] : []),
  ].join('\n');
}

// ---------------------------------------------------------------------------------------------------------- sentences

/** What a series came to. */
export function sentences(summary: SeriesSummary): string[] {
  const { reproduction, planned, exitStatus } = summary;
  const again = reproduction ? reproductionLines(reproduction) : [];
  // What a single run came to, it has said itself.
  if (reproduction && planned === 1) return again;
  return [
    ...again,
    `${countsSentence(summary)} ${ENDED[summary.ended](summary)}`.trim(),
    ...togetherSentence(summary),
    `Exit status ${exitStatus}: ${exitStatus === 3 ? 'a run could not be made' : EXIT_MEANING[exitStatus]}.`,
  ];
}

/** What they are worth together, where all of them held: each alone may be weak. What was struck in virtual time is counted apart. */
function togetherSentence({ runs }: SeriesSummary): string[] {
  if (runs.length < 2 || !runs.every(({ verdict, passed }) => verdict === 'held' && !passed)) return [];
  const virtual = runs.filter(({ virtualTime }) => virtualTime);
  const real = runs.filter(({ virtualTime }) => !virtualTime);
  return [...together(real, virtual.length > 0 ? ', in real time' : ''), ...together(virtual, ', in virtual time')];
}

function together(runs: readonly SeriesRow[], where: string): string[] {
  const sum = (of: 'holds' | 'strikes' | 'struckHolds') => runs.reduce((total, row) => total + (row[of] ?? 0), 0);
  const [strikes, struckHolds] = [sum('strikes'), sum('struckHolds')];
  // Of runs of an earlier version nobody has counted by how many strikes their holds were struck.
  if (runs.some((row) => (row.struckHolds ?? 0) > 0 && row.strikes === undefined)) return [];
  const strength = struckHolds > 0 ? strengthOf({ strikes, struckHolds }) : strengthWithoutFaults(sum('holds'));
  return strength === undefined ? [] : [`Together: ${strength}${where}.`];
}

function countsSentence({ counts, runs }: SeriesSummary): string {
  const passed = runs.filter((row) => row.passed).length;
  const held = counts.held - passed;
  const others = [
    held > 0 ? `${held} held` : '',
    passed > 0 ? `${passed} passed with what is allowed` : '',
    counts.unknown > 0 ? `${counts.unknown} cannot tell` : '',
    counts['could-not-run'] > 0 ? `${counts['could-not-run']} could not run` : '',
  ].filter((part) => part !== '');
  return `${counts.violated} of ${plural(runs.length, 'run')} violated${others.map((part) => `, ${part}`).join('')}.`;
}

const ENDED: Record<SeriesEnd, (summary: SeriesSummary) => string> = {
  running: ({ planned }) => (planned === null ? 'More are to come.' : `${planned} are to be made.`),
  complete: () => '',
  found: ({ planned, runs }) =>
    planned !== null && runs.length < planned ? `Ended there: ${planned} were to be made at most.` : '',
  interrupted: ({ planned, runs }) =>
    `Ended by the user${planned === null ? '' : ` before all ${planned} were made`}${runs.at(-1)?.cutShort ? '; the last was cut short' : ''}.`,
  'could-not-run': ({ planned }) =>
    `Ended because one could not be set up${planned === null ? '' : ` (${planned} were to be made)`}.`,
};

function reproductionLines(of: Reproduction): string[] {
  const replays = `${of.k} of ${plural(of.n, 'replay')} of ${of.of}`;
  const notCounted = of.notCounted > 0 ? ` (${of.notCounted} more not counted: cut short, or could not run)` : '';
  const counting = of.findings.find(({ counts }) => counts);
  const what = counting
    ? `found ${className(counting.class)} again for the same cause`
    : `came to its verdict, ${of.originalVerdict}`;
  return [`${replays} ${what}${notCounted}.`, ...of.findings.map((one) => foundAgainLine(one, of))];
}

function foundAgainLine(one: ReproducedFinding, { n }: Reproduction): string {
  const before = one.original > 0 ? `${one.original} in the original` : 'not in the original';
  const aside = one.original > 0 && !one.counts ? '; does not count' : '';
  return `  ${className(one.class)} [${one.cause}]: ${before}, in ${one.replays} of ${plural(n, 'replay')}${aside}`;
}

function showLines(row: SeriesRow): string[] {
  return [
    `${row.verdict === 'violated' ? 'First violated' : 'Last'}, seed ${row.seed}: ${row.words === undefined ? row.headline : `${row.words}. ${row.headline}`}`,
    ...(row.verdict === 'could-not-run' ? [] : [`Report: ${join(row.folder, 'report.html')}`]),
    `Reproduce: ${row.reproduce}`,
  ];
}

// -------------------------------------------------------------------------------------------------------------- table

/** The head and a row for each run. */
function table({ runs, reproduction }: SeriesSummary): string[][] {
  const head = ['seed', 'verdict', 'found', 'causes', 'exit', ...(reproduction ? ['reproduced'] : []), 'run'];
  return [
    head,
    ...runs.map((row) => [
      String(row.seed),
      verdictCell(row),
      foundCell(row),
      causesCell(row),
      String(row.exitStatus),
      ...(reproduction ? [row.reproduced ? 'yes' : 'no'] : []),
      row.runId,
    ]),
  ];
}

function textTable(summary: SeriesSummary): string[] {
  const rows = table(summary).map((cells) => cells.map(visible));
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)));
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

function verdictCell({ verdict, inShort, cutShort }: SeriesRow): string {
  return `${inShort ?? verdict.replaceAll('-', ' ')}${cutShort ? ' (cut short)' : ''}`;
}

function foundCell(row: SeriesRow): string {
  return classesOf(row)
    .map(({ name, times }) => `${name} × ${times}`)
    .join(', ');
}

function causesCell(row: SeriesRow): string {
  return [...new Set(classesOf(row).flatMap(({ causes }) => causes))].join(', ');
}

/** What a run found: first the classes of the lock's own mistakes, then of what others did; of these the gravest first. */
function classesOf({ found, findings }: SeriesRow): { name: ViolationClass; times: number; causes: string[] }[] {
  const blame = ({ blame: on }: Pick<SeriesRow['findings'][number], 'blame'>) => BLAMES.indexOf(on);
  const told = [...findings].sort((a, b) => blame(a) - blame(b));
  // Of what is counted only, nothing is known of whose it is.
  const first = (name: ViolationClass) => blame(told.find((one) => one.class === name) ?? { blame: 'unexplained' });
  return CLASSES.filter((name) => (found[name] ?? 0) > 0)
    .sort((a, b) => first(a) - first(b))
    .map((name) => ({
      name,
      times: found[name]!,
      causes: [...new Set(told.filter((finding) => finding.class === name).map(({ cause }) => cause))],
    }));
}

export function markdownCell(text: string): string {
  return visible(text).replaceAll('|', '\\|');
}

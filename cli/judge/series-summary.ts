/**
 * What several runs say together: a row for each, how many violated, and which exit status follows. Pure: from judged
 * results to plain data, which is what `summary.json` and `--json` hold. How it looks is `summary-text.ts`.
 */
import { fewWords, firstWords, toneOf } from '../../harness/record/facts/verdict-words.js';
import type { Results } from '../../harness/vocabulary/verdict.js';
import type { WorkShard } from '../common/values.js';
import {
  findingsOf,
  isReproduced,
  type Original,
  type Reproduction,
  reproduction,
  type ViolationGroup,
} from './reproduction.js';

export type ExitStatus = 0 | 1 | 2 | 3;
export type RowVerdict = Results['verdict'] | 'could-not-run';

/** One run of a series. */
export interface SeriesRow {
  /** Which run of the series, from 1 on. */
  n: number;
  seed: number;
  runId: string;
  folder: string;
  verdict: RowVerdict;
  exitStatus: ExitStatus;
  /** The verdict's first words, whose mistake it is among them, and the same without the reasons; absent where it could not run. */
  words?: string;
  inShort?: string;
  /** It passed by what `--fail-on` or `--known-ok` lets through. */
  passed?: true;
  headline: string;
  /** Strikes, holds that they met, and all: what a series that held is worth by all of its runs. */
  strikes?: number;
  struckHolds?: number;
  holds?: number;
  /** It was played in virtual time: its strikes are counted apart. */
  virtualTime?: true;
  found: Results['found'];
  /** The same by class and cause. */
  findings: ViolationGroup[];
  /** The user ended it early. */
  cutShort: boolean;
  /** Of a replay: whether it found what the original had found. */
  reproduced?: boolean;
  /** The command that repeats this run alone. */
  reproduce: string;
}

/**
 * How a series ended: every run was made; the run that was looked for was found; the user ended it; one could not be
 * set up. `running`: not yet.
 */
export type SeriesEnd = 'running' | 'complete' | 'found' | 'interrupted' | 'could-not-run';

export interface SeriesSummary {
  version: 2;
  ended: SeriesEnd;
  /** Runs asked for; null: until one is violated, or the user ends it. */
  planned: number | null;
  exitStatus: ExitStatus;
  counts: Record<RowVerdict, number>;
  /** In how many runs something of a class and cause was found, and how often altogether. */
  findings: { class: ViolationGroup['class']; cause: string; runs: number; times: number }[];
  /** Of replays. */
  reproduction?: Reproduction;
  /** Which part of the runs it is; absent: all. */
  shard?: WorkShard;
  runs: SeriesRow[];
}

/** The row of a run with its judged results; without them it could not run. */
export function seriesRowOf(
  run: { n: number; seed: number; runId: string; folder: string; reproduce: string; cutShort: boolean },
  results: Results | undefined,
  original?: Original,
): SeriesRow {
  const row: SeriesRow = results
    ? {
        ...run,
        verdict: results.verdict,
        exitStatus: results.exitStatus,
        words: firstWords(results),
        inShort: fewWords(results),
        ...(toneOf(results) === 'passed' && { passed: true as const }),
        headline: results.headline,
        ...(results.stats.strikes !== undefined && { strikes: results.stats.strikes }),
        ...(results.stats.struckHolds !== undefined && { struckHolds: results.stats.struckHolds }),
        ...(results.stats.holds !== undefined && { holds: results.stats.holds }),
        ...(results.virtualTime !== undefined && { virtualTime: true as const }),
        found: results.found,
        findings: findingsOf(results.violations),
      }
    : { ...run, verdict: 'could-not-run', exitStatus: 3, headline: 'It could not run.', found: {}, findings: [] };
  return original ? { ...row, reproduced: isReproduced(original, row) } : row;
}

/** Everything that is said about a series. */
export function summarise(
  rows: readonly SeriesRow[],
  series: { ended: SeriesEnd; planned: number | undefined; original?: Original },
): SeriesSummary {
  const counts: SeriesSummary['counts'] = { violated: 0, held: 0, unknown: 0, 'could-not-run': 0 };
  for (const { verdict } of rows) counts[verdict]++;
  return {
    version: 2,
    ended: series.ended,
    planned: series.planned ?? null,
    exitStatus: exitStatusOf(rows, series.ended),
    counts,
    findings: findingsOfAll(rows),
    ...(series.original && { reproduction: reproduction(series.original, rows) }),
    runs: [...rows],
  };
}

/** Gravest first: what was proven stands, whatever became of later runs; "cannot tell" comes after that. */
const OUTRANKS: readonly ExitStatus[] = [1, 3, 2, 0];

/** A violation outranks a run that could not be set up, which outranks "cannot tell", which outranks "held". */
export function exitStatusOf(rows: readonly Pick<SeriesRow, 'exitStatus'>[], ended: SeriesEnd): ExitStatus {
  const all = rows.map((row) => row.exitStatus);
  if (ended === 'could-not-run' || rows.length === 0) all.push(3);
  return OUTRANKS.find((status) => all.includes(status))!;
}

/** The run to look at first: the first that is violated, else the last. */
export function runToShow(rows: readonly SeriesRow[]): SeriesRow | undefined {
  return rows.find((row) => row.verdict === 'violated') ?? rows.at(-1);
}

function findingsOfAll(rows: readonly SeriesRow[]): SeriesSummary['findings'] {
  const byKey = new Map<string, SeriesSummary['findings'][number]>();
  for (const { class: name, cause, times } of rows.flatMap(({ findings }) => findings)) {
    const known = byKey.get(`${name} ${cause}`) ?? { class: name, cause, runs: 0, times: 0 };
    byKey.set(`${name} ${cause}`, { ...known, runs: known.runs + 1, times: known.times + times });
  }
  return [...byKey.values()];
}

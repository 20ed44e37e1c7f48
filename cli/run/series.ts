/**
 * Runs one after the other, each in a folder of its own, and what they say together. A single run is a series of one:
 * it says nothing beside what the run itself says.
 *
 * Promises: a summary whenever there is something to sum up, however the series ended; `summary.json` and `summary.md`
 * are written after every run, so that they are there whatever happens; after a Ctrl-C no further run.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { linkLatest, writeJson, writeWhole } from '../../harness/record/store.js';
import type { Results } from '../../harness/vocabulary/verdict.js';
import { couldNotRun } from '../common/errors.js';
import { createFreshFolder } from '../common/ids.js';
import { tellStepSummary } from '../common/step-summary.js';
import type { WorkShard } from '../common/values.js';
import { openReport } from '../judge/open-report.js';
import type { Original } from '../judge/reproduction.js';
import {
  runToShow,
  type SeriesEnd,
  type SeriesRow,
  type SeriesSummary,
  seriesRowOf,
  summarise,
} from '../judge/series-summary.js';
import { rowLine, summaryMarkdown, summaryText } from '../judge/summary-text.js';
import type { PreparedRun } from './prepare-run.js';
import { StopRequests, supervise } from './supervise.js';

/** How often to run, and where to. */
export interface AskedSeries {
  times?: number;
  untilViolation: boolean;
  /** Only every so manyth of the runs; absent: all. */
  shard?: WorkShard;
  /** Where run folders go, and the series' own: an absolute path. */
  base: string;
  json: boolean;
  /** Whether the report of the run that is shown is opened at the end. */
  open?: boolean;
}

export interface Series extends AskedSeries {
  /** Makes the folder of the nth run, from 0 on. */
  prepare(n: number): Promise<PreparedRun>;
  /** The run that all of these repeat. */
  original?: Original;
}

/** Runs, says how it went, and resolves with the exit status. */
export async function runSeries(series: Series): Promise<number> {
  const { original, json } = series;
  const times = timesOf(series);
  const planned = plannedOf(series);
  const many = times !== 1;
  const asked = series.times !== undefined || series.untilViolation;
  using stop = new StopRequests(many);
  const rows: SeriesRow[] = [];
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const { shard } = series;
  const sumUp = (ended: SeriesEnd) => ({ ...summarise(rows, { ended, planned, original }), ...(shard && { shard }) });
  const file = asked ? summaryFile(series.base) : undefined;

  let ended: SeriesEnd = 'running';
  while (ended === 'running') {
    const made = await oneRun(series, rows.length, stop);
    if (typeof made === 'object') {
      rows.push(made);
      if (json && (asked || original)) print(JSON.stringify({ type: 'run', ...made }));
      if (!json && many) print(rowLine(made, times));
    }
    ended = endAfter(made, rows.length, series, stop);
    try {
      if (rows.length > 0) file?.write(sumUp(ended));
    } catch (error) {
      // What was found stands, and is still told below; but a series whose record cannot be kept does not go on.
      couldNotRun(error);
      ended = 'could-not-run';
    }
  }

  const summary = sumUp(ended);
  const shown = runToShow(rows);
  if (many && shown) linkLatest(shown.folder);
  if (file?.path !== undefined) tellStepSummary(file.path);
  else if (shown) tellStepSummary(join(shown.folder, 'summary.md'));
  // Where nothing ran, the error has said it all.
  const told = json || rows.some(({ verdict }) => verdict !== 'could-not-run');
  if ((asked || original) && told) {
    print(json ? JSON.stringify({ type: 'summary', ...summary }) : summaryText(summary, file?.path));
  }
  const report = shown && join(shown.folder, 'report.html');
  if (series.open && report !== undefined && existsSync(report)) await openReport(report);
  return summary.exitStatus;
}

/** Undefined: without end. */
export function timesOf({ times, untilViolation }: Pick<AskedSeries, 'times' | 'untilViolation'>): number | undefined {
  return times ?? (untilViolation ? undefined : 1);
}

/** How many of them are this part's. */
function plannedOf(series: AskedSeries): number | undefined {
  const times = timesOf(series);
  const { index, of } = series.shard ?? { index: 1, of: 1 };
  return times === undefined ? undefined : Math.ceil((times - index + 1) / of);
}

/** Its row, or: not even its folder could be made; the user had asked to stop before it began. Errors are printed at once. */
type Made = SeriesRow | 'no-folder' | 'not-begun';

async function oneRun(series: Series, n: number, stop: StopRequests): Promise<Made> {
  let run: PreparedRun | undefined;
  const { index, of } = series.shard ?? { index: 1, of: 1 };
  const at = n * of + index - 1;
  const row = (results?: Results): Made => {
    if (!run) return 'no-folder';
    const { runId, seed, reproduce } = run.config;
    return seriesRowOf(
      { n: at + 1, seed, runId, folder: run.folder, cutShort: stop.asked, reproduce },
      results,
      series.original,
    );
  };
  try {
    run = await series.prepare(at);
    const quiet = timesOf(series) !== 1 && !series.json;
    const ended = await supervise(run, { json: series.json, quiet }, stop);
    return ended === 'not-begun' ? ended : row(ended.results);
  } catch (error) {
    couldNotRun(error);
    return row();
  }
}

function endAfter(made: Made, count: number, series: Series, stop: StopRequests): SeriesEnd {
  if (made === 'not-begun') return 'interrupted';
  if (made === 'no-folder' || made.verdict === 'could-not-run') return 'could-not-run';
  if (series.untilViolation && isWhatWasLookedFor(made, series.original)) return 'found';
  if (count === plannedOf(series)) return 'complete';
  return stop.asked ? 'interrupted' : 'running';
}

/** The first violated run; of replays the first that found what the original had found, if it had found something. */
function isWhatWasLookedFor(row: SeriesRow, original: Original | undefined): boolean {
  return original && original.findings.length > 0 ? row.reproduced === true : row.verdict === 'violated';
}

interface SummaryFile {
  /** Undefined: nothing was written yet. */
  readonly path: string | undefined;
  write(summary: SeriesSummary): void;
}

/** In a folder beside the runs, made once there is something to write. */
function summaryFile(base: string): SummaryFile {
  let made: ReturnType<typeof createFreshFolder> | undefined;
  return {
    get path() {
      return made && join(made.folder, 'summary.md');
    },
    write(summary) {
      made ??= createFreshFolder(base, 'series');
      const { folder, id } = made;
      writeJson(folder, 'summary.json', summary);
      writeWhole(join(folder, 'summary.md'), summaryMarkdown(summary, id));
    },
  };
}

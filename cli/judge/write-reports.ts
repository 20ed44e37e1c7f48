/** Writes what a judged run gives: its reports, each whole or not at all, and the list of all runs beside it. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { conform, conformText } from '../../harness/record/schemas/conform.js';
import { describes } from '../../harness/record/schemas/describes.js';
import { foundSchema } from '../../harness/record/schemas/results.js';
import { giveBackReserve, readConfig, readResults, writeJson, writeWhole } from '../../harness/record/store.js';
import { type ReportInput, type RunRow, reports, runRow, runsPage } from '../../reports/index.js';

const NAMES = Object.keys(reports) as (keyof typeof reports)[];

/** What could not be written: file name → why. A verdict counts on whatever disk. */
export type Unwritten = Map<string, string>;

/** Writes results and reports, and then the list of runs. */
export function writeAll(folder: string, input: ReportInput): Unwritten {
  const unwritten: Unwritten = new Map();
  const attempt = (name: string, write: () => void) => {
    try {
      write();
    } catch {
      giveBackReserve(folder); // a run that was killed has left it
      try {
        write();
      } catch (error) {
        unwritten.set(name, (error as Error).message);
      }
    }
  };
  attempt('results.json', () => writeJson(folder, 'results.json', input.results));
  for (const name of NAMES) {
    const text = makeReport(folder, name, input);
    attempt(name, () => putReport(folder, name, text));
  }
  attempt('index.html', () => writeRunsIndex(dirname(folder)));
  return unwritten;
}

/** Writes the reports again; the paths of those that there are. */
export function writeReports(folder: string, input: ReportInput): string[] {
  const paths = NAMES.flatMap((name) => putReport(folder, name, makeReport(folder, name, input)));
  writeRunsIndex(dirname(folder));
  return paths;
}

function makeReport(folder: string, name: keyof typeof reports, input: ReportInput): string | undefined {
  return reports[name]({ ...input, files: filesOf(folder) });
}

/** One that this run does not have goes, if an earlier look at the same run had left it. */
function putReport(folder: string, name: string, text: string | undefined): string[] {
  const path = join(folder, name);
  if (text !== undefined) writeWhole(path, text);
  else rmSync(path, { force: true });
  return text === undefined ? [] : [path];
}

/** What a report may lead to: the run's own files and logs, without those that are empty. */
function filesOf(folder: string): string[] {
  const listed = (below: string) =>
    existsSync(join(folder, below))
      ? readdirSync(join(folder, below))
          .map((name) => join(below, name))
          .filter((name) => {
            const { size, isFile } = lookAt(join(folder, name));
            return isFile && size > 0;
          })
          .sort()
      : [];
  return [...listed('').filter((name) => !/^report\.html$|^reserve$|\.tmp$/.test(name)), ...listed('logs')];
}

function lookAt(path: string): { size: number; isFile: boolean; mtimeMs: number } {
  const stat = statSync(path, { throwIfNoEntry: false });
  return { size: stat?.size ?? 0, isFile: stat?.isFile() ?? false, mtimeMs: stat?.mtimeMs ?? 0 };
}

/** Rows of runs that have not changed since, so that a folder of a thousand runs is not read anew after each. */
const ROWS_FILE = 'index.json';

const knownRow = z.object({
  mtimeMs: z.number(),
  row: describes<RunRow>()(
    z.object({
      runId: z.string(),
      startedAt: z.string(),
      verdict: z.enum(['held', 'passed', 'violated', 'unknown', 'none']),
      words: z.string(),
      headline: z.string(),
      lock: z.string(),
      topology: z.string(),
      runtime: z.string(),
      nemesis: z.array(z.string()),
      seed: z.number(),
      timeLimitMs: z.number(),
      found: foundSchema,
      causes: z.array(z.string()),
      whose: z.string(),
      holds: z.number(),
      report: z.boolean(),
    }),
  ),
});
type KnownRow = z.output<typeof knownRow>;

const knownRows = z.object({ version: z.literal(2), runs: z.record(z.string(), knownRow) });

/** `index.html` and `index.json` of a folder of runs. Only where runs are kept, which the link `latest` tells: a run that was copied elsewhere is judged without leaving anything beside it. */
export function writeRunsIndex(base: string): void {
  if (!existsSync(join(base, 'latest', 'config.json'))) return;
  const known = readRows(join(base, ROWS_FILE));
  const rows: Record<string, KnownRow> = {};
  for (const id of readdirSync(base)) {
    const folder = join(base, id);
    if (id === 'latest' || !existsSync(join(folder, 'config.json'))) continue;
    const { mtimeMs } = lookAt(join(folder, 'results.json'));
    const before = known[id];
    // The report is written after the results: what was not there then may be now.
    if (before !== undefined && before.mtimeMs === mtimeMs && before.row.report) rows[id] = before;
    else {
      const row = readRow(folder);
      if (row !== undefined) rows[id] = { mtimeMs, row: { ...row, runId: id } };
    }
  }
  writeWhole(join(base, ROWS_FILE), `${JSON.stringify({ version: 2, runs: rows })}\n`);
  writeWhole(join(base, 'index.html'), runsPage(Object.values(rows).map(({ row }) => row)));
}

/** Undefined: a folder that cannot be read as a run is left out of the list; other reports are written all the same. */
function readRow(folder: string): RunRow | undefined {
  try {
    return runRow(readConfig(folder), readResults(folder), existsSync(join(folder, 'report.html')));
  } catch {
    return undefined;
  }
}

function readRows(path: string): Record<string, KnownRow> {
  if (!existsSync(path)) return {};
  const { value } = conformText(readFileSync(path, 'utf8'), (data) => conform(knownRows, data));
  return value?.runs ?? {}; // of another version, or damaged: the list is made anew
}

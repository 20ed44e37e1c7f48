/**
 * What several machines did of a series, of scenarios, a matrix or a self-test, as one: the rows of all parts, and what they come to
 * together. Whatever order the parts come in, the same comes out.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import * as z from 'zod';
import { BLAMES } from '../../harness/record/schemas/blame.js';
import { conform } from '../../harness/record/schemas/conform.js';
import { describes } from '../../harness/record/schemas/describes.js';
import { violationClassSchema } from '../../harness/record/schemas/violation-class.js';
import { readJson, writeJson, writeWhole } from '../../harness/record/store.js';
import { cells, nameOf } from '../../matrix/index.js';
import { type Sheet, sheetMarkdown, sheetPage } from '../../reports/index.js';
import { scenarios } from '../../scenarios/index.js';
import { UsageError } from '../common/errors.js';
import type { WorkShard } from '../common/values.js';
import { type ExitStatus, type SeriesRow, summarise } from '../judge/series-summary.js';
import { sentences, summaryMarkdown } from '../judge/summary-text.js';
import { type BatchSummary, batchHeadline } from './batch-record.js';
import type { CellRow } from './matrix-cells.js';
import { cellRow } from './matrix-file.js';
import { matrixSheet, matrixSummary } from './matrix-sheet.js';
import { type ScenarioRow, scenariosSheet, scenariosSummary } from './scenario-command.js';
import type { SelftestRow } from './selftest-jobs.js';
import { selftestSheet, selftestSummary } from './selftest-text.js';

export interface Merged {
  exitStatus: ExitStatus;
  headline: string;
  /** What leads on from there. */
  report: string;
}

/** One part: its rows, and of how many parts it is which. */
interface Part<R> {
  folder: string;
  rows: R[];
  planned: number;
  shard?: WorkShard;
}

/** What parts are there of. */
interface Kind<R> {
  /** The file that a part has. */
  file: string;
  row: z.ZodType<R>;
  /** Where a part keeps its rows. */
  field: 'rows' | 'runs';
  /** What tells a row from the others. */
  keyOf(row: R): string;
  /** In which order they stand. */
  compare(a: R, b: R): number;
  runsOf(row: R): string[];
  /** Writes what is to be kept into `folder`. */
  write(folder: string, rows: R[], planned: number, folderOf: (run: string) => string): Merged;
}

const text = z.string();
const shardSchema = z.object({ index: z.number().int().min(1), of: z.number().int().min(1) });

const scenarioRow = describes<ScenarioRow>()(
  z.object({
    scenario: text,
    server: text.optional(),
    claim: text,
    truth: text,
    went: z.enum([
      'as-written',
      'otherwise',
      'could-not-run',
      'not-tried',
      'not-played-in-virtual-time',
      'held',
      'violated',
      'cannot-tell',
    ]),
    why: text,
    run: text.optional(),
    digest: text.optional(),
  }),
);

const selftestRow = describes<SelftestRow>()(
  z.object({
    lock: text,
    canary: z.boolean(),
    shown: z.enum([
      'caught',
      'not-accused',
      'missed',
      'accused',
      'cannot-tell',
      'not-provoked',
      'could-not-run',
      'not-tried',
    ]),
    why: text,
    afterSeconds: z.number().optional(),
    story: text,
    run: text.optional(),
    seed: z.number(),
    reproduce: text.optional(),
  }),
);

const seriesRow = describes<SeriesRow>()(
  z.object({
    n: z.number(),
    seed: z.number(),
    runId: text,
    folder: text,
    verdict: z.enum(['violated', 'held', 'unknown', 'could-not-run']),
    exitStatus: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]),
    words: text.optional(),
    inShort: text.optional(),
    passed: z.literal(true).optional(),
    headline: text,
    strikes: z.number().optional(),
    struckHolds: z.number().optional(),
    holds: z.number().optional(),
    virtualTime: z.literal(true).optional(),
    found: z.partialRecord(violationClassSchema, z.number()),
    findings: z.array(z.object({ class: violationClassSchema, cause: text, blame: z.enum(BLAMES), times: z.number() })),
    cutShort: z.boolean(),
    reproduced: z.boolean().optional(),
    reproduce: text,
  }),
);

/** Of those that are told as a sheet. */
function sheetKind<R, Summary extends BatchSummary>(
  name: string,
  kind: Pick<Kind<R>, 'row' | 'keyOf' | 'compare' | 'runsOf'> & {
    summaryOf(rows: R[], planned: number): Summary;
    sheetOf(summary: Summary, id: string): Sheet;
  },
): Kind<R> {
  return {
    ...kind,
    file: `${name}.json`,
    field: 'rows',
    write(folder, rows, planned, folderOf) {
      const summary = kind.summaryOf(rows, planned);
      const sheet = { ...kind.sheetOf(summary, 'of several machines'), folderOf };
      writeJson(folder, `${name}.json`, summary);
      writeWhole(join(folder, `${name}.html`), sheetPage(sheet));
      writeWhole(join(folder, `${name}.md`), sheetMarkdown(sheet));
      return { exitStatus: summary.exitStatus, headline: batchHeadline(summary), report: `${name}.html` };
    },
  };
}

const byPlace = (places: readonly string[]) => (a: string, b: string) => places.indexOf(a) - places.indexOf(b);
const byText = (a = '', b = '') => (a < b ? -1 : a > b ? 1 : 0);
const ofRun = ({ run }: { run?: string }) => (run === undefined ? [] : [run]);

const scenarioOrder = byPlace(Object.keys(scenarios));
const cellOrder = byPlace(cells.map(nameOf));

const KINDS = {
  scenarios: sheetKind<ScenarioRow, ReturnType<typeof scenariosSummary>>('scenarios', {
    row: scenarioRow,
    keyOf: ({ scenario, server }) => `${scenario} ${server}`,
    compare: (a, b) => byText(a.server, b.server) || scenarioOrder(a.scenario, b.scenario),
    runsOf: ofRun,
    summaryOf: scenariosSummary,
    sheetOf: scenariosSheet,
  }),
  matrix: sheetKind<CellRow, ReturnType<typeof matrixSummary>>('matrix', {
    row: cellRow,
    keyOf: ({ cell, server }) => `${cell} ${server}`,
    compare: (a, b) => byText(a.server, b.server) || cellOrder(a.cell, b.cell),
    runsOf: ({ runs }) => runs.flatMap(ofRun),
    summaryOf: matrixSummary,
    sheetOf: matrixSheet,
  }),
  selftest: sheetKind<SelftestRow, ReturnType<typeof selftestSummary>>('selftest', {
    row: selftestRow,
    // The same lock may go through several things.
    keyOf: ({ lock, story, run, seed }) => `${lock} ${story} ${run ?? seed}`,
    compare: (a, b) => Number(b.canary) - Number(a.canary) || byText(a.lock, b.lock) || byText(a.story, b.story),
    runsOf: ofRun,
    summaryOf: selftestSummary,
    sheetOf: selftestSheet,
  }),
  series: {
    file: 'summary.json',
    row: seriesRow,
    field: 'runs',
    keyOf: ({ n }) => String(n),
    compare: (a, b) => a.n - b.n,
    runsOf: ({ runId }) => [runId],
    write(folder, rows, planned, folderOf) {
      const ended = rows.length < planned ? ('interrupted' as const) : ('complete' as const);
      const summary = summarise(rows, { ended, planned });
      // What was not made is not known: only a violation stands without it.
      const { exitStatus: of } = summary;
      const exitStatus: ExitStatus = rows.length < planned && of === 0 ? 2 : of;
      writeJson(folder, 'summary.json', { ...summary, exitStatus });
      writeWhole(join(folder, 'summary.md'), summaryMarkdown(summary, 'runs of several machines', folderOf));
      const [headline = ''] = sentences(summary);
      return { exitStatus, headline, report: 'summary.md' };
    },
  } satisfies Kind<SeriesRow> as Kind<SeriesRow>,
};

// biome-ignore lint/suspicious/noExplicitAny: each kind has rows of its own, which it alone reads
const ALL = Object.values(KINDS) as Kind<any>[];

/** Which kind of part lies in a folder: by its file. */
export function partsKind(folder: string): object | undefined {
  return ALL.find(({ file, field }) => existsSync(join(folder, file)) && hasRows(folder, file, field));
}

function hasRows(folder: string, file: string, field: string): boolean {
  return Array.isArray(
    readJson(folder, file, (data) => ({ value: (data as Record<string, unknown> | null)?.[field] })),
  );
}

/** Merges parts of one kind into `target`, which is there. Throws one line where they do not belong together. */
export function mergeBatches(folders: readonly string[], target: string): Merged {
  const kinds = folders.map((folder) => ({ folder, kind: partsKind(folder) as Kind<unknown> | undefined }));
  const [first] = kinds;
  for (const { folder, kind } of kinds)
    if (kind !== first!.kind || kind === undefined)
      throw new UsageError(
        `${folder} and ${first!.folder} are not parts of the same: one of them has no ${(kind ?? first!.kind)?.file}`,
      );
  const kind = first!.kind!;
  const parts = folders.map((folder) => readPart(kind, folder));
  const planned = plannedOf(parts);
  const rows = new Map(parts.flatMap((part) => part.rows).map((row) => [kind.keyOf(row), row]));
  const folderOf = new Map(
    parts.flatMap(({ folder, rows: of }) =>
      of.flatMap((row) => kind.runsOf(row).map((run) => [run, relative(target, join(dirname(folder), run))] as const)),
    ),
  );
  return kind.write(target, [...rows.values()].sort(kind.compare), planned, (run) => folderOf.get(run) ?? `../${run}`);
}

function readPart<R>({ file, row, field }: Kind<R>, folder: string): Part<R> {
  const schema = z.object({
    [field]: z.array(row),
    planned: z.number().int().min(0),
    shard: shardSchema.optional(),
  });
  const part = readJson(folder, file, (data) => conform(schema, data)) as unknown as Part<R> & Record<string, unknown>;
  const { planned, shard } = part;
  return { folder, rows: part[field] as R[], planned, ...(shard && { shard }) };
}

/** Of all parts, those that are missing included; throws where they are of different divisions. */
function plannedOf(parts: readonly Part<unknown>[]): number {
  const whole = parts[0]!.shard?.of ?? 1;
  const seen = new Map<number, number>();
  for (const { folder, planned, shard = { index: 1, of: 1 } } of parts) {
    if (shard.of !== whole) throw new UsageError(`${folder} is one of ${shard.of} parts, and others are of ${whole}`);
    const before = seen.get(shard.index);
    if (before !== undefined && before !== planned)
      throw new UsageError(`${folder} is part ${shard.index} of something else than others are`);
    seen.set(shard.index, planned);
  }
  const counted = [...seen.values()].reduce((sum, planned) => sum + planned, 0);
  // How much a part was to do that nobody has is not known, but that it was something.
  return counted + (whole - seen.size);
}

/** The parts that a user means by a folder: itself, or those right below it, as a machine leaves them in its `--out`. */
export function partsIn(folder: string, isPart: (folder: string) => boolean): string[] {
  if (isPart(folder)) return [folder];
  if (!existsSync(folder)) return [folder];
  const below = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .filter(isPart);
  return below.length > 0 ? below : [folder];
}

/** `matrix`: which lock survives which fault. Every cell is run, compared with what must come of it, and leads to its report. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { PROJECT } from '../../harness/machine/project-files.js';
import { plural } from '../../harness/record/facts/words.js';
import { conform, conformText } from '../../harness/record/schemas/conform.js';
import { describes } from '../../harness/record/schemas/describes.js';
import { inVersion2 } from '../../harness/record/version-1.js';
import type { WithServerNeeds } from '../../harness/vocabulary/topology.js';
import { type Cell, cells, externalCells, nameOf, ownCells } from '../../matrix/index.js';
import type { Sheet, SheetCell } from '../../reports/index.js';
import { scenarios } from '../../scenarios/index.js';
import { UsageError } from '../common/errors.js';
import { saying } from '../common/say.js';
import { durationMs, ofShard, type WorkShard, wholeNumberIn } from '../common/values.js';
import { mustHaveTime } from '../run/ask-run.js';
import { shardOption } from '../run/flags.js';
import { namedServer } from '../run/machine.js';
import { type BatchOptions, runBatch } from './batch.js';
import { addBatchFlags, addServersFlag, optionsByServer, type ServersFlags } from './batch-flags.js';
import { recordBatch } from './batch-record.js';
import { begun, type CellRow, decideCell, judgeCell, leaveOut } from './matrix-cells.js';
import { runWhereItCan } from './server-needs.js';
import { byServer, sideBySide } from './servers.js';

export interface MatrixFlags extends ServersFlags {
  locks?: string;
  faults?: string;
  topologies?: string;
  shard?: WorkShard;
  seeds: number;
  timeLimit: number;
  resume: string[];
}

export function addMatrixFlags(command: Command): Command {
  return addBatchFlags(
    addServersFlag(command)
      .addOption(
        new Option(
          '--locks <names>',
          'only these, as in set-nx-px,redlock; external: the libraries of other languages',
        ),
      )
      .addOption(new Option('--faults <names>', 'only these rows, as in client-paused,eviction'))
      .addOption(new Option('--topologies <names>', 'only on these'))
      .addOption(shardOption())
      .addOption(
        new Option('--seeds <n>', 'runs of a cell that must break, until it does')
          .argParser(wholeNumberIn(1, 100))
          .default(3),
      )
      .addOption(new Option('--time-limit <duration>', 'of each run').argParser(durationMs).default(20_000, '20s'))
      .addOption(
        new Option(
          '--resume <folder>',
          'a matrix that was ended early, or another shard: its cells are taken over (repeatable: this merges shards)',
        )
          .argParser((folder: string, before: string[]) => [...before, folder])
          .default([], 'none'),
      ),
  );
}

interface Summary {
  version: 2;
  exitStatus: 0 | 1 | 2 | 3;
  headline: string;
  /** Cells, those of others that were taken over included. */
  planned: number;
  shard?: WorkShard;
  rows: CellRow[];
}

/** Runs, prints the table, and resolves with the exit status. */
export async function matrixCommand(flags: MatrixFlags, { cwd }: { cwd: string }): Promise<number> {
  mustHaveTime(flags.timeLimit);
  const chosen = choose(flags);
  const done = flags.resume.flatMap((folder) => cellsOfFolder(resolve(cwd, folder)));
  const known = done.filter((row, n) => {
    const cell = cells.find((one) => nameOf(one) === row.cell);
    return cell?.expect === row.expect && done.findIndex((other) => isSame(other, row)) === n;
  });
  const rows = [...known].sort((a, b) => placeOf(a) - placeOf(b));
  const say = saying(flags);
  const batches = (await optionsByServer(flags, cwd, say)).map((options) => {
    const server = namedServer(options.machine.redis);
    const unknown = chosen.filter((cell) => !known.some((row) => isSame(row, { cell: nameOf(cell), server })));
    return {
      options,
      server,
      open: unknown.map((cell): OpenCell => ({ cell, lock: cell.lock, row: begun(cell, server), ...needsOf(cell) })),
    };
  });
  const planned = rows.length + batches.reduce((sum, { open }) => sum + open.length, 0);
  const summarise = () => ({ ...matrixSummary(rows, planned), ...(flags.shard && { shard: flags.shard }) });
  const { base } = batches[0]!.options;
  const record = recordBatch({ base, name: 'matrix', json: flags.json }, summarise, matrixSheet);
  const takenOver = rows.length > 0 ? `; ${rows.length} taken over` : '';
  say(`matrix ${record.id}: ${plural(planned - rows.length, 'cell')}, ${flags.jobs} at once${takenOver}`);
  for (const { options, server, open } of batches) {
    const ended = (row: CellRow) => {
      rows.push(row);
      const where = batches.length > 1 ? `${server}  ` : '';
      const text = `${where}${row.cell.padEnd(58)} ${inWords(row.shown)}: ${row.why}`;
      record.ended({ type: 'cell', ...row }, rows.length, planned, text);
    };
    await runWhereItCan(
      open,
      options,
      { flags, cwd, say },
      {
        run: (some, on) => runCells(some, on, flags, ended),
        lacks({ row }, why) {
          leaveOut(row, why);
          ended(row);
        },
      },
    );
  }
  return record.end();
}

function isSame(one: Pick<CellRow, 'cell' | 'server'>, other: Pick<CellRow, 'cell' | 'server'>): boolean {
  return one.cell === other.cell && one.server === other.server;
}

function placeOf(row: CellRow): number {
  return cells.findIndex((cell) => nameOf(cell) === row.cell);
}

interface OpenCell extends WithServerNeeds {
  cell: Cell;
  lock: string;
  row: CellRow;
}

/** What its play needs; what its lock does is found by who asks for both. */
function needsOf({ by }: Cell): WithServerNeeds {
  const serverNeeds = 'scenario' in by ? scenarios[by.scenario]?.serverNeeds : undefined;
  return serverNeeds ? { serverNeeds } : {};
}

/**
 * The runs of `open` on one server; `done` is called with what each cell came to. A cell that must break has several seeds, one
 * after the other, because the next is made only if it is needed.
 */
async function runCells(
  open: readonly OpenCell[],
  options: BatchOptions,
  { seeds, timeLimit }: Pick<MatrixFlags, 'seeds' | 'timeLimit'>,
  done: (row: CellRow) => void,
): Promise<void> {
  const decide = decideCell(options, PROJECT, timeLimit);
  let left = open;
  for (let round = 1; left.length > 0 && round <= seeds && !options.stop.asked; round++) {
    const again: OpenCell[] = [];
    await runBatch(left, options, decide, ({ cell, row }, run) => {
      judgeCell(row, run);
      if (row.shown === 'lacks-power' && round < seeds) again.push({ cell, lock: cell.lock, row });
      else done(row);
    });
    left = again;
  }
}

function choose({ locks, faults, topologies, shard: part }: MatrixFlags): Cell[] {
  const filter = (names: string | undefined, what: string, of: (cell: Cell) => string) => {
    if (names === undefined) return () => true;
    const wanted = names.split(',');
    const known = [...new Set(cells.map(of))];
    const unknown = wanted.find((name) => !known.includes(name));
    if (unknown !== undefined)
      throw new UsageError(`the matrix has no ${what} "${unknown}"; it has ${known.join(', ')}`);
    return (cell: Cell) => wanted.includes(of(cell));
  };
  const [pool, named] =
    locks === undefined ? [ownCells] : locks === EXTERNAL ? [externalCells] : ([cells, locks] as const);
  const filters = [
    filter(named, 'lock', ({ lock }) => lock),
    filter(faults, 'fault', ({ fault }) => fault),
    filter(topologies, 'topology', ({ topology }) => topology),
  ];
  const chosen = pool.filter((cell) => filters.every((fits) => fits(cell)));
  const mine = ofShard(chosen, part);
  if (mine.length === 0) throw new UsageError('no cell of the matrix is all of this');
  return mine;
}

/** What `--locks` calls all of those together. */
const EXTERNAL = 'external';

/** Files written before rows had kinds call every finding of liveness a deadlock. */
const cellOutcome = z
  .enum(['safe', 'exclusion', 'stale', 'harm', 'liveness', 'deadlock'])
  .transform((name) => (name === 'deadlock' ? 'liveness' : name));

export const cellRow = describes<CellRow>()(
  z.object({
    cell: z.string(),
    server: z.string().optional(),
    fault: z.string(),
    lock: z.string(),
    topology: z.string(),
    expect: cellOutcome,
    came: cellOutcome.optional(),
    kinds: z.array(z.string()).optional(),
    shown: z.enum(['as-expected', 'otherwise', 'lacks-power', 'cannot-tell', 'could-not-run', 'not-tried']),
    why: z.string(),
    reason: z.string(),
    runs: z.array(
      z.object({
        run: z.string().optional(),
        seed: z.number(),
        reproduce: z.string().optional(),
        headline: z.string().optional(),
      }),
    ),
  }),
);
const resumable = z.object({ version: z.literal(2), rows: z.array(cellRow) });

/** Cells of another matrix that need not be run again; throws a `UsageError` where the folder has none that can be read. */
export function cellsOfFolder(folder: string): CellRow[] {
  const path = join(folder, 'matrix.json');
  if (!existsSync(path)) throw new UsageError(`${folder} has no matrix.json to resume`);
  const { value, problem } = conformText(readFileSync(path, 'utf8'), (data) => conform(resumable, inVersion2(data)));
  if (problem !== undefined) throw new UsageError(`${path} cannot be read: ${problem}`);
  return value.rows.filter(({ shown }) => shown !== 'could-not-run' && shown !== 'not-tried');
}

export function matrixSummary(rows: readonly CellRow[], planned: number): Summary {
  const counted = (shown: CellRow['shown']) => rows.filter((row) => row.shown === shown).length;
  const parts: [CellRow['shown'], string][] = [
    ['otherwise', 'came out otherwise'],
    ['lacks-power', 'did not break as they must (lack of power)'],
    ['cannot-tell', 'prove nothing'],
    ['could-not-run', 'could not run'],
    ['not-tried', 'not tried, for want of what they need'],
  ];
  const tried = planned - counted('not-tried');
  const headline = [
    `${counted('as-expected')} of ${tried} cells as expected`,
    ...parts.flatMap(([shown, text]) => (counted(shown) > 0 ? [`${counted(shown)} ${text}`] : [])),
    ...(rows.length < planned ? [`${planned - rows.length} were not made`] : []),
  ].join(', ');
  const exitStatus =
    counted('otherwise') > 0
      ? 1
      : counted('could-not-run') > 0
        ? 3
        : counted('as-expected') < tried || tried === 0
          ? 2
          : 0;
  return { version: 2, exitStatus, headline, planned, rows: [...rows] };
}

export function matrixSheet({ rows, exitStatus, headline }: Summary, id: string): Sheet {
  return {
    title: `matrix ${id}`,
    state: exitStatus === 0 ? 'good' : exitStatus === 2 ? 'unknown' : 'bad',
    headline,
    tables: [
      ...sideBySide(rows, 'cell', ({ cell }) => cell, cameOutCell),
      ...byServer(rows).flatMap(({ where, rows: there }) => {
        const faults = [...new Set(there.map(({ fault }) => fault))];
        return [atAGlance(there, faults, where), ...faults.map((fault) => tableOf(fault, there, where))];
      }),
    ],
  };
}

/** Locks by faults, wherever they were shown; coloured by what came of the lock, whether or not it was expected. */
function atAGlance(rows: readonly CellRow[], faults: readonly string[], where: string): Sheet['tables'][number] {
  const locks = [...new Set(rows.map(({ lock }) => lock))];
  const cellOf = (of: readonly CellRow[]): SheetCell => {
    if (of.length === 0) return '–';
    const [run] = of.length === 1 ? of[0]!.runs.slice(-1) : [];
    return {
      text: [...new Set(of.map(cameOutAs))].join(', '),
      good: of.every(({ came }) => came === 'safe'),
      ...(run?.run !== undefined && { run: run.run }),
    };
  };
  return {
    title: `At a glance${where}`,
    columns: ['', ...faults.map(inWords)],
    rows: locks.map((lock) => [
      lock,
      ...faults.map((fault) => cellOf(rows.filter((row) => row.lock === lock && row.fault === fault))),
    ]),
  };
}

function tableOf(fault: string, rows: readonly CellRow[], where: string): Sheet['tables'][number] {
  return {
    title: `${inWords(fault)}${where}`,
    columns: ['lock', 'on', 'must be', 'came out', 'why it must', 'what was found', 'run'],
    rows: rows
      .filter((row) => row.fault === fault)
      .map((row) => {
        const { lock, topology, expect, reason, why } = row;
        const last = row.runs.at(-1);
        return [
          lock,
          topology,
          expect,
          cameOutCell(row),
          reason,
          why,
          last?.run === undefined ? '' : { text: `seed ${last.seed}`, run: last.run },
        ];
      }),
  };
}

function cameOutCell(row: CellRow): SheetCell {
  if (row.shown === 'not-tried') return inWords(row.shown);
  return { text: cameOutAs(row), good: row.shown === 'as-expected' };
}

function cameOutAs({ came, kinds, shown }: CellRow): string {
  // Of liveness its kinds tell what it was: a key that is left for a lease is no deadlock.
  const what = came === 'liveness' && kinds?.length ? `${came}: ${kinds.map(inWords).join(', ')}` : (came ?? 'nothing');
  return shown === 'as-expected' ? what : `${what} (${inWords(shown)})`;
}

function inWords(name: string): string {
  return name.replace(/-/g, ' ');
}

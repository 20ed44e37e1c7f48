/** `matrix`: which lock survives which fault. Every cell is run, compared with what must come of it, and leads to its report. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { PROJECT } from '../../harness/machine/project-files.js';
import { plural } from '../../harness/record/facts/words.js';
import { insteadOf } from '../../harness/record/schemas/names.js';
import type { ServiceName, WithServerNeeds } from '../../harness/vocabulary/topology.js';
import { parseLockSpec } from '../../lock-impl/lock-spec.js';
import {
  type Cell,
  cells,
  externalCells,
  MEASURED_FILE,
  nameOf,
  ownCells,
  publishedCells,
  serviceCells,
} from '../../matrix/index.js';
import { scenarios } from '../../scenarios/index.js';
import { UsageError } from '../common/errors.js';
import { saying } from '../common/say.js';
import { durationMs, ofShard, type WorkShard, wholeNumberIn } from '../common/values.js';
import { mustHaveTime } from '../run/ask-run.js';
import { mustBeLock } from '../run/lock-at-hand.js';
import { namedServer } from '../run/machine.js';
import { shardOption } from '../run/shared-flags.js';
import { type BatchOptions, runBatch } from './batch.js';
import { addBatchFlags, addServersFlag, optionsByServer, type ServersFlags } from './batch-flags.js';
import { recordBatch } from './batch-record.js';
import {
  begun,
  type CellRow,
  decideCell,
  judgeCell,
  lacksStrikes,
  leaveOut,
  safeWords,
  serviceOfCell,
  strikesOf,
} from './matrix-cells.js';
import { cellsOfFolder } from './matrix-file.js';
import { matrixSheet, matrixSummary, withSpaces } from './matrix-sheet.js';
import { runWhereItCan } from './server-needs.js';
import { torturedServer } from './tortured-server.js';

export interface MatrixFlags extends ServersFlags {
  locks?: string;
  services: boolean;
  faults?: string;
  topologies?: string;
  shard?: WorkShard;
  seeds: number;
  timeLimit: number;
  minStrikes?: number;
  keep?: true;
  resume: string[];
}

export function addMatrixFlags(command: Command): Command {
  return addBatchFlags(
    addServersFlag(command)
      .addOption(
        new Option(
          '--locks <names>',
          'only these, as in set-nx-px,redlock; external: the libraries of other languages; published: those of the docs’ tables',
        ),
      )
      .addOption(
        new Option('--services', 'locks on Redis and on other services, under the same faults').default(false, 'no'),
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
          '--min-strikes <n>',
          'run a safe cell again, until so many faults have met holds of it (default: one run)',
        ).argParser(wholeNumberIn(1, 1_000_000)),
      )
      .addOption(new Option('--keep', 'of a clone: put what came of them into the tables of docs/'))
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

/**
 * Runs, prints the table, and resolves with the exit status. `keep`: puts what came of them into the published tables, and resolves with how
 * many of their cells are known now.
 */
export async function matrixCommand(
  flags: MatrixFlags,
  { cwd, keep }: { cwd: string; keep: (rows: readonly CellRow[]) => Promise<{ kept: number; of: number }> },
): Promise<number> {
  mustHaveTime(flags.timeLimit);
  const chosen = choose(flags);
  if (flags.keep && !existsSync(join(PROJECT, MEASURED_FILE)))
    throw new UsageError('--keep is for a clone of the project, which has the tables: leave it out');
  const done = flags.resume.flatMap((folder) => cellsOfFolder(resolve(cwd, folder)));
  const pool = [...cells, ...variantsAmong(flags.locks)];
  const known = done.filter((row, n) => {
    const cell = pool.find((one) => nameOf(one) === row.cell);
    return cell?.expect === row.expect && done.findIndex((other) => isSame(other, row)) === n;
  });
  const placeOf = (row: CellRow) => pool.findIndex((cell) => nameOf(cell) === row.cell);
  const rows = [...known].sort((a, b) => placeOf(a) - placeOf(b));
  const say = saying(flags);
  const batches = (await optionsByServer(flags, cwd, say, mainService(chosen, flags))).map((options) => {
    const server = namedServer(options.machine.redis);
    const unknown = chosen.filter((cell) => !known.some((row) => isSame(row, { cell: nameOf(cell), server })));
    return {
      options,
      server,
      open: unknown.map((cell) => openCell(cell, server)),
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
      const text = `${where}${row.cell.padEnd(58)} ${withSpaces(row.shown)}${row.came === 'safe' ? `, ${safeWords(row)}` : ''}: ${row.why}`;
      record.ended({ type: 'cell', ...row }, rows.length, planned, text);
    };
    await runWhereItCan(
      open,
      options,
      { flags, cwd, say },
      {
        run: (some, on) => runCells(some, on, { ...flags, say }, ended),
        lacks({ row }, why) {
          leaveOut(row, why);
          ended(row);
        },
      },
    );
  }
  const exitStatus = record.end();
  if (flags.keep) {
    const { kept, of } = await keep(rows);
    say(`${kept} of ${of} cells of the tables are known`);
  }
  return exitStatus;
}

function isSame(one: Pick<CellRow, 'cell' | 'server'>, other: Pick<CellRow, 'cell' | 'server'>): boolean {
  return one.cell === other.cell && one.server === other.server;
}

interface OpenCell extends WithServerNeeds {
  cell: Cell;
  lock: string;
  service: ServiceName;
  row: CellRow;
}

/** What its play needs it says; what its lock does is found by who asks for both. */
function openCell(cell: Cell, server: string | undefined): OpenCell {
  const { by, lock } = cell;
  const serverNeeds = 'scenario' in by ? scenarios[by.scenario]?.serverNeeds : undefined;
  return { cell, lock, service: serviceOfCell(cell), row: begun(cell, server), ...(serverNeeds && { serverNeeds }) };
}

/** The service that is found before anything runs, and of which the user may name a server. Throws where they name one for several. */
function mainService(chosen: readonly Cell[], { server, redis, servers }: MatrixFlags): ServiceName {
  const services = [...new Set(chosen.map(serviceOfCell))];
  const named = server ?? redis ?? servers;
  if (services.length > 1 && named !== undefined)
    throw new UsageError(
      `${named} is no server of all of ${services.join(', ')}: leave it out, or name the --topologies of one of them`,
    );
  return services.includes('redis') ? 'redis' : services[0]!;
}

/**
 * The runs of `open` on one server; `done` is called with what each cell came to. A cell that must break has several seeds, one
 * after the other, because the next is made only if it is needed; so has one that is safe, by too few strikes.
 */
export async function runCells(
  open: readonly OpenCell[],
  options: BatchOptions,
  {
    seeds,
    timeLimit,
    minStrikes = 0,
    say,
  }: Pick<MatrixFlags, 'seeds' | 'timeLimit' | 'minStrikes'> & {
    say: (text: string) => void;
  },
  done: (row: CellRow) => void,
): Promise<void> {
  const decide = decideCell(options, PROJECT, timeLimit);
  const left = new Set(open);
  for (let round = 1; left.size > 0 && !options.stop.asked; round++) {
    await runBatch([...left], options, decide, (one, run) => {
      const { row } = one;
      const before = strikesOf(row);
      judgeCell(row, run);
      if (run.folder !== undefined) row.tortured = torturedServer(run.folder) ?? row.tortured;
      const isAgain = row.shown === 'lacks-power' ? round < seeds : lacksStrikes(row, minStrikes, before);
      if (isAgain) {
        if (row.shown === 'as-expected') say(`${row.cell}: ${strikesOf(row)} of ${minStrikes} strikes`);
        return;
      }
      left.delete(one);
      done(row);
    });
  }
  // The user asked to stop: what safe cells have shown by then counts.
  for (const { row } of left) if (row.shown === 'as-expected') done(row);
}

function choose({ locks, services, faults, topologies, shard: part }: MatrixFlags): Cell[] {
  const group = locks !== undefined && Object.hasOwn(GROUPS, locks) ? GROUPS[locks] : undefined;
  if (services && group)
    throw new UsageError(`--services and --locks ${locks} each name a group of cells: leave out one of them`);
  const all = [...cells, ...variantsAmong(locks)];
  const filter = (names: string | undefined, what: string, of: (cell: Cell) => string) => {
    if (names === undefined) return () => true;
    const wanted = names.split(',');
    const known = [...new Set(all.map(of))];
    const unknown = wanted.find((name) => !known.includes(name));
    if (unknown !== undefined) {
      const names = what === 'lock' ? [...known, ...Object.keys(GROUPS)] : known;
      throw new UsageError(`the matrix has no ${what} "${unknown}"; ${insteadOf(unknown, names)}`);
    }
    return (cell: Cell) => wanted.includes(of(cell));
  };
  const named = group ? undefined : locks;
  const pool = group ?? (services ? serviceCells : locks === undefined ? ownCells : all);
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

/**
 * Of locks that are named with a version or a form that the matrix does not have: the cells that it has of the lock. What must come of
 * them is what must come of that.
 */
export function variantsAmong(locks: string | undefined): Cell[] {
  const columns = new Set(cells.map(({ lock }) => lock));
  const others = (locks?.split(',') ?? []).filter((lock) => !columns.has(lock));
  return others.flatMap((lock) => {
    const { name } = parseLockSpec(lock);
    const of = name === lock ? [] : cells.filter((cell) => cell.lock === name);
    if (of.length > 0) mustBeLock(lock);
    return of.map((cell) => ({ ...cell, lock }));
  });
}

/** What `--locks` calls many of them together. */
const GROUPS: Readonly<Record<string, readonly Cell[]>> = { external: externalCells, published: publishedCells };

/** What cells of the matrix come to together: a summary, and the tables of its page. */
import { type Sheet, type SheetCell, sheetState } from '../../reports/index.js';
import type { WorkShard } from '../common/values.js';
import { type CellRow, safeWords } from './matrix-cells.js';
import { byServer, sideBySide } from './servers.js';

interface Summary {
  version: 2;
  exitStatus: 0 | 1 | 2 | 3;
  headline: string;
  /** Cells, those of others that were taken over included. */
  planned: number;
  shard?: WorkShard;
  rows: CellRow[];
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
    state: sheetState(exitStatus),
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
    columns: ['', ...faults.map(withSpaces)],
    rows: locks.map((lock) => [
      lock,
      ...faults.map((fault) => cellOf(rows.filter((row) => row.lock === lock && row.fault === fault))),
    ]),
  };
}

function tableOf(fault: string, rows: readonly CellRow[], where: string): Sheet['tables'][number] {
  return {
    title: `${withSpaces(fault)}${where}`,
    columns: ['lock', 'on', 'must be', 'came out', 'why it must', 'what was found', ...COSTS, 'run'],
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
          ...costCells(row),
          last?.run === undefined ? '' : { text: `seed ${last.seed}`, run: last.run },
        ];
      }),
  };
}

/** What a lock costs is shown, and not judged: of the last run, faults and a busy machine included. */
const COSTS = ['grants a second', 'of the clients least, most', 'commands for each grant'];

function costCells({ cost }: CellRow): string[] {
  if (!cost) return COSTS.map(() => '');
  const { grantsPerSecond, least, greatest, commandsPerGrant } = cost;
  return [grantsPerSecond.toFixed(1), `${least}, ${greatest}`, commandsPerGrant?.toFixed(1) ?? ''];
}

function cameOutCell(row: CellRow): SheetCell {
  if (row.shown === 'not-tried') return withSpaces(row.shown);
  return { text: cameOutAs(row), good: row.shown === 'as-expected' };
}

function cameOutAs(row: CellRow): string {
  const { came, kinds, shown } = row;
  // Of liveness its kinds tell what it was: a key that is left for a lease is no deadlock.
  const kindsOfIt = came === 'liveness' && kinds?.length ? `: ${kinds.map(withSpaces).join(', ')}` : '';
  const what = came === 'safe' ? safeWords(row) : `${came ?? 'nothing'}${kindsOfIt}`;
  return shown === 'as-expected' ? what : `${what} (${withSpaces(shown)})`;
}

/** A name of rows, faults and outcomes for people. */
export function withSpaces(name: string): string {
  return name.replace(/-/g, ' ');
}

/** A cell of the matrix: what its runs are to do, and what they come to. */

import { boundPercent, ENOUGH_STRIKES } from '../../checkers/index.js';
import { plural } from '../../harness/record/facts/words.js';
import { nameInService, topologies } from '../../harness/topologies/index.js';
import type { ServiceName } from '../../harness/vocabulary/topology.js';
import type { Results } from '../../harness/vocabulary/verdict.js';
import { type Cell, type CellOutcome, type Flags, nameOf } from '../../matrix/index.js';
import { type BatchOptions, type BatchRun, type DecideRun, decideByFlags } from './batch.js';
import { castWith, decidePlay, scenarioNamed } from './scenario-cast.js';

/** Of a run while its clients contended. */
export interface CellCost {
  grantsPerSecond: number;
  /** Grants of the client that got fewest, and of the one that got most. */
  least: number;
  greatest: number;
  /** Commands that clients sent for each grant; absent: none was seen. */
  commandsPerGrant?: number;
}

/** What came of a cell. */
export interface CellRow {
  cell: string;
  /** Where its runs were made, if the user named that. */
  server?: string;
  fault: string;
  lock: string;
  topology: string;
  expect: CellOutcome;
  /** What came of the runs; absent: nothing that could be judged. */
  came?: CellOutcome;
  /** Kinds of what was found of that class; absent: it is safe, or the row was written before rows had them. */
  kinds?: string[];
  /** Of a safe cell: the strikes of its runs; those in virtual time are counted apart. Absent: none, or nobody has counted them. */
  strikes?: number;
  virtualStrikes?: number;
  /** When it was run, YYYY-MM-DD, and on what, as that told itself: "Redis 7.0.15". Absent: by an older version, or nothing was run. */
  day?: string;
  tortured?: string;
  /** Its runs were made in virtual time. */
  virtualTime?: true;
  /** What its last run cost, which decides nothing; absent: it was not measured. */
  cost?: CellCost;
  shown: 'as-expected' | 'otherwise' | 'lacks-power' | 'cannot-tell' | 'could-not-run' | 'not-tried';
  why: string;
  reason: string;
  runs: { run?: string; seed: number; reproduce?: string; headline?: string }[];
}

/** What the runs of cells are to do; relative files in their flags are below `project`. `timeLimitMs`: of each run by flags. */
export function decideCell(
  options: Pick<BatchOptions, 'machine' | 'naming'>,
  project: string,
  timeLimitMs: number,
): DecideRun<{ cell: Cell }> {
  const byFlags = decideByFlags(options, project);
  return ({ cell }, seed) =>
    'flags' in cell.by
      ? byFlags({ argv: argvOf(cell, cell.by, timeLimitMs) }, seed)
      : decidePlay(castWith(scenarioNamed(cell.by.scenario), cell), options, seed, project);
}

function argvOf({ lock, topology, expect }: Cell, { flags }: Flags, timeLimitMs: number): string[] {
  // Of a cell that must break the first finding of its class is enough.
  const early = mustBreak(expect) ? ['--stop-at-first', '--fail-on', expect] : [];
  return [...argvOfPlace(topology), '--lock', lock, ...flags, '--time-limit', `${timeLimitMs}ms`, ...early];
}

function mustBreak(expect: CellOutcome): boolean {
  return expect !== 'safe' && expect !== 'refused';
}

/** Service and topology, as somebody types them. */
export function argvOfPlace(name: string): string[] {
  const { service } = topologies[name]!;
  return [...(service === 'redis' ? [] : ['--service', service]), '--topology', nameInService(name)];
}

/** Whose servers a cell is shown on. */
export function serviceOfCell({ topology }: Cell): ServiceName {
  return topologies[topology]!.service;
}

/** A cell of which nothing is known yet. */
export function begun(cell: Cell, server?: string): CellRow {
  const { fault, lock, topology, expect, reason } = cell;
  return {
    cell: nameOf(cell),
    ...(server !== undefined && { server }),
    fault,
    lock,
    topology,
    expect,
    shown: 'could-not-run',
    why: '',
    reason,
    day: new Date().toISOString().slice(0, 'YYYY-MM-DD'.length),
    runs: [],
  };
}

/** Says of a cell that there is no server here for it. */
export function leaveOut(row: CellRow, why: string): void {
  Object.assign(row, { shown: 'not-tried', why });
}

/** Adds a run to what is known of a cell. */
export function judgeCell(row: CellRow, run: BatchRun): void {
  const { results, runId, seed, reproduce, error, isRefused } = run;
  row.runs.push({ run: runId, seed, reproduce, headline: results?.headline });
  if (isRefused && row.expect === 'refused') {
    Object.assign(row, { came: 'refused', shown: 'as-expected', why: error });
    return;
  }
  const isSafeSoFar = row.came === 'safe' && row.shown === 'as-expected';
  if (!results) {
    // What earlier runs showed stands: this one took nothing from it.
    if (!isSafeSoFar) Object.assign(row, { shown: 'could-not-run', why: error ?? 'it could not run' });
    return;
  }
  if (results.virtualTime !== undefined) row.virtualTime = true;
  const cost = costOf(results);
  if (cost) row.cost = cost;
  const came = outcomeOf(results, row.expect);
  const why = results.headline;
  if (came === undefined) {
    if (isSafeSoFar) return;
    Object.assign(row, { shown: mustBreak(row.expect) ? 'lacks-power' : 'cannot-tell', why });
    return;
  }
  // What is to be harmed is harmed by two that hold: where only that was seen the run was too short for it.
  const isOnTheWay = row.expect === 'harm' && came === 'exclusion';
  const isTooWeak = isOnTheWay || (came === 'safe' && mustBreak(row.expect));
  const shown = came === row.expect ? 'as-expected' : isTooWeak ? 'lacks-power' : 'otherwise';
  Object.assign(row, { came, shown, why });
  if (came === 'safe') {
    delete row.kinds;
    const kind = results.virtualTime === undefined ? 'strikes' : 'virtualStrikes';
    row[kind] = (row[kind] ?? 0) + (results.stats.strikes ?? 0);
    return;
  }
  delete row.strikes;
  delete row.virtualStrikes;
  row.kinds = [...new Set(results.violations.filter((one) => one.class === came).map(({ kind }) => kind))];
}

/** Whether a safe cell is worth another run: it has fewer strikes than `least`, and its last run added some. */
export function lacksStrikes(row: CellRow, least: number, before: number): boolean {
  const now = strikesOf(row);
  return row.came === 'safe' && row.shown === 'as-expected' && now < least && now > before;
}

/** Of its runs, which are all in real time or all in virtual time. */
export function strikesOf({ strikes = 0, virtualStrikes = 0 }: CellRow): number {
  return strikes + virtualStrikes;
}

function costOf({ checkers }: Results): CellCost | undefined {
  const measured = checkers.flatMap(({ measurements = [] }) => measurements.filter(({ name }) => name === 'turnover'));
  const valuesOf = (value: string) => measured.find(({ values }) => value in values)?.values;
  const grants = valuesOf('perSecond');
  if (!grants) return undefined;
  const commandsPerGrant = valuesOf('forEachGrant')?.forEachGrant;
  return {
    ...{ grantsPerSecond: grants.perSecond!, least: grants.least!, greatest: grants.greatest! },
    ...(commandsPerGrant !== undefined && { commandsPerGrant }),
  };
}

/**
 * What a table says of a safe cell: by how many strikes, and how many of such may still go wrong, at 95 % confidence. With too few,
 * which is what one run has, a pass says little. Those in virtual time make up for none of the others.
 */
export function safeWords({ strikes = 0, virtualStrikes = 0 }: Pick<CellRow, 'strikes' | 'virtualStrikes'>): string {
  const counted = [
    ...(strikes > 0 ? [worth(strikes, 'strike')] : []),
    ...(virtualStrikes > 0 ? [worth(virtualStrikes, 'strike in virtual time', 'strikes in virtual time')] : []),
  ].join('; ');
  if (strikes >= ENOUGH_STRIKES) return `safe (${counted})`;
  if (virtualStrikes >= ENOUGH_STRIKES) return `safe, in virtual time (${counted})`;
  return counted === '' ? 'safe (weak)' : `safe (weak: ${counted})`;
}

function worth(count: number, what: string, many?: string): string {
  return `${plural(count, what, many)}, ≤ ${boundPercent(count)} %`;
}

/** The gravest of what was found; undefined: nothing was, and the run proves nothing. */
function outcomeOf({ found, verdict }: Results, expect: CellOutcome): CellOutcome | undefined {
  const times = (name: keyof typeof found) => found[name] ?? 0;
  if (expect === 'harm' && times('harm') > 0) return 'harm';
  if (times('exclusion') > 0) return 'exclusion';
  if (times('harm') > 0) return 'harm';
  if (times('liveness') > 0) return 'liveness';
  if (times('stale') > 0) return 'stale';
  return verdict === 'unknown' ? undefined : 'safe';
}

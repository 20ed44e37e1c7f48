/** What a campaign's finished runs say together. Pure: the same runs give the same, in whatever order and from however many machines. */
import { boundOf } from '../../checkers/index.js';
import { plural } from '../../harness/record/facts/words.js';
import { BLAMES } from '../../harness/record/schemas/blame.js';
import type { LeastWorth } from '../../harness/vocabulary/run.js';
import type { BlameName } from '../../harness/vocabulary/verdict.js';
import type { Sheet, SheetCell } from '../../reports/index.js';
import { type ExitStatus, exitStatusOf } from '../judge/series-summary.js';
import { identityOf, type KnownFinding } from '../run/known.js';
import { apartByTime } from './apart-by-time.js';
import { byBeginning, type CellRun, type FinishedRun } from './campaign-folder.js';
import { campaignWords } from './campaign-words.js';
import { type Coverage, coverageOf } from './coverage.js';
import { type AskedOf, type Began, type CampaignBeside, earlierThan, trendOver } from './earlier.js';
import type { GridCell } from './grid.js';
import { strikesApart } from './strikes-apart.js';
import { STRUCK_COLUMNS, STRUCK_TITLE, type StruckRow, struckCells, struckRows } from './struck.js';

export interface Tally {
  cells: readonly GridCell[];
  runs: readonly CellRun[];
  known: readonly TriedAgain[];
  /** Runs that were to be made; absent: as many as there was time for. */
  planned?: number;
  /** Runs that could not be made, each with the reason. */
  failed: readonly string[];
  /** Whether what is known fails no more. */
  knownOk: boolean;
  /** What a cell of which nothing is found must have; absent: nothing is asked for. */
  atLeast?: LeastWorth | undefined;
  /** Absent: nobody can tell its parts from other campaigns. */
  asked?: AskedOf | undefined;
}

/** A known finding and the runs that tried it again. */
export interface TriedAgain {
  known: KnownFinding;
  tries: readonly FinishedRun[];
}

/** A finding over all runs, with what to keep of it. */
export interface TalliedFinding extends KnownFinding {
  state: 'new' | 'known';
  /** Whether it fails runs. */
  fails: boolean;
  /** In how many runs of how many on the same lock and topology. */
  runs: number;
  of: number;
  firstSeen: string;
  lastSeen: string;
  /** The run that `argv` and `seed` repeat, and the command. */
  runId: string;
  reproduce: string;
}

export interface CampaignSummary {
  version: 1;
  exitStatus: ExitStatus;
  headline: string;
  asked?: AskedOf;
  /** Of the cells' runs; absent: there are none. */
  began?: Began;
  findings: TalliedFinding[];
  known: { lock: string; topology: string; fingerprint: string; seen: number; tries: number; text: string }[];
  coverage: Coverage[];
  /** By fault and by how long the holds lasted. */
  struck: StruckRow[];
  failed: string[];
}

export function summariseCampaign(tally: Tally): CampaignSummary {
  const runs = [...tally.runs].sort(byBeginning);
  const known = new Set(tally.known.map((one) => identityOf(one.known)));
  const findings = findingsIn(ranIn(tally, runs), known);
  const tried = tally.known.map(triedAgain);
  const statuses = [
    ...runs.map((run) => statusOf(run, tally.cells[run.cell]!, known, tally.knownOk)),
    ...tally.known.flatMap((one) => one.tries.map((run) => statusOf(run, one.known, known, tally.knownOk))),
  ].map((exitStatus) => ({ exitStatus }));
  if (tally.failed.length > 0) statuses.push({ exitStatus: 3 });
  if (runs.length < (tally.planned ?? 0)) statuses.push({ exitStatus: 2 });
  const counted = apartByTime(tally.cells, runs);
  const coverage = counted.cells.map((cell, n) =>
    coverageOf(
      cell,
      counted.runs.filter((run) => run.cell === n),
      tally.atLeast,
    ),
  );
  if (coverage.some(({ tooFew }) => tooFew !== undefined)) statuses.push({ exitStatus: 2 });
  return {
    version: 1,
    exitStatus: exitStatusOf(statuses, 'complete'),
    headline: headlineOf(tally, findings, coverage),
    ...(tally.asked && { asked: tally.asked }),
    ...(runs.length > 0 && { began: { first: runs[0]!.startedAt, last: runs.at(-1)!.startedAt } }),
    findings,
    known: tried,
    coverage,
    struck: struckRows(counted.cells, counted.runs),
    failed: [...tally.failed],
  };
}

/** A run with what was run. */
interface Ran {
  run: FinishedRun;
  what: Pick<KnownFinding, 'lock' | 'topology' | 'argv'>;
  /** Whether it was made to see a known finding again, for which it is counted elsewhere. */
  isTry: boolean;
}

/** Those of cells, and those that tried what is known: they, too, may find what is new. */
function ranIn({ cells, known }: Tally, runs: readonly CellRun[]): Ran[] {
  return [
    ...runs.map((run) => ({ run, what: cells[run.cell]!, isTry: false })),
    ...known.flatMap((one) => one.tries.map((run) => ({ run, what: one.known, isTry: true }))),
  ].sort((a, b) => byBeginning(a.run, b.run));
}

function findingsIn(ran: readonly Ran[], known: ReadonlySet<string>): TalliedFinding[] {
  const all = new Map<string, TalliedFinding>();
  for (const { run, what, isTry } of ran) {
    const { lock, topology, argv } = what;
    for (const { fingerprint, sentence, fails } of run.found) {
      const identity = identityOf({ lock, topology, fingerprint });
      if (isTry && known.has(identity)) continue;
      const { seed, faults, runId, reproduce, startedAt } = run;
      const here = { sentence, argv, seed, faults, runId, reproduce };
      const before: TalliedFinding = all.get(identity) ?? {
        version: 1,
        lock,
        topology,
        fingerprint,
        state: known.has(identity) ? 'known' : 'new',
        of: ran.filter(
          (one) => one.what.lock === lock && one.what.topology === topology && !(one.isTry && known.has(identity)),
        ).length,
        firstSeen: startedAt,
        lastSeen: startedAt,
        ...here,
        fails: false,
        runs: 0,
      };
      all.set(identity, {
        ...before,
        ...(faults < before.faults && here),
        fails: fails || before.fails,
        runs: before.runs + 1,
        lastSeen: startedAt,
      });
    }
  }
  const rank = ({ state, fails, fingerprint }: TalliedFinding) =>
    (state === 'new' ? 0 : 20) + (fails ? 0 : 10) + BLAMES.indexOf(fingerprint.split('/')[0] as BlameName);
  return [...all.values()].sort((a, b) => rank(a) - rank(b) || (identityOf(a) < identityOf(b) ? -1 : 1));
}

/** A violated run counts as what it is without what fails it where all of that is known, and known is allowed. */
function statusOf(
  { exitStatus, found, open }: FinishedRun,
  { lock, topology }: Pick<GridCell, 'lock' | 'topology'>,
  known: ReadonlySet<string>,
  knownOk: boolean,
): ExitStatus {
  const failing = found.filter(({ fails }) => fails);
  const isKnown = failing.every(({ fingerprint }) => known.has(identityOf({ lock, topology, fingerprint })));
  return exitStatus === 1 && knownOk && failing.length > 0 && isKnown ? (open ? 2 : 0) : exitStatus;
}

function triedAgain({ known, tries }: TriedAgain): CampaignSummary['known'][number] {
  const { lock, topology, fingerprint } = known;
  const seen = tries.filter(({ found }) => found.some((one) => one.fingerprint === fingerprint)).length;
  const told = tries.filter(({ verdict }) => verdict !== 'unknown').length;
  const notSeen = told === 0 ? 'no try of it can tell' : `not seen: ${boundOf(told, 'try', 'tries')}`;
  const text = seen > 0 ? `still there: ${seen} of ${plural(tries.length, 'try', 'tries')}` : notSeen;
  return { lock, topology, fingerprint, seen, tries: tries.length, text };
}

function headlineOf(
  { runs, planned, failed }: Tally,
  findings: readonly TalliedFinding[],
  coverage: readonly Coverage[],
): string {
  const weak = coverage.filter(({ tooFew }) => tooFew !== undefined).length;
  const count = (state: TalliedFinding['state']) => findings.filter((one) => one.state === state).length;
  const of = planned === undefined ? plural(runs.length, 'run') : `${runs.length} of ${plural(planned, 'run')}`;
  return [
    `${of} made`,
    `${plural(count('new'), 'new finding')}`,
    ...(count('known') > 0 ? [`${count('known')} known`] : []),
    ...(failed.length > 0 ? [`${failed.length} could not be made`] : []),
    ...(weak > 0 ? [`${plural(weak, 'cell')} with less than asked for`] : []),
  ].join(', ');
}

// ------------------------------------------------------------------------------------------------------------- page

/** Rows of the table that shows how the campaign went on. */
const PARTS = 10;

export function campaignSheet(
  tally: Tally,
  summary: CampaignSummary,
  folderOf: (run: string) => string,
  beside: readonly CampaignBeside[] = [],
): Sheet {
  const { exitStatus, headline, findings, known, coverage, struck, failed } = summary;
  const table = (title: string, columns: string[], rows: SheetCell[][]) =>
    rows.length > 0 ? [{ title, columns, rows }] : [];
  return {
    title: 'campaign',
    state: exitStatus === 0 ? 'good' : exitStatus === 1 ? 'bad' : 'unknown',
    words: campaignWords(findings, exitStatus),
    headline,
    folderOf,
    tables: [
      ...table(
        'Findings',
        [
          '',
          'lock',
          'on',
          'blame/class/kind/cause',
          'seen in',
          'first',
          'last',
          'how, in the run of fewest faults',
          'again',
        ],
        findings.map((one) => [
          { text: one.fails ? one.state : `${one.state}, allowed`, good: one.state === 'known' || !one.fails },
          one.lock,
          one.topology,
          one.fingerprint,
          `${one.runs} of ${plural(one.of, 'run')}`,
          shownTime(one.firstSeen),
          shownTime(one.lastSeen),
          { text: one.sentence, run: one.runId },
          one.reproduce,
        ]),
      ),
      ...table(
        'Known, tried again',
        ['lock', 'on', 'blame/class/kind/cause', ''],
        known.map(({ lock, topology, fingerprint, text }) => [lock, topology, fingerprint, text]),
      ),
      ...table(
        'Coverage',
        [
          'lock',
          'on',
          'faults',
          'workload',
          'runs',
          'violated',
          'held',
          'cannot tell',
          'holds',
          'struck',
          'strikes',
          'bound',
        ],
        coverage.map(({ cell, runs, verdicts, holds, strikes, struckHolds, bound = '–', tooFew }) => [
          cell.lock,
          cell.topology,
          cell.nemesis,
          cell.hold === undefined ? cell.workload : `${cell.workload}, held ${cell.hold}`,
          ...[runs, verdicts.violated, verdicts.held, verdicts.unknown, holds, struckHolds, strikes].map(String),
          tooFew === undefined ? bound : { text: `${tooFew}: ${bound}`, good: false },
        ]),
      ),
      ...table(STRUCK_TITLE, STRUCK_COLUMNS, struckCells(struck)),
      ...table(
        'As it went on',
        ['runs', 'violated', 'cannot tell', 'findings not seen before', 'strikes'],
        trend(tally),
      ),
      ...table(
        'Beside earlier campaigns',
        ['campaign', 'began', 'runs', 'violated', 'findings', 'not seen before', 'strikes'],
        trendOver(earlierThan(summary, beside), summary),
      ),
      ...table(
        'Could not be made',
        ['why'],
        failed.map((why) => [why]),
      ),
    ],
  };
}

function shownTime(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}

function trend({ runs, cells }: Tally): SheetCell[][] {
  const sorted = [...runs].sort(byBeginning);
  const size = Math.max(1, Math.ceil(sorted.length / PARTS));
  const seen = new Set<string>();
  const rows: SheetCell[][] = [];
  for (let from = 0; from < sorted.length; from += size) {
    const part = sorted.slice(from, from + size);
    const before = seen.size;
    for (const { cell, found } of part)
      for (const { fingerprint } of found) seen.add(identityOf({ ...cells[cell]!, fingerprint }));
    const counted = (verdict: FinishedRun['verdict']) => part.filter((run) => run.verdict === verdict).length;
    const cellsOfRow = [counted('violated'), counted('unknown'), seen.size - before];
    rows.push([`${from + 1} to ${from + part.length}`, ...cellsOfRow.map(String), strikesOf(part)]);
  }
  return rows;
}

function strikesOf(runs: readonly CellRun[]): string {
  const sum = (among: readonly CellRun[]) =>
    among.length === 0 ? undefined : among.reduce((total, { strikes }) => total + strikes, 0);
  return strikesApart(sum(runs.filter((run) => !run.virtualTime)), sum(runs.filter((run) => run.virtualTime)));
}

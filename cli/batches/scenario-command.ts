/** `scenario`: plays claims on real servers, and says whether each went as its file says it must. */
import { type Command, Option } from 'commander';
import { LATE_LINK } from '../../harness/record/facts/faults.js';
import { firstWords } from '../../harness/record/facts/verdict-words.js';
import { readPlayTrouble } from '../../harness/record/store.js';
import { topologiesOfService } from '../../harness/topologies/index.js';
import type { Results } from '../../harness/vocabulary/verdict.js';
import type { Scenario } from '../../harness/vocabulary/workload.js';
import { type Sheet, type SheetCell, sheetState } from '../../reports/index.js';
import { scenarios } from '../../scenarios/index.js';
import { UsageError } from '../common/errors.js';
import { saying } from '../common/say.js';
import { nameAmong, ofShard, type WorkShard, wholeNumberIn } from '../common/values.js';
import { SEEDS } from '../run/flags.js';
import { namedServer, SIM } from '../run/machine.js';
import { shardOption } from '../run/shared-flags.js';
import { type BatchRun, runBatch } from './batch.js';
import { addBatchFlags, addServersFlag, optionsByServer, type ServersFlags } from './batch-flags.js';
import { batchHeadline, recordBatch } from './batch-record.js';
import { type Cast, type CastFlags, chosenPlays, decidePlay } from './scenario-cast.js';
import { runWhereItCan } from './server-needs.js';
import { byServer, sideBySide } from './servers.js';
import { VirtualWorlds } from './virtual-time.js';

export interface ScenarioFlags extends ServersFlags, CastFlags {
  list: boolean;
  seed?: number;
  shard?: WorkShard;
  watch: boolean;
}

export function addScenarioFlags(command: Command): Command {
  return addBatchFlags(
    addServersFlag(command)
      .argument('[names...]', 'scenarios, as --list names them')
      .addOption(new Option('--all', 'play all of them').default(false, 'no'))
      .addOption(new Option('--list', 'what there is: each claim, and what is true of it').default(false, 'no'))
      .addOption(
        new Option(
          '--lock <lock>',
          'play it with another lock than it is written for, as `run --lock`: what comes of it?',
        ),
      )
      .addOption(shardOption())
      .addOption(
        new Option('--watch', 'play again when a file of the lock changes, first what failed').default(false, 'no'),
      )
      .addOption(
        new Option('--topology <name>', 'on another topology than it is written for').argParser(
          nameAmong(topologiesOfService('redis')),
        ),
      )
      .addOption(
        new Option('--seed <n>', 'chance, which in virtual time (--runtime sim) is the whole course of events')
          .argParser(wholeNumberIn(0, SEEDS - 1))
          .default(undefined, 'drawn for each'),
      ),
  );
}

/** How one scenario went. */
export interface ScenarioRow {
  scenario: string;
  /** Where it was played, if the user named that. */
  server?: string;
  claim: string;
  truth: string;
  /**
   * `not-tried`: no server here has the commands that the play needs. `not-played-in-virtual-time`: it needs what is not there.
   * `held`, `violated`, `cannot-tell`: with a lock that it
   * was not written for nothing is expected, so this is the verdict.
   */
  went:
    | 'as-written'
    | 'otherwise'
    | 'could-not-run'
    | 'not-tried'
    | 'not-played-in-virtual-time'
    | 'held'
    | 'violated'
    | 'cannot-tell';
  /** What was found, or what was otherwise. */
  why: string;
  run?: string;
  /** In virtual time: the same where every message came at the same time. */
  digest?: string;
}

/** Plays, prints how each went, and resolves with the exit status. */
export async function scenarioCommand(
  names: readonly string[],
  flags: ScenarioFlags,
  { cwd }: { cwd: string },
): Promise<number> {
  if (flags.list) return list();
  const say = saying(flags);
  const chosen = ofShard(chosenPlays(names, flags, say), flags.shard);
  if (chosen.length === 0) throw new UsageError('there are fewer scenarios than parts: nothing is left for this one');
  return (await playScenarios(chosen, flags, cwd)).status;
}

/** Plays them, prints how each went, and resolves with that and the exit status. */
export async function playScenarios(
  chosen: readonly Cast[],
  flags: ScenarioFlags,
  cwd: string,
): Promise<{ status: number; rows: readonly ScenarioRow[] }> {
  const say = saying(flags);
  const batches = await optionsByServer(flags, cwd, say);
  using _ = batches[0]!.stop;
  await using virtual = batches[0]!.machine.runtime === SIM ? new VirtualWorlds() : undefined;
  const rows: ScenarioRow[] = [];
  const beganMs = performance.now();
  const planned = chosen.length * batches.length;
  const summarise = () => ({
    ...scenariosSummary(rows, planned, (performance.now() - beganMs) / 1e3),
    ...(flags.shard && { shard: flags.shard }),
  });
  const record = recordBatch(
    { base: batches[0]!.base, name: 'scenarios', json: flags.json },
    summarise,
    scenariosSheet,
  );
  for (const options of batches) {
    const server = namedServer(options.machine.redis);
    const ended = (row: ScenarioRow, folder?: string) => {
      rows.push(row);
      const where = batches.length > 1 ? `${server}  ` : '';
      const text = `${where}${row.scenario.padEnd(40)} ${row.went.replace(/-/g, ' ')}: ${row.why}`;
      record.ended({ type: 'run', ...row, ...(folder && { folder }) }, rows.length, planned, text);
    };
    await runWhereItCan(
      chosen,
      options,
      { flags, cwd, say },
      {
        run: (some, on) =>
          runBatch(
            some,
            { ...on, ...(virtual && { make: virtual.make }) },
            (scenario, drawn) => decidePlay(scenario, on, flags.seed ?? drawn, cwd),
            (scenario, run) => ended(rowOf(scenario, server, run), run.folder),
          ),
        lacks: (scenario, why) => ended({ ...begunRow(scenario, server), went: 'not-tried', why }),
      },
    );
  }
  return { status: record.end(), rows };
}

export function scenariosSummary(rows: readonly ScenarioRow[], planned: number, seconds?: number) {
  const counted = (went: ScenarioRow['went']) => rows.filter((row) => row.went === went).length;
  const cast = (['violated', 'cannot-tell', 'held'] as const).filter((went) => counted(went) > 0);
  const [untried, unsimulated] = [counted('not-tried'), counted('not-played-in-virtual-time')];
  const tried = planned - untried - unsimulated;
  const asWritten = `${counted('as-written')} of ${tried} went as written`;
  const notTried = [
    ...(untried > 0 ? [`${untried} not tried, for want of a server`] : []),
    ...(unsimulated > 0 ? [`${unsimulated} not played in virtual time, which lacks what they need`] : []),
  ];
  const otherwise = cast.map((went) => `${went.replace('-', ' ')} in ${counted(went)} of ${planned}`);
  return {
    version: 1 as const,
    exitStatus: statusOf(rows, planned),
    headline: [...(cast.length === 0 || counted('as-written') > 0 ? [asWritten] : []), ...otherwise, ...notTried].join(
      ', ',
    ),
    ...(seconds !== undefined && { seconds: Math.round(seconds) }),
    planned,
    rows: [...rows],
  };
}

function list(): number {
  for (const { name, claim, truth, topology, lock } of Object.values(scenarios))
    process.stdout.write(`${name}  (${lock} on ${topology})\n    claim: ${claim}\n    truth: ${truth}\n\n`);
  return 0;
}

function begunRow({ name, claim, truth }: Cast, server: string | undefined) {
  return { scenario: name, ...(server !== undefined && { server }), claim, truth };
}

function rowOf(scenario: Cast, server: string | undefined, run: BatchRun): ScenarioRow {
  const { expect } = scenario;
  const { runId, digest, lacks } = run;
  const row = { ...begunRow(scenario, server), ...(runId && { run: runId }), ...(digest && { digest }) };
  if (lacks !== undefined) return { ...row, went: 'not-played-in-virtual-time', why: `needs ${lacks}` };
  if (!run.results || !run.folder) return { ...row, went: 'could-not-run', why: run.error ?? 'it could not run' };
  const { results } = run;
  if (!expect) return { ...row, ...howItEnded(results) };
  const trouble = readPlayTrouble(run.folder) ?? unexpected({ expect }, results);
  if (trouble === undefined) return { ...row, went: 'as-written', why: results.headline };
  const late = results.reasons.find((reason) => reason.startsWith(LATE_LINK));
  return late !== undefined && results.verdict === 'unknown'
    ? { ...row, went: 'cannot-tell', why: late }
    : { ...row, went: 'otherwise', why: `${trouble} (${run.reproduce})` };
}

/** What came of a play of which it is not written what must. */
function howItEnded(results: Results): Pick<ScenarioRow, 'went' | 'why'> {
  const { verdict, headline, reasons } = results;
  return verdict === 'unknown'
    ? { went: 'cannot-tell', why: reasons[0] ?? headline }
    : { went: verdict, why: `${firstWords(results)}. ${headline}` };
}

/** What the checkers found otherwise than it is written; undefined: nothing. */
export function unexpected(
  { expect }: Pick<Scenario, 'expect'>,
  results: Pick<Results, 'violations' | 'verdict' | 'headline'>,
): string | undefined {
  const { violations, verdict } = results;
  if (expect.length === 0 && verdict !== 'held') return `the lock was to hold; ${results.headline}`;
  for (const { class: name, kind, cause } of expect) {
    const found = violations.some(
      (one) => one.class === name && (kind ?? one.kind) === one.kind && (cause ?? one.cause.name) === one.cause.name,
    );
    if (!found) return `${[name, kind, cause].filter(Boolean).join(', ')} was to be found; ${results.headline}`;
  }
  const other = violations.find((one) => !expect.some((wanted) => wanted.class === one.class));
  return other && `nothing of class ${other.class} was to be found; ${results.headline}`;
}

function isUntried({ went }: Pick<ScenarioRow, 'went'>): boolean {
  return went === 'not-tried' || went === 'not-played-in-virtual-time';
}

function statusOf(rows: readonly ScenarioRow[], planned: number): 0 | 1 | 2 | 3 {
  const some = (...ways: ScenarioRow['went'][]) => rows.some(({ went }) => ways.includes(went));
  if (some('otherwise', 'violated')) return 1;
  if (some('could-not-run')) return 3;
  const nothingTried = rows.every(isUntried);
  return some('cannot-tell') || nothingTried || rows.length < planned ? 2 : 0;
}

export function scenariosSheet(summary: ReturnType<typeof scenariosSummary>, id: string): Sheet {
  const { rows, exitStatus } = summary;
  return {
    title: `scenarios ${id}`,
    state: sheetState(exitStatus),
    headline: batchHeadline(summary),
    tables: [
      ...sideBySide(rows, 'scenario', ({ scenario }) => scenario, wentCell),
      ...byServer(rows).map(({ where, rows: there }) => ({
        title: `Claims, and what is true of them${where}`,
        columns: ['scenario', 'claim', 'truth', 'went', 'found'],
        rows: there.map((row) => [
          row.run === undefined ? row.scenario : { text: row.scenario, run: row.run },
          row.claim,
          row.truth,
          wentCell(row),
          row.why,
        ]),
      })),
    ],
  };
}

function wentCell({ went }: ScenarioRow): SheetCell {
  const text = went.replace(/-/g, ' ');
  return isUntried({ went }) ? text : { text, good: went === 'as-written' || went === 'held' };
}

/** Below the flags. */
export const SCENARIO_HELP = `
A scenario is a claim about locks and a play that shows what is true of it: clients, faults and servers as in any run, but each
step is written down (scenarios/*.ts), and so is the expected verdict. Each leaves a run folder with its report.

Examples:
  npm run torture -- scenario --list
  npm run torture -- scenario pause-between-grant-and-write
  npm run torture -- scenario --all
  npm run torture -- scenario --all --runtime sim                            in virtual time, a second or so each
  npm run torture -- scenario failover-loses-the-lock --lock ./my-lock.ts    and my lock?
  npm run torture -- scenario --all --lock reentrant                         wherever that lock makes sense
  npm run torture -- scenario --all --lock ./my-lock.ts --watch              again after each change, what failed first

With --runtime sim servers and clients live in virtual time, as in a hunt: --seed decides every message, so a play is the same each
time; what needs something that is not there (another language, say) is told by that, and not passed.

With --lock or --topology a scenario is played with something it was not written for. Nothing is expected then; it reports what was found.

Exit status: 0 all went as written (or the lock held), 1 at least one did not, 2 some were not played or cannot tell, 3 could not run.
`;

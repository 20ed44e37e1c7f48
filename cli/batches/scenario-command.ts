/** `scenario`: plays claims on real servers, and says whether each went as its file says it must. */
import { type Command, Option } from 'commander';
import { LATE_LINK } from '../../harness/record/facts/faults.js';
import { CLASSES } from '../../harness/record/schemas/violation-class.js';
import { readPlayTrouble } from '../../harness/record/store.js';
import { topologies, topologiesOfService } from '../../harness/topologies/index.js';
import type { Results } from '../../harness/vocabulary/verdict.js';
import type { Scenario } from '../../harness/vocabulary/workload.js';
import type { Sheet, SheetCell } from '../../reports/index.js';
import { scenarios } from '../../scenarios/index.js';
import { UsageError } from '../common/errors.js';
import { commandLine } from '../common/reproduce.js';
import { type Say, saying } from '../common/say.js';
import { nameAmong, ofShard, type WorkShard } from '../common/values.js';
import type { DecidedRun } from '../run/decide-run.js';
import { checkPair, fitsTopology } from '../run/deployment.js';
import { shardOption } from '../run/flags.js';
import { namedServer, namingServer } from '../run/machine.js';
import type { RunRequest } from '../run/prepare-run.js';
import { type BatchOptions, type BatchRun, runBatch } from './batch.js';
import { addBatchFlags, addServersFlag, optionsByServer, type ServersFlags } from './batch-flags.js';
import { batchHeadline, recordBatch } from './batch-record.js';
import { runWhereItCan } from './server-needs.js';
import { byServer, sideBySide } from './servers.js';

export interface ScenarioFlags extends ServersFlags {
  all: boolean;
  list: boolean;
  lock?: string;
  topology?: string;
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
   * `not-tried`: no server here has the commands that the play needs. `held`, `violated`, `cannot-tell`: with a lock that it
   * was not written for nothing is expected, so this is the verdict.
   */
  went: 'as-written' | 'otherwise' | 'could-not-run' | 'not-tried' | 'held' | 'violated' | 'cannot-tell';
  /** What was found, or what was otherwise. */
  why: string;
  run?: string;
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
            on,
            (scenario, seed) => decidePlay(scenario, on, seed, cwd),
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
  const tried = planned - counted('not-tried');
  const asWritten = `${counted('as-written')} of ${tried} went as written`;
  const notTried = counted('not-tried') > 0 ? [`${counted('not-tried')} not tried, for want of a server`] : [];
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

/** The plays asked for, with the lock and on the topology asked for. Of all of them those are left out that make no sense so. */
export function chosenPlays(names: readonly string[], { all, lock, topology }: ScenarioFlags, say: Say): Cast[] {
  const named = all ? Object.values(scenarios) : names.map(scenarioNamed);
  if (named.length === 0) throw new UsageError('which scenario? name some, or say --all; --list tells what there is');
  const cast = named.map((scenario) => castWith(scenario, { lock, topology }));
  if (!all) return cast;
  const fits = cast.filter((play) => fitsTopology(play.lock, topologies[play.topology]!));
  if (fits.length < cast.length)
    say(`note: ${cast.length - fits.length} are left out: lock ${lock} makes no sense on their topologies`);
  return fits;
}

/** A scenario as it is to be played. */
export type Cast = Omit<Scenario, 'expect'> & {
  /** Absent: it is not written what must come of it with this lock, or here. */
  expect?: Scenario['expect'];
};

/** The scenario with another lock, or on another topology, than it is written for. */
export function castWith(scenario: Scenario, other: { lock?: string; topology?: string }): Cast {
  const { lock = scenario.lock, topology = scenario.topology } = other;
  if (lock === scenario.lock && topology === scenario.topology) return scenario;
  const { expect: _, ...play } = scenario;
  return { ...play, lock, topology };
}

function list(): number {
  for (const { name, claim, truth, topology, lock } of Object.values(scenarios))
    process.stdout.write(`${name}  (${lock} on ${topology})\n    claim: ${claim}\n    truth: ${truth}\n\n`);
  return 0;
}

/** Throws where there is none. */
export function scenarioNamed(name: string): Scenario {
  const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined;
  if (!scenario) throw new UsageError(`no scenario "${name}"; known: ${Object.keys(scenarios).join(', ')}`);
  return scenario;
}

/**
 * What a play's run is to do, as far as it is not the play's own doing. Throws where the lock makes no sense there, and where
 * this machine lacks what the play needs.
 */
export function decidePlay(
  scenario: Cast,
  { machine }: Pick<BatchOptions, 'machine'>,
  seed: number,
  cwd: string,
): Pick<DecidedRun, 'request' | 'plan'> {
  const lacking = scenario.needs?.map((need) => machine.unavailable[need]).find((reason) => reason !== undefined);
  if (lacking !== undefined) throw new UsageError(`scenario ${scenario.name} is not possible here: ${lacking}`);
  const server = namingServer(machine.redis);
  return { request: requestOf(scenario, server, seed, cwd), plan: { version: 1, seed, steps: [] } };
}

function requestOf(scenario: Cast, server: readonly string[], seed: number, cwd: string): RunRequest {
  const { name, topology, lock, settings = {} } = scenario;
  checkPair(lock, topologies[topology]!);
  const { clients = 3, keys = 2, leaseMs = 2_000 } = settings;
  return {
    seed,
    scenario: name,
    topology,
    topologyOptions: {
      nodes: settings.nodes ?? 5,
      persistence: settings.persistence ?? 'rdb',
      minReplicasToWrite: settings.minReplicasToWrite ?? 0,
      ...(settings.maxmemoryPolicy && { maxmemoryPolicy: settings.maxmemoryPolicy }),
      redisConf: settings.redisConf ?? [],
    },
    lock,
    cwd,
    workload: 'mutex',
    clients,
    keys: Array.from({ length: keys }, (_, n) => `lock:${n}`),
    leaseMs,
    waitMs: 0,
    hold: { min: 0, max: 0 },
    careless: true,
    ...(settings.resource && { resource: settings.resource }),
    // Without effect: a play takes as long as it takes.
    timeLimitMs: 15_000,
    nemesis: [],
    nemesisIntervalMs: 1_000,
    failOn: [...CLASSES],
    reproduce: commandLine(['scenario', name, ...castFlags(scenario), ...server]),
  };
}

/** The flags that cast a scenario otherwise than it is written. */
function castFlags({ name, lock, topology }: Cast): string[] {
  const written = scenarios[name];
  return [
    ...(lock === written?.lock ? [] : ['--lock', lock]),
    ...(topology === written?.topology ? [] : ['--topology', topology]),
  ];
}

function begunRow({ name, claim, truth }: Cast, server: string | undefined) {
  return { scenario: name, ...(server !== undefined && { server }), claim, truth };
}

function rowOf(scenario: Cast, server: string | undefined, run: BatchRun): ScenarioRow {
  const { expect } = scenario;
  const row = { ...begunRow(scenario, server), ...(run.runId && { run: run.runId }) };
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
function howItEnded({ verdict, headline, reasons }: Results): Pick<ScenarioRow, 'went' | 'why'> {
  return verdict === 'unknown'
    ? { went: 'cannot-tell', why: reasons[0] ?? headline }
    : { went: verdict, why: headline };
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

function statusOf(rows: readonly ScenarioRow[], planned: number): 0 | 1 | 2 | 3 {
  const some = (...ways: ScenarioRow['went'][]) => rows.some(({ went }) => ways.includes(went));
  if (some('otherwise', 'violated')) return 1;
  if (some('could-not-run')) return 3;
  const nothingTried = rows.every(({ went }) => went === 'not-tried');
  return some('cannot-tell') || nothingTried || rows.length < planned ? 2 : 0;
}

export function scenariosSheet(summary: ReturnType<typeof scenariosSummary>, id: string): Sheet {
  const { rows, exitStatus } = summary;
  return {
    title: `scenarios ${id}`,
    state: exitStatus === 0 ? 'good' : exitStatus === 2 ? 'unknown' : 'bad',
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
  return went === 'not-tried' ? text : { text, good: went === 'as-written' || went === 'held' };
}

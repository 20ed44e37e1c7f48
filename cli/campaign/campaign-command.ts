/**
 * `campaign`: seeds by locks, topologies, faults and workloads under a budget, with what is known tried again first; and `merge`,
 * which makes one report of what several machines did. All that it knows stands in files, so it goes on after whatever ended it.
 */
import { randomInt } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { exclusively } from '../../harness/machine/exclusively.js';
import { firstWords } from '../../harness/record/facts/verdict-words.js';
import { plural } from '../../harness/record/facts/words.js';
import { writeJson } from '../../harness/record/store.js';
import type { Settings } from '../../harness/vocabulary/settings.js';
import { type BatchOptions, type BatchRun, decideByFlags, runBatch } from '../batches/batch.js';
import { addBatchFlags, type BatchFlags, batchOptions } from '../batches/batch-flags.js';
import { UsageError } from '../common/errors.js';
import { createFreshFolder } from '../common/ids.js';
import { saying } from '../common/say.js';
import { tellStepSummary } from '../common/step-summary.js';
import { positiveDurationMs, type WorkShard, wholeNumberIn } from '../common/values.js';
import type { Invocation } from '../run/ask-run.js';
import { type Configurable, withConfig } from '../run/config-file.js';
import { SEEDS } from '../run/flags.js';
import { identityOf, readKnown, slugOf, writeKnown } from '../run/known.js';
import { type LeastFlags, leastOf, leastOptions } from '../run/least-flags.js';
import { mustBeAtHand } from '../run/lock-at-hand.js';
import { askServer, MACHINE_SETTINGS } from '../run/machine-flags.js';
import { type ConfigFlags, configOptions, knownOkOptions, shardOption } from '../run/shared-flags.js';
import { SIGNALS, StopRequests } from '../run/supervise.js';
import {
  askedIn,
  CAMPAIGN,
  type Campaign,
  type CellRun,
  cellRunsIn,
  finishedIn,
  finishedRun,
  isFinished,
  markCutShort,
  readCampaign,
  removeUnfinished,
  runsFolder,
  toldOf,
  triesFolder,
} from './campaign-folder.js';
import { machineOf, onItsMachine } from './campaign-machine.js';
import { campaignText, write } from './campaign-report.js';
import { askCells, cellsOf, OVER_ALL_RUNS, type TypedCells } from './cells.js';
import { campaignsBeside } from './earlier.js';
import { JobOrder, jobsPlanned } from './grid.js';
import { takeKnown } from './hunt-campaign.js';
import { carryOutHunts, huntCells } from './hunt-campaign-command.js';
import { writeMissingReports } from './missing-reports.js';
import type { Tally, TriedAgain } from './tally.js';

export interface CampaignFlags extends BatchFlags, ConfigFlags, LeastFlags, TypedCells {
  for?: number;
  runs?: number;
  seed?: number;
  shard?: WorkShard;
  known?: string;
  knownTries: number;
  knownOk: boolean;
  resume?: string;
  hunt: boolean;
}

const WITH_CONFIG: Configurable = {
  name: 'campaign',
  add: addCampaignFlags,
  takes: [...MACHINE_SETTINGS, ...OVER_ALL_RUNS],
};
/** After so many runs in a row that could not be made, the next one will not be made either. */
const FAILURES_IN_A_ROW = 3;

export function addCampaignFlags(command: Command): Command {
  const options = [
    new Option('--for <duration>', 'begin runs for so long').argParser(positiveDurationMs),
    new Option('--runs <n>', 'so many runs').argParser(wholeNumberIn(1, 1_000_000)),
    new Option(
      '--locks <locks>',
      "names and files, with commas between them (default: the config's, else each topology's own)",
    ),
    new Option('--topologies <names>', "with commas between them (default: the config's, else single)"),
    new Option(
      '--faults <list>',
      "each alone, as in kill,pause:client,default (default: each of the config's, else of a topology's default, and all of them)",
    ),
    new Option('--workloads <names>', "with commas between them (default: the config's, else mutex)"),
    new Option(
      '--holds <ranges>',
      'how long clients hold, each alone, as in mixed,0.02x..0.1x,0.3x..0.9x (default: what the runs have: --hold)',
    ),
    new Option('--hunt', 'spend the budget in virtual time: --runs schedules, all faults of the list at once').default(
      false,
      'on real servers',
    ),
    new Option('--seed <n>', 'of the first run; the next have the next (default: drawn)').argParser(
      wholeNumberIn(0, SEEDS - 1),
    ),
    shardOption(),
    new Option('--known <folder>', 'findings that are known: their runs are repeated first'),
    new Option('--known-tries <n>', 'how often each').argParser(wholeNumberIn(1, 1_000)).default(3),
    ...knownOkOptions(),
    ...leastOptions(
      'a cell of which nothing is found cannot tell with fewer holds than this, over all its runs',
      'the same of strikes (faults, from injection to healing, that met a held lock), in a cell with faults',
    ),
    new Option('--resume <folder>', 'go on with a campaign that has ended, however it did'),
  ];
  for (const option of [...options, ...configOptions()]) command.addOption(option);
  return addBatchFlags(command).argument('[flags...]', 'after --: flags of `run` that all runs have');
}

/** Runs, prints what it finds, and resolves with the exit status. */
export async function campaignCommand(
  extra: readonly string[],
  typed: CampaignFlags,
  invocation: Invocation,
): Promise<number> {
  const { cwd } = invocation;
  const { flags, origin, settings = {} } = await withConfig(WITH_CONFIG, typed, invocation);
  const say = saying(flags);
  for (const line of origin) say(line);
  if (flags.knownOk && flags.known === undefined && flags.resume === undefined)
    throw new UsageError('--known-ok: nothing is known without --known <folder>');
  if (flags.for === undefined && flags.runs === undefined && flags.resume === undefined)
    throw new UsageError('a campaign has a budget: --for 8h, --runs 500, or both');
  if (flags.hunt && leastOf(typed) !== undefined)
    throw new UsageError('--min-holds and --min-strikes are for runs on real servers, not for --hunt');
  if (flags.hunt && typed.holds !== undefined)
    throw new UsageError('--holds is for runs on real servers, not for --hunt');
  const resumed = flags.resume === undefined ? undefined : resolve(cwd, flags.resume);
  const campaign = resumed === undefined ? begin(extra, flags, settings, cwd) : goOnWith(resumed, extra, typed);
  for (const lock of new Set(campaign.cells.map((cell) => cell.lock))) await mustBeAtHand(lock, cwd);
  const going = resumed === undefined ? flags : onItsMachine(flags, campaign.machine ?? {}, invocation.given);
  if (campaign.hunt) return huntCampaign(campaign, resumed, going, cwd);
  const stop = new StopRequests(true, () => [base, ...tries.map(({ base: one }) => one)].forEach(markCutShort));
  const options = { ...(await batchOptions(going, cwd, say)), stop };
  const folder = resumed ?? createFreshFolder(resolve(cwd, flags.out), 'campaign').folder;
  const base = runsFolder(folder);
  // What was found in virtual time is tried again there.
  const tries = campaign.known
    .filter(({ replay }) => replay === undefined)
    .map((known) => ({ known, base: triesFolder(folder, slugOf(known)) }));
  if (resumed === undefined) writeJson(folder, CAMPAIGN, campaign);
  return exclusively(
    `campaign ${folder}`,
    () => {
      throw new UsageError(`another lock-torture is at ${folder}`);
    },
    async () => {
      for (const one of [base, ...tries.map((of) => of.base)]) {
        removeUnfinished(one);
        await writeMissingReports(one);
      }
      const finished = cellRunsIn(folder, campaign);
      const { cells, seed } = campaign;
      say(
        `campaign ${folder}: ${plural(cells.length, 'cell')}, seeds from ${seed}; finished so far: ${plural(finished.length, 'run')}`,
      );
      return carryOut({ campaign, folder, finished, options, tries, flags: going, cwd });
    },
  );
}

/** The same in virtual time. */
async function huntCampaign(
  campaign: Campaign,
  resumed: string | undefined,
  flags: CampaignFlags,
  cwd: string,
): Promise<number> {
  const say = saying(flags);
  const folder = resumed ?? createFreshFolder(resolve(cwd, flags.out), 'campaign').folder;
  if (resumed === undefined) {
    if (flags.known !== undefined) takeKnown(campaign, resolve(cwd, flags.known), folder);
    writeJson(folder, CAMPAIGN, campaign);
  }
  const stop = new AbortController();
  for (const signal of SIGNALS) process[signal === 'SIGHUP' ? 'on' : 'once'](signal, () => stop.abort());
  const beganMs = performance.now();
  const { jobs, json, knownOk, for: forMs } = flags;
  const goesOn = () => !stop.signal.aborted && (forMs === undefined || performance.now() - beganMs < forMs);
  return exclusively(
    `campaign ${folder}`,
    () => {
      throw new UsageError(`another lock-torture is at ${folder}`);
    },
    () => {
      say(`campaign ${folder}: ${plural(campaign.cells.length, 'cell')} in virtual time, seed ${campaign.seed}`);
      const server = askServer(flags, cwd);
      return carryOutHunts({ campaign, folder, cwd, server, jobs, json, knownOk, goesOn, say });
    },
  );
}

interface Going {
  campaign: Campaign;
  folder: string;
  finished: CellRun[];
  options: BatchOptions;
  tries: { known: TriedAgain['known']; base: string }[];
  flags: CampaignFlags;
  cwd: string;
}

async function carryOut({ campaign, folder, finished, options, tries, flags, cwd }: Going): Promise<number> {
  const { json, knownOk } = flags;
  const print = (text: string) => process.stdout.write(`${text}\n`);
  const failed: string[] = [];
  const beganMs = performance.now();
  let failures = 0;
  const goesOn = () =>
    failures < FAILURES_IN_A_ROW && (flags.for === undefined || performance.now() - beganMs < flags.for);
  const decide = decideByFlags(options, cwd);
  /** False: nothing that counts. */
  const cameToEnd = ({ folder: of, error, results, seed }: BatchRun) => {
    if (results && of !== undefined && isFinished(of)) {
      failures = 0;
      return true;
    }
    if (!results) {
      failures++;
      failed.push(`seed ${seed}: ${error}`);
      process.stderr.write(`lock-torture: seed ${seed}: ${error}\n`);
    }
    return false;
  };
  const told = (type: string, what: string, run: BatchRun, count: string) => {
    const { seed, runId, results } = run;
    const line = { type, what, seed, runId, verdict: results!.verdict, headline: results!.headline };
    print(
      json ? JSON.stringify(line) : `${count}  ${what}, seed ${seed}: ${firstWords(results!)}. ${results!.headline}`,
    );
  };

  for (const { known, base } of tries) {
    const { argv, seed } = known;
    const open = Math.max(0, campaign.tries - finishedIn(base).length);
    const jobs = Array.from({ length: open }, () => ({ argv: [...argv, '--seed', String(seed)] }));
    await runBatch(jobs, { ...options, base }, decide, (_, run) => {
      if (cameToEnd(run)) told('try', identityOf(known), run, 'known');
    });
  }
  const planned = jobsPlanned(campaign);
  const beside = campaignsBeside(folder);
  const tried = tries.map(({ known, base }) => ({ known, tries: finishedIn(base) }));
  // A part has not all of what is asked for: whoever merges it asks.
  const atLeast = campaign.shard.of === 1 ? campaign.atLeast : undefined;
  // As it was written, so that all parts have the same.
  const asked = askedIn(readCampaign(folder));
  const tallied = (): Tally => ({
    cells: campaign.cells,
    runs: finished,
    known: tried,
    planned,
    failed,
    knownOk,
    atLeast,
    asked,
  });
  // A finding is new to a cell's lock on its topology; what is new anywhere is looked at first.
  const order = new JobOrder(
    campaign,
    finished.map(toldOf),
    campaign.known.map(({ fingerprint }) => fingerprint),
    goesOn,
  );
  await runBatch(
    order,
    { ...options, base: runsFolder(folder) },
    ({ cell, seed }) => decide({ argv: [...campaign.cells[cell]!.argv, '--seed', String(seed)] }, seed),
    ({ cell }, run) => {
      if (!cameToEnd(run)) return;
      const ended = { ...finishedRun(run.folder!), cell };
      finished.push(ended);
      order.tell(toldOf(ended));
      const { lock, topology, nemesis, workload, hold } = campaign.cells[cell]!;
      const count = planned === undefined ? `${finished.length}` : `${finished.length}/${planned}`;
      told(
        'run',
        `${lock} on ${topology}, ${nemesis}, ${workload}${hold === undefined ? '' : `, held ${hold}`}`,
        run,
        count,
      );
      write(folder, tallied(), beside);
    },
  );
  const summary = write(folder, tallied(), beside);
  for (const finding of summary.findings) {
    const { version, lock, topology, fingerprint, sentence, argv, seed, faults } = finding;
    if (finding.state === 'new')
      writeKnown(join(folder, 'known'), { version, lock, topology, fingerprint, sentence, argv, seed, faults });
  }
  tellStepSummary(join(folder, 'summary.md'));
  print(json ? JSON.stringify({ type: 'summary', ...summary }) : campaignText(summary, folder));
  return summary.exitStatus;
}

function begin(extra: readonly string[], flags: CampaignFlags, settings: Readonly<Settings>, cwd: string): Campaign {
  if (flags.shard && flags.seed === undefined)
    throw new UsageError('--shard needs --seed: the parts of a campaign share its seeds');
  const asked = askCells(flags, flags.hunt ? ofHunts(settings) : settings, extra, cwd);
  const cells = flags.hunt ? huntCells(asked) : cellsOf(asked);
  const atLeast = leastOf(flags);
  const known = flags.known === undefined ? [] : readKnown(resolve(cwd, flags.known));
  const concerns = (one: { lock: string; topology: string }) =>
    cells.some(({ lock, topology }) => lock === one.lock && topology === one.topology);
  return {
    version: 1,
    cells,
    seed: flags.seed ?? randomInt(0, SEEDS),
    ...(flags.runs !== undefined && { runs: flags.runs }),
    shard: flags.shard ?? { index: 1, of: 1 },
    known: known.filter(concerns),
    tries: flags.knownTries,
    ...(atLeast && !flags.hunt && { atLeast }),
    ...(flags.hunt && { hunt: true as const }),
    machine: machineOf(flags, cwd),
  };
}

/** Times and faults of a config are those of real servers. */
function ofHunts({ lock, topology, workload }: Readonly<Settings>): Settings {
  return { lock, topology, workload };
}

function goOnWith(folder: string, extra: readonly string[], flags: CampaignFlags): Campaign {
  const { locks, topologies, faults, workloads, holds, seed, shard, known, runs } = flags;
  const said =
    [locks, topologies, faults, workloads, holds, seed, shard, known, runs, leastOf(flags)].some(
      (one) => one !== undefined,
    ) || extra.length > 0;
  if (said)
    throw new UsageError('--resume goes on with what the campaign was to do; give only --for, --jobs and the machine');
  const campaign = readCampaign(folder);
  if (campaign.runs === undefined && flags.for === undefined)
    throw new UsageError('this campaign has no number of runs: say --for how long it is to go on');
  return campaign;
}

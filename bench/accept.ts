/**
 * `npm run bench -- accept <area>`: how many plain runs say what they must, over named locks and seeds. Every run is made
 * once and counts as it came out: none is repeated, and one that could not run counts as one that did not say it.
 *
 * `--resume` goes on where an earlier one ended: what its folder has already is judged again, by today's checkers. So
 * several that make some of the cases each (`--only`) can be counted together.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BatchOptions, type BatchRun, decideByFlags, runBatch } from '../cli/batches/batch.js';
import { addBatchFlags, type BatchFlags, batchOptions } from '../cli/batches/batch-flags.js';
import { type Asked, runWhereItCan } from '../cli/batches/server-needs.js';
import { UsageError } from '../cli/common/errors.js';
import { commandToReproduce } from '../cli/common/reproduce.js';
import { readRun } from '../cli/judge/judge.js';
import { readConfig } from '../harness/record/store.js';
import type { ServiceName } from '../harness/vocabulary/topology.js';
import { acceptCampaign } from './accept-campaign.js';
import { areas, type Claim, type ClaimedRuns } from './claims.js';
import { benchCommand } from './command.js';
import { print } from './print.js';

interface Job {
  name: string;
  lock: string;
  service: ServiceName;
  argv: readonly string[];
  seed: number;
}

/** One run, and which of its series' claims it says. */
interface Said {
  name: string;
  says: readonly boolean[];
}

interface AcceptFlags extends BatchFlags {
  resume?: true;
  /** Names of cases, with commas between them. */
  only?: string;
}

/** Prints a line for each run and a table of all; the process's exit status is 1 where too few said it. */
export async function benchAccept(argv: string[]): Promise<void> {
  const [first, ...rest] = argv;
  if (first === 'campaign') return acceptCampaign(rest);
  const known = `${Object.keys(areas).join(', ')}; or campaign, which has flags of its own`;
  const command = addBatchFlags(benchCommand('accept'))
    .argument('<area>', known)
    .option('--resume', 'judge what is in --out already again, and make only the runs that are not')
    .option('--only <names>', 'only these cases, with commas between them; then too few may be there to say it');
  command.parse(argv, { from: 'user' });
  const [name = ''] = command.args;
  if (!Object.hasOwn(areas, name)) throw new UsageError(`accept what? known: ${known}`);
  const flags = command.opts<AcceptFlags>();
  const asked: Asked = { flags, cwd: process.cwd(), say: (line) => process.stderr.write(`${line}\n`) };
  const options = await batchOptions(flags, asked.cwd, asked.say);
  const statuses: number[] = [];
  const only = flags.only?.split(',');
  for (const series of await areas[name]!()) {
    const cases = series.cases.filter((one) => only?.includes(one.name) ?? true);
    if (cases.length > 0) statuses.push(await count({ ...series, cases }, options, asked));
  }
  process.exitCode = Math.max(...statuses);
}

/** Makes the series' runs; resolves with the exit status: 1 where too few said it, 2 where too few ended to tell. */
async function count(series: ClaimedRuns, options: BatchOptions, asked: Asked<AcceptFlags>): Promise<number> {
  const jobs = series.seeds.flatMap((seed) =>
    series.cases.map(
      (one): Job => ({ ...one, lock: flagIn(one.argv, '--lock') ?? '', service: serviceIn(one.argv), seed }),
    ),
  );
  const all: Said[] = [];
  const ended = ({ name, seed }: Job, { results, error }: Pick<BatchRun, 'results' | 'error'>) => {
    const says = series.claims.map((claim) => results !== undefined && claim.says(results, name));
    all.push({ name, says });
    print(`${says.map(yesOrNo).join('')}${name}, seed ${seed}: ${results?.headline ?? error}`);
  };
  const there = asked.flags.resume ? recordedIn(options.base) : new Map<string, string>();
  const toMake: Job[] = [];
  for (const job of jobs) {
    const folder = there.get(commandToReproduce(job.argv, job.seed));
    if (folder === undefined) toMake.push(job);
    else ended(job, await readRun(folder));
  }
  await runWhereItCan(toMake, options, asked, {
    run(some, on) {
      const decide = decideByFlags(on, asked.cwd);
      return runBatch(some, on, (job) => decide(job, job.seed), ended);
    },
    lacks: (job, why) => ended(job, { error: why }),
  });
  print(`\n${tableOf(series, all)}`);
  const statuses = series.claims.map((claim, at) => {
    const said = saidOf(claim, at, series, all);
    const total = claim.of === 'runs' ? jobs.length : series.cases.length;
    print(`${said} of ${total} ${claim.of}: ${claim.what} (at least ${claim.least}; ${all.length} runs ended)`);
    if (said >= claim.least) return 0;
    return all.length < jobs.length ? 2 : 1;
  });
  return Math.max(...statuses);
}

/** The value of a flag; undefined: it is not there. */
function flagIn(argv: readonly string[], flag: string): string | undefined {
  const at = argv.indexOf(flag);
  return at < 0 ? undefined : argv[at + 1];
}

function serviceIn(argv: readonly string[]): ServiceName {
  return (flagIn(argv, '--service') as ServiceName | undefined) ?? 'redis';
}

/** Runs that came to their end, by the command that repeats them. */
function recordedIn(base: string): Map<string, string> {
  const folders = existsSync(base) ? readdirSync(base, { withFileTypes: true }) : [];
  const ended = folders
    .filter((one) => one.isDirectory() && existsSync(join(base, one.name, 'results.json')))
    .map((one) => join(base, one.name));
  return new Map(ended.map((folder) => [readConfig(folder).reproduce, folder]));
}

function saidOf({ of }: Claim, at: number, { cases }: ClaimedRuns, all: readonly Said[]): number {
  const said = all.filter(({ says }) => says[at]);
  return of === 'runs' ? said.length : cases.filter(({ name }) => said.some((one) => one.name === name)).length;
}

/** A line for each case, with how many of its runs said each of the claims. */
function tableOf({ cases, claims, seeds }: ClaimedRuns, all: readonly Said[]): string {
  const width = Math.max(...cases.map(({ name }) => name.length));
  const times = (name: string, at: number) => all.filter((one) => one.name === name && one.says[at]).length;
  return cases
    .map(({ name }) =>
      [name.padEnd(width), ...claims.map((_, at) => `${times(name, at)} of ${seeds.length}`)].join('  '),
    )
    .join('\n');
}

function yesOrNo(is: boolean): string {
  return is ? 'yes ' : 'no  ';
}

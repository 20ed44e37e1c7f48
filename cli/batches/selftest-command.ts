/**
 * `selftest`: does this tool catch what it must, and leave alone what it must not accuse? Every canary is tortured until it is
 * caught, its twin goes through the same, and sound locks through faults that they must survive.
 */
import { type Command, Option } from 'commander';
import { PROJECT } from '../../harness/machine/project-files.js';
import { RedisNotFoundError } from '../../harness/machine/redis-binary.js';
import { inspectServer } from '../../harness/machine/server-commands.js';
import { sounds, trials } from '../../selftest/index.js';
import { UsageError } from '../common/errors.js';
import { type Say, saying } from '../common/say.js';
import { namedServer } from '../run/machine.js';
import { type BatchOptions, type BatchRun, decideByFlags, runBatch } from './batch.js';
import { addBatchFlags, type BatchFlags, batchOptions } from './batch-flags.js';
import { recordBatch } from './batch-record.js';
import { type Job, jobsOf, judgeJob, notTried, type SelftestRow } from './selftest-jobs.js';
import { rowText, selftestSheet, summaryOf, troublesOf } from './selftest-text.js';

export interface SelftestFlags extends BatchFlags {
  quick: boolean;
  only?: string;
}

export function addSelftestFlags(command: Command): Command {
  return addBatchFlags(
    command
      .addOption(new Option('--quick', 'fewer sound locks and shorter runs: some minutes').default(false, 'no'))
      .addOption(new Option('--only <names>', 'only these locks, as in blind-del,set-nx-px')),
  );
}

/** Runs, prints the table, and resolves with the exit status. */
export async function selftestCommand(flags: SelftestFlags, { cwd }: { cwd: string }): Promise<number> {
  const say = saying(flags);
  const jobs = chosen(jobsOf(trials, sounds, flags.quick), flags.only);
  const options = await batchOptions(flags, cwd, say);
  const beganMs = performance.now();
  const rows: SelftestRow[] = [];
  const summarise = () => summaryOf(rows, jobs.length, (performance.now() - beganMs) / 1e3);
  const record = recordBatch({ base: options.base, name: 'selftest', json: flags.json }, summarise, selftestSheet);
  say(`self-test ${record.id}: ${jobs.length} runs, ${flags.jobs} at once`);

  const ended = (row: SelftestRow) => {
    rows.push(row);
    record.ended({ type: 'run', ...row }, rows.length, jobs.length, rowText(row));
  };
  for (const needs of new Set(jobs.map((job) => job.needs))) {
    if (options.stop.asked) break;
    const some = jobs.filter((job) => job.needs === needs);
    const on = await optionsFor(needs, flags, options, cwd, say);
    if ('lacks' in on) for (const job of some) ended(notTried(job, on.lacks));
    // Plans are named relative to the project.
    else await runBatch(some, on, decideByFlags(on, PROJECT), (job: Job, run: BatchRun) => ended(judgeJob(job, run)));
  }
  return record.end(troublesOf(rows));
}

/** What runs are made on whose locks need such commands: the user's server where one was named, else one that has them. */
async function optionsFor(
  needs: Job['needs'],
  flags: SelftestFlags,
  options: BatchOptions,
  cwd: string,
  say: Say,
): Promise<BatchOptions | { lacks: string }> {
  if (!needs) return options;
  const { machine, stop } = options;
  const { oneOf, server, notOn } = needs;
  const wanted = `it needs ${oneOf.join(' or ')}`;
  if (machine.runtime === 'docker') return { lacks: `${wanted}, and what a server in containers has is not asked` };
  const { kind, commands } = await inspectServer(machine.redis, oneOf);
  if (commands.length > 0 && kind !== notOn?.kind) return options;
  const named = namedServer(machine.redis);
  if (named !== undefined)
    return { lacks: commands.length > 0 ? `on ${named}: ${notOn!.because}` : `${wanted}, which ${named} has not` };
  try {
    return { ...(await batchOptions({ ...flags, server }, cwd, say)), stop };
  } catch (error) {
    if (error instanceof RedisNotFoundError) return { lacks: `${wanted}: ${error.problem}` };
    throw error;
  }
}

function chosen(jobs: readonly Job[], only: string | undefined): Job[] {
  if (only === undefined) return [...jobs];
  const names = only.split(',');
  const matches = (job: Job, name: string) => [name, `broken/${name}`, `broken/${name}-mended`].includes(job.lock);
  const unknown = names.find((name) => !jobs.some((job) => matches(job, name)));
  if (unknown !== undefined)
    throw new UsageError(
      `no lock of the self-test is called "${unknown}"; known: ${[...new Set(jobs.map(({ lock }) => lock))].join(', ')}`,
    );
  return jobs.filter((job) => names.some((name) => matches(job, name)));
}

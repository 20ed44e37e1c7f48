/**
 * `selftest`: does this tool catch what it must, and leave alone what it must not accuse? Every canary is tortured until it is
 * caught, its twin goes through the same, and sound locks through faults that they must survive.
 */
import { type Command, Option } from 'commander';
import { PROJECT } from '../../harness/machine/project-files.js';
import { insteadOf } from '../../harness/record/schemas/names.js';
import { sounds, trials } from '../../selftest/index.js';
import { UsageError } from '../common/errors.js';
import { saying } from '../common/say.js';
import { ofShard, type WorkShard } from '../common/values.js';
import { shardOption } from '../run/shared-flags.js';
import { decideByFlags, runBatch } from './batch.js';
import { addBatchFlags, type BatchFlags, batchOptions } from './batch-flags.js';
import { recordBatch } from './batch-record.js';
import { unlessNotProvoked } from './provocations.js';
import { type Job, jobsOf, judgeJob, notTried, type SelftestRow } from './selftest-jobs.js';
import { rowText, selftestSheet, selftestSummary, troublesOf } from './selftest-text.js';
import { runWhereItCan } from './server-needs.js';

export interface SelftestFlags extends BatchFlags {
  quick: boolean;
  only?: string;
  shard?: WorkShard;
}

export function addSelftestFlags(command: Command): Command {
  return addBatchFlags(
    command
      .addOption(new Option('--quick', 'fewer sound locks and shorter runs: some minutes').default(false, 'no'))
      .addOption(new Option('--only <names>', 'only these locks, as in blind-del,set-nx-px'))
      .addOption(shardOption()),
  );
}

/** Runs, prints the table, and resolves with the exit status. */
export async function selftestCommand(flags: SelftestFlags, { cwd }: { cwd: string }): Promise<number> {
  const say = saying(flags);
  const jobs = ofShard(chosen(jobsOf(trials, sounds, flags.quick), flags.only), flags.shard);
  if (jobs.length === 0) throw new UsageError('there are fewer runs than parts: nothing is left for this one');
  const options = await batchOptions(flags, cwd, say);
  const beganMs = performance.now();
  const rows: SelftestRow[] = [];
  const summarise = () => ({
    ...selftestSummary(rows, jobs.length, (performance.now() - beganMs) / 1e3),
    ...(flags.shard && { shard: flags.shard }),
  });
  const record = recordBatch({ base: options.base, name: 'selftest', json: flags.json }, summarise, selftestSheet);
  say(`self-test ${record.id}: ${jobs.length} runs, ${flags.jobs} at once`);

  const ended = (row: SelftestRow) => {
    rows.push(row);
    record.ended({ type: 'run', ...row }, rows.length, jobs.length, rowText(row));
  };
  await runWhereItCan(
    jobs,
    options,
    { flags, cwd, say },
    {
      // Plans are named relative to the project.
      run: (some, on) =>
        runBatch(some, on, decideByFlags(on, PROJECT), async (job, run) =>
          ended(await unlessNotProvoked(judgeJob(job, run), job, run)),
        ),
      lacks: (job, why) => ended(notTried(job, why)),
    },
  );
  return record.end(troublesOf(rows));
}

function chosen(jobs: readonly Job[], only: string | undefined): Job[] {
  if (only === undefined) return [...jobs];
  const names = only.split(',');
  const matches = (job: Job, name: string) => [name, `broken/${name}`, `broken/${name}-mended`].includes(job.lock);
  const unknown = names.find((name) => !jobs.some((job) => matches(job, name)));
  if (unknown !== undefined) {
    const known = [...new Set(jobs.map(({ lock }) => lock.replace(/^broken\//, '')))];
    throw new UsageError(
      `no lock of the self-test is called "${unknown}"; ${insteadOf(unknown, known, { list: 'list locks' })}`,
    );
  }
  return jobs.filter((job) => names.some((name) => matches(job, name)));
}

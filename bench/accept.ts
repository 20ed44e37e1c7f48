/**
 * `npm run bench -- accept <area>`: how many plain runs say what they must, over named locks and seeds. Every run is made
 * once and counts as it came out: none is repeated, and one that could not run counts as one that did not say it.
 */
import { Command } from 'commander';
import { type BatchOptions, decideByFlags, runBatch } from '../cli/batches/batch.js';
import { addBatchFlags, type BatchFlags, batchOptions } from '../cli/batches/batch-flags.js';
import { UsageError } from '../cli/common/errors.js';
import { blamedOn } from '../harness/record/facts/blame.js';
import type { Results } from '../harness/vocabulary/verdict.js';

/** What plain runs must say. */
interface Claim {
  what: string;
  /** Flags of `run` for each case, and what they are called. */
  cases: readonly { name: string; argv: readonly string[] }[];
  seeds: readonly number[];
  /** How many of all runs must say it. */
  least: number;
  says(results: Results): boolean;
}

/** Locks with one mistake each, in the workload of their model. */
const KNOWN_BAD: Record<string, string> = {
  'lease-in-seconds': 'mutex',
  'shared-owner': 'mutex',
  'negative-expiry': 'mutex',
  'refusal-ignored': 'mutex',
  'granted-from-memory': 'mutex',
  'swapped-arguments': 'mutex',
  'abandoned-ticket': 'mutex',
  'fence-per-client': 'fenced-resource',
  'token-before-wait': 'fenced-resource',
  'queue-jumper': 'fair',
};

const TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const TWENTY = [...TEN, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20];

const areas: Record<string, readonly Claim[]> = {
  blame: [
    {
      what: "the first thing that a plain run of a known-bad lock on single says is the lock's own mistake",
      cases: Object.entries(KNOWN_BAD).map(([name, workload]) => ({
        name,
        argv: ['--lock', `broken/${name}`, '--topology', 'single', '--workload', workload],
      })),
      seeds: [1, 2, 3],
      least: 27,
      says: ({ verdict, violations: [first] }) =>
        verdict === 'violated' && first !== undefined && blamedOn(first) === 'lock',
    },
  ],
  faults: [
    {
      what: 'a failover that is planned by Sentinel breaks exclusion, with a cause',
      cases: [{ name: 'sentinel-failover', argv: ['--topology', 'sentinel', '--nemesis', 'sentinel-failover'] }],
      seeds: TEN,
      least: 9,
      says: ({ violations }) => brokenExclusions(violations).some(({ cause }) => cause.name !== 'unexplained'),
    },
    {
      what: 'a handover by the primary breaks nothing',
      cases: [{ name: 'failover-to', argv: ['--topology', 'replica', '--nemesis', 'failover-to'] }],
      seeds: TWENTY,
      least: 20,
      says: ({ verdict, violations }) => verdict !== 'unknown' && brokenExclusions(violations).length === 0,
    },
  ],
};

function brokenExclusions(violations: Results['violations']): Results['violations'] {
  return violations.filter((one) => one.class === 'exclusion');
}

/** Prints a line for each run and a table of all; the process's exit status is 1 where too few said it. */
export async function benchAccept(argv: string[]): Promise<void> {
  const [name = '', ...rest] = argv;
  const claims = Object.hasOwn(areas, name) ? areas[name] : undefined;
  if (!claims) {
    const known = Object.entries(areas).map(([one, all]) => `${one} (${all.map(({ what }) => what).join('; ')})`);
    throw new UsageError(`accept what? known: ${known.join(', ')}`);
  }
  const command = addBatchFlags(new Command('accept')).exitOverride();
  command.parse(rest, { from: 'user' });
  const flags = command.opts<BatchFlags>();
  const options = await batchOptions(flags, process.cwd(), (line) => process.stderr.write(`${line}\n`));
  const statuses: number[] = [];
  for (const claim of claims) statuses.push(await count(claim, options));
  process.exitCode = Math.max(...statuses);
}

/** Makes the claim's runs; resolves with the exit status: 1 where too few said it, 2 where too few ended to tell. */
async function count(claim: Claim, options: BatchOptions): Promise<number> {
  const jobs = claim.seeds.flatMap((seed) =>
    claim.cases.map((one) => ({ name: one.name, argv: [...one.argv, '--seed', String(seed)] })),
  );
  const said = new Map<string, number>(claim.cases.map((one) => [one.name, 0]));
  let ended = 0;
  await runBatch(jobs, options, decideByFlags(options, process.cwd()), (job, { results, seed, error }) => {
    const yes = results !== undefined && claim.says(results);
    if (yes) said.set(job.name, said.get(job.name)! + 1);
    ended++;
    const line = `${yes ? 'yes' : 'no '} ${job.name}, seed ${seed}: ${results?.headline ?? error}`;
    process.stdout.write(`${line}\n`);
  });
  const total = [...said.values()].reduce((sum, times) => sum + times, 0);
  const width = Math.max(...[...said.keys()].map((one) => one.length));
  const table = [...said].map(([one, times]) => `${one.padEnd(width)}  ${times} of ${claim.seeds.length}`);
  process.stdout.write(
    `\n${table.join('\n')}\n${total} of ${ended} runs: ${claim.what} (at least ${claim.least} of ${jobs.length})\n`,
  );
  if (total >= claim.least) return 0;
  return ended < jobs.length ? 2 : 1;
}

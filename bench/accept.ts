/**
 * `npm run bench -- accept <area>`: how many plain runs say what they must, over named locks and seeds. Every run is made
 * once and counts as it came out: none is repeated, and one that could not run counts as one that did not say it.
 */
import { Command } from 'commander';
import { decideByFlags, runBatch } from '../cli/batches/batch.js';
import { addBatchFlags, type BatchFlags, batchOptions } from '../cli/batches/batch-flags.js';
import { UsageError } from '../cli/common/errors.js';
import { blamedOn } from '../harness/record/facts/blame.js';
import type { Results } from '../harness/vocabulary/verdict.js';

interface Area {
  summary: string;
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

const areas: Record<string, Area> = {
  blame: {
    summary: "the first thing that a plain run of a known-bad lock on single says is the lock's own mistake",
    cases: Object.entries(KNOWN_BAD).map(([name, workload]) => ({
      name,
      argv: ['--lock', `broken/${name}`, '--topology', 'single', '--workload', workload],
    })),
    seeds: [1, 2, 3],
    least: 27,
    says: ({ verdict, violations: [first] }) =>
      verdict === 'violated' && first !== undefined && blamedOn(first) === 'lock',
  },
};

/** Prints a line for each run and a table of all; the process's exit status is 1 where too few said it. */
export async function benchAccept(argv: string[]): Promise<void> {
  const [name = '', ...rest] = argv;
  const area = Object.hasOwn(areas, name) ? areas[name] : undefined;
  if (!area) {
    const known = Object.entries(areas).map(([one, { summary }]) => `${one} (${summary})`);
    throw new UsageError(`accept what? known: ${known.join('; ')}`);
  }
  const command = addBatchFlags(new Command('accept')).exitOverride();
  command.parse(rest, { from: 'user' });
  const flags = command.opts<BatchFlags>();
  const options = await batchOptions(flags, process.cwd(), (line) => process.stderr.write(`${line}\n`));
  const jobs = area.seeds.flatMap((seed) =>
    area.cases.map((one) => ({ name: one.name, argv: [...one.argv, '--seed', String(seed)] })),
  );
  const said = new Map<string, number>(area.cases.map((one) => [one.name, 0]));
  let ended = 0;
  await runBatch(jobs, options, decideByFlags(options, process.cwd()), (job, { results, seed, error }) => {
    const yes = results !== undefined && area.says(results);
    if (yes) said.set(job.name, said.get(job.name)! + 1);
    ended++;
    const line = `${yes ? 'yes' : 'no '} ${job.name}, seed ${seed}: ${results?.headline ?? error}`;
    process.stdout.write(`${line}\n`);
  });
  const total = [...said.values()].reduce((sum, times) => sum + times, 0);
  const width = Math.max(...[...said.keys()].map((one) => one.length));
  const table = [...said].map(([one, times]) => `${one.padEnd(width)}  ${times} of ${area.seeds.length}`);
  process.stdout.write(
    `\n${table.join('\n')}\n${total} of ${ended} runs: ${area.summary} (at least ${area.least} of ${jobs.length})\n`,
  );
  process.exitCode = total >= area.least ? 0 : ended < jobs.length ? 2 : 1;
}

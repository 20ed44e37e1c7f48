/** What the benches of the hunt have in common: its flags as a user gives them, and worlds to play in. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { UsageError } from '../cli/common/errors.js';
import type { Corpus } from '../cli/hunt/corpus.js';
import { type AskedHunt, addHuntFlags, askHunt, type HuntFlags } from '../cli/hunt/flags.js';
import { generationOf } from '../cli/hunt/generation.js';
import { configOf, scheduling } from '../cli/hunt/hunt-command.js';
import type { HuntSchedule } from '../cli/hunt/hunt-schedule.js';
import { coresOfThisProcess, type WorldOptions, WorldProcess } from '../cli/hunt/world-process.js';
import { putLockModule } from '../cli/run/lock-module.js';
import type { Simulation } from '../cli/run/simulation.js';

/** Throws a UsageError where a hunt cannot be asked for by these flags. */
export function askedFor(argv: readonly string[]): AskedHunt {
  const command = addHuntFlags(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  try {
    command.parse([...argv], { from: 'user' });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const given = (flag: string) => command.getOptionValueSource(flag) === 'cli';
  return askHunt(command.opts<HuntFlags>(), { argv: [], cwd: process.cwd(), given });
}

/**
 * The first `runs` schedules of a seed. A generation is made of what `corpus` has learned when it begins, as in a hunt; absent: all are drawn.
 * `unaimed`: as in `SearchOptions`.
 */
export function* schedulesOf(
  asked: AskedHunt,
  seed: number,
  runs: number,
  corpus?: Corpus,
  unaimed?: true,
): Generator<HuntSchedule> {
  const { leaseMs } = asked.run.settings;
  const options = { ...scheduling(asked), seed, shard: asked.shard, runs, config: { leaseMs }, unaimed };
  for (let generation = 0; ; generation++) {
    const schedules = generationOf(generation, options, new Set(), corpus);
    if (schedules.length === 0) return;
    yield* schedules;
  }
}

/** Worlds with the lock that was asked for, one a core; they have ended when this resolves. `by`: what a run says made it. */
export async function inWorlds<Result>(
  asked: AskedHunt,
  { workers, world, by }: { workers: number; world?: Pick<WorldOptions, 'cwd' | 'env'>; by: string },
  { shim, redis }: Simulation,
  use: (worlds: readonly WorldProcess[], config: ReturnType<typeof configOf>) => Promise<Result>,
): Promise<Result> {
  const workFolder = mkdtempSync(join(tmpdir(), 'lock-torture-bench-'));
  const worlds: WorldProcess[] = [];
  try {
    const lock = await putLockModule(asked.run.settings.lock, process.cwd(), workFolder);
    const cores = coresOfThisProcess();
    for (let n = 0; n < workers; n++)
      worlds.push(new WorldProcess({ workFolder, shim, lock, core: cores[n % cores.length]!, ...world }));
    return await use(worlds, configOf(asked, redis, 'bench', `npm run bench -- ${by}`));
  } finally {
    await Promise.all(worlds.map((one) => one.close()));
    rmSync(workFolder, { recursive: true, force: true });
  }
}

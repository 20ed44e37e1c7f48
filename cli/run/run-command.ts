/** `run`: flags become what is asked for, what is asked for a request and a plan, and those a folder that is carried out. */
import { randomInt } from 'node:crypto';
import { parseNemesis } from '../../nemesis/index.js';
import { UsageError } from '../common/errors.js';
import { saying, sayingOnce } from '../common/say.js';
import { type AskedRun, askRun, askRunOn, type Invocation } from './ask-run.js';
import { type Configured, withConfig } from './config-file.js';
import { decideRun } from './decide-run.js';
import { planTopology } from './deployment.js';
import { addRunFlags, askSeries, type RunFlags, SEEDS } from './flags.js';
import { mustBeAtHand, mustBeLock } from './lock-at-hand.js';
import { askMachine } from './machine-flags.js';
import { createPreparer } from './prepare-run.js';
import { probeMachine } from './probe-machine.js';
import { type AskedSeries, runSeries, timesOf } from './series.js';

/** Flags, with those that a config file begins with. */
export type ConfiguredRun = Configured<RunFlags>;

/** What was typed, after the settings of the config file, if there is one. Throws one line where it cannot be used. */
export function configuredRun(flags: RunFlags, invocation: Invocation): Promise<ConfiguredRun> {
  return withConfig({ name: 'run', add: addRunFlags }, flags, invocation);
}

/** Runs, and resolves with the exit status. Rejects with an error for the user when it could not run. */
export async function runCommand({ flags, invocation, origin }: ConfiguredRun): Promise<number> {
  // What makes no sense is told before anything is looked for.
  const { kind, faults, settings } = askRun(flags, invocation);
  mustBeLock(settings.lock);
  await mustBeAtHand(settings.lock, invocation.cwd);
  if ('nemesis' in faults) parseNemesis(faults.nemesis, planTopology(kind, settings.topologyOptions, settings.clients));
  const series = askSeries(flags, invocation.cwd);
  if (series.shard) checkShard(flags);
  const say = saying(series);
  for (const line of origin) say(line);
  const machine = await probeMachine({ ...askMachine(flags, invocation.cwd), service: kind.service }, say);
  const asked = askRunOn(machine, flags, invocation);
  const firstSeed = flags.seed ?? randomInt(0, SEEDS);
  if (asked.settings.cut !== undefined) say(`shortened: ${asked.settings.cut}`);
  for (const line of introduction(asked, series, firstSeed)) say(line);
  const note = sayingOnce((warning) => say(`note: ${warning}`));
  const prepare = createPreparer(machine, series.base, say);
  return runSeries({
    ...series,
    prepare: (n) => {
      const { request, plan, warnings } = decideRun(asked, machine.unavailable, (firstSeed + n) % SEEDS);
      for (const warning of warnings) note(warning);
      return prepare(request, plan);
    },
  });
}

/** The parts of a series share its seeds. */
function checkShard({ times, seed, untilViolation, shard }: RunFlags): void {
  if (times === undefined || seed === undefined)
    throw new UsageError('--shard is a part of --times runs, which share their seeds: give --times and --seed, too');
  if (untilViolation)
    throw new UsageError('--shard makes its part of the runs whatever they find: no --until-violation');
  if (times < shard!.of) throw new UsageError(`--shard: ${times} runs make no ${shard!.of} parts`);
}

/** What several runs are to be. Of one run nothing: it says enough itself. */
function introduction({ faults }: AskedRun, series: AskedSeries, firstSeed: number): string[] {
  const times = timesOf(series);
  if (times === 1) return [];
  const last = times === undefined ? 'on' : `to ${(firstSeed + times - 1) % SEEDS}`;
  const all = times === undefined ? 'runs' : `${series.untilViolation ? 'at most ' : ''}${times} runs`;
  const { shard } = series;
  const runs = shard ? `part ${shard.index} of ${shard.of} of ${all}` : all;
  const until = series.untilViolation ? ', until one is violated' : '';
  const samePlan =
    'planFile' in faults
      ? [
          `note: every run carries out the same plan, ${faults.named}; the seeds differ in what the clients do and in whom a target such as "one" picks`,
        ]
      : [];
  return [`${runs}, seeds from ${firstSeed} ${last}${until}`, ...samePlan];
}

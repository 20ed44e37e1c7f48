/** `run`: flags become what is asked for, what is asked for a request and a plan, and those a folder that is carried out. */
import { randomInt } from 'node:crypto';
import { UsageError } from '../common/errors.js';
import { saying, sayingOnce } from '../common/say.js';
import { type AskedRun, askRun, type Invocation } from './ask-run.js';
import { flagsOfConfig, readConfigFile } from './config-file.js';
import { decideRun } from './decide-run.js';
import { askSeries, parseRunFlags, type RunFlags, SEEDS } from './flags.js';
import { askMachine } from './machine-flags.js';
import { createPreparer } from './prepare-run.js';
import { probeMachine } from './probe-machine.js';
import { type AskedSeries, runSeries, timesOf } from './series.js';

/** Flags, with those that a config file begins with. */
export interface ConfiguredRun {
  flags: RunFlags;
  invocation: Invocation;
  /** The config file that was read. */
  config?: string;
}

/** Puts the settings of the config file, if there is one, before what was typed. Throws one line where it cannot be used. */
export async function withConfig(flags: RunFlags, invocation: Invocation): Promise<ConfiguredRun> {
  const config = await readConfigFile(flags.config, invocation.cwd);
  if (!config) return { flags, invocation };
  const { argv, cwd } = invocation;
  const typed = argv[0] === 'run' ? argv.slice(1) : argv;
  // What repeats the run says all of it: by then the file may say something else. The last of the two flags counts.
  const all = [...flagsOfConfig(config, invocation.given), ...typed, '--no-config'];
  const { flags: merged, given } = parsed(all, config.path);
  return { flags: merged, invocation: { argv: all, cwd, given }, config: config.path };
}

/** What was typed could be parsed by itself: whatever is wrong stands in the file. */
function parsed(argv: readonly string[], config: string): ReturnType<typeof parseRunFlags> {
  try {
    return parseRunFlags(argv);
  } catch (error) {
    throw new UsageError(`${config}: ${(error as Error).message.replace(/^error: /, '')}`);
  }
}

/** Runs, and resolves with the exit status. Rejects with an error for the user when it could not run. */
export async function runCommand({ flags, invocation, config }: ConfiguredRun): Promise<number> {
  const asked = askRun(flags, invocation);
  const series = askSeries(flags, invocation.cwd);
  const say = saying(series);
  if (config !== undefined) say(`config ${config}`);
  const machine = await probeMachine(askMachine(flags, invocation.cwd), say);
  const firstSeed = flags.seed ?? randomInt(0, SEEDS);
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

/** What several runs are to be. Of one run nothing: it says enough itself. */
function introduction({ faults }: AskedRun, series: AskedSeries, firstSeed: number): string[] {
  const times = timesOf(series);
  if (times === 1) return [];
  const last = times === undefined ? 'on' : `to ${(firstSeed + times - 1) % SEEDS}`;
  const runs = times === undefined ? 'runs' : `${series.untilViolation ? 'at most ' : ''}${times} runs`;
  const until = series.untilViolation ? ', until one is violated' : '';
  const samePlan =
    'planFile' in faults
      ? [
          `note: every run carries out the same plan, ${faults.named}; the seeds differ in what the clients do and in whom a target such as "one" picks`,
        ]
      : [];
  return [`${runs}, seeds from ${firstSeed} ${last}${until}`, ...samePlan];
}

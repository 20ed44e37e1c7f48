/** `run`: flags become what is asked for, what is asked for a request and a plan, and those a folder that is carried out. */
import { randomInt } from 'node:crypto';
import { saying, sayingOnce } from '../common/say.js';
import { type AskedRun, askRun, type Invocation } from './ask-run.js';
import { decideRun } from './decide-run.js';
import { askSeries, type RunFlags, SEEDS } from './flags.js';
import { askMachine } from './machine-flags.js';
import { createPreparer } from './prepare-run.js';
import { probeMachine } from './probe-machine.js';
import { type AskedSeries, runSeries, timesOf } from './series.js';

/** Runs, and resolves with the exit status. Rejects with an error for the user when it could not run. */
export async function runCommand(flags: RunFlags, invocation: Invocation): Promise<number> {
  const asked = askRun(flags, invocation);
  const series = askSeries(flags, invocation.cwd);
  const say = saying(series);
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

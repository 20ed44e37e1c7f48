/** Schedules with steps of a test's own, played in virtual time as a hunt plays them: by the compiled world. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { addHuntFlags, askHunt, type HuntFlags } from '../../cli/hunt/flags.js';
import { configOf } from '../../cli/hunt/hunt-command.js';
import type { ScheduleResult } from '../../cli/hunt/schedule.js';
import type * as world from '../../cli/hunt/world-process.js';
import { putLockModule } from '../../cli/run/lock-module.js';
import { provideSimulation } from '../../cli/run/simulation.js';
import { type Message, readMessages } from '../../harness/record/messages.js';
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import { freshFolder } from './torture.js';

const COMPILED = join(import.meta.dirname, '../../dist/cli/hunt/world-process.js');

export interface Simulated {
  result: ScheduleResult;
  history: HistoryEvent[];
  /** Of faults. */
  records: Extract<HistoryEvent, { type: 'fault' }>[];
  /** The run's folder. */
  folder: string;
  messages: Message[];
}

/** `args`: flags of `hunt`. */
export async function simulated(args: readonly string[], steps: PlanStep[], seed = 1): Promise<Simulated> {
  const command = addHuntFlags(new Command());
  command.parse([...args], { from: 'user' });
  const given = (flag: string) => command.getOptionValueSource(flag) === 'cli';
  const asked = askHunt(command.opts<HuntFlags>(), { argv: [], cwd: process.cwd(), given });
  const { shim, redis } = await provideSimulation(undefined, () => {});
  const workFolder = freshFolder();
  const lock = await putLockModule(asked.run.settings.lock, process.cwd(), workFolder);
  const { WorldProcess } = (await import(COMPILED)) as typeof world;
  const one = new WorldProcess({ workFolder, shim, lock });
  const keep = join(workFolder, 'run');
  mkdirSync(keep);
  try {
    const config = { ...configOf(asked, redis, 'test', 'a test'), seed };
    const result = await one.play(config, { version: 1, seed, steps }, { keep });
    const lines = readFileSync(join(keep, 'history.jsonl'), 'utf8').trim().split('\n');
    const history: HistoryEvent[] = lines.map((line) => JSON.parse(line));
    const records = history.filter((event) => event.type === 'fault');
    return { result, history, records, folder: keep, messages: readMessages(keep)! };
  } finally {
    await one.close();
  }
}

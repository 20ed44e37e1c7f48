/** The flags that commands which make many runs have in common, and what they ask for. */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { Say } from '../common/say.js';
import { wholeNumberIn } from '../common/values.js';
import { type OutputFlags, outputOptions } from '../run/flags.js';
import { askMachine, type MachineFlags, machineOptions } from '../run/machine-flags.js';
import { probeMachine } from '../run/probe-machine.js';
import { StopRequests } from '../run/supervise.js';
import type { BatchOptions } from './batch.js';

export interface BatchFlags extends MachineFlags, OutputFlags {
  jobs: number;
}

export function addBatchFlags(command: Command): Command {
  const jobs = new Option('--jobs <n>', 'how many runs at once')
    .argParser(wholeNumberIn(1, 64))
    .default(availableParallelism(), 'one for each core');
  for (const option of [...machineOptions(), jobs, ...outputOptions()]) command.addOption(option);
  return command;
}

/** What a batch runs on, and where to. Rejects with an error for the user where this machine lacks something. */
export async function batchOptions(flags: BatchFlags, cwd: string, say: Say): Promise<BatchOptions> {
  const machine = await probeMachine(askMachine(flags, cwd), say);
  return { base: resolve(cwd, flags.out), jobs: flags.jobs, machine, stop: new StopRequests(true) };
}

/** The flags that commands which make many runs have in common, and what they ask for. */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { ServiceName } from '../../harness/vocabulary/topology.js';
import { UsageError } from '../common/errors.js';
import type { Say } from '../common/say.js';
import { wholeNumberIn } from '../common/values.js';
import { SIM } from '../run/machine.js';
import { askMachine, type MachineFlags, machineOptions, namingMachine } from '../run/machine-flags.js';
import { probeMachine } from '../run/probe-machine.js';
import { type OutputFlags, outputOptions } from '../run/shared-flags.js';
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

/** Of commands that make the same runs on several servers. */
export interface ServersFlags extends BatchFlags {
  /** As typed: names and paths, with commas between them. */
  servers?: string;
}

export function addServersFlag(command: Command): Command {
  return command.addOption(
    new Option(
      '--servers <servers>',
      'on several servers, one after the other: as --server names them, redis@8.0,valkey@9',
    ),
  );
}

/** What a batch runs on, and where to. Rejects with an error for the user where this machine lacks something. */
export async function batchOptions(
  flags: BatchFlags,
  cwd: string,
  say: Say,
  service: ServiceName = 'redis',
): Promise<BatchOptions> {
  const machine = await probeMachine({ ...askMachine(flags, cwd), service }, say);
  // Another machine may have real time.
  const naming = namingMachine(machine.runtime === SIM ? { ...flags, runtime: SIM } : flags, cwd);
  return { base: resolve(cwd, flags.out), jobs: flags.jobs, naming, machine, service, stop: new StopRequests(true) };
}

/** The same for each server of `--servers`, in their order; all of them are there before anything runs. */
export async function optionsByServer(
  flags: ServersFlags,
  cwd: string,
  say: Say,
  service?: ServiceName,
): Promise<BatchOptions[]> {
  if (flags.servers === undefined) return [await batchOptions(flags, cwd, say, service)];
  if (flags.server !== undefined || flags.redis !== undefined)
    throw new UsageError('--servers names all servers: give it or --server, not both');
  const names = new Set(flags.servers.split(',').map((name) => name.trim()));
  if (names.has('')) throw new UsageError(`"${flags.servers}" is no list of servers; write redis@8.0,valkey@9`);
  const stop = new StopRequests(true);
  const all: BatchOptions[] = [];
  for (const server of names) all.push({ ...(await batchOptions({ ...flags, server }, cwd, say, service)), stop });
  return all;
}

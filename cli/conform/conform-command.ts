/**
 * `conform`: a run of half a minute whose record is judged by another question than a run's: not whether the lock held, but
 * whether what its client program said is what the servers did.
 */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { type Conformance, conformance } from '../../checkers/adapter/conformance.js';
import type { AdapterFinding } from '../../checkers/adapter/finding.js';
import { visible } from '../../harness/record/schemas/foreign-text.js';
import { topologies, topologiesOfService } from '../../harness/topologies/index.js';
import type { Plan, PlanStep } from '../../harness/vocabulary/faults.js';
import type { Persistence } from '../../harness/vocabulary/topology.js';
import { fitPlan, needsOf } from '../../nemesis/index.js';
import { everyFeature } from '../../workloads/conform.js';
import { UsageError } from '../common/errors.js';
import { commandLine } from '../common/reproduce.js';
import { type Say, saying } from '../common/say.js';
import { nameAmong } from '../common/values.js';
import { readInput } from '../judge/judge.js';
import type { Invocation } from '../run/ask-run.js';
import { type Configurable, ignoringConfig, withConfig } from '../run/config-file.js';
import { checkPair, planTopology, topologiesOf } from '../run/deployment.js';
import { DEFAULT_NODES, persistenceOption } from '../run/flags.js';
import type { Machine } from '../run/machine.js';
import {
  askMachine,
  MACHINE_SETTINGS,
  type MachineFlags,
  machineOptions,
  namingMachine,
} from '../run/machine-flags.js';
import { createPreparer, type RunRequest } from '../run/prepare-run.js';
import { probeMachine } from '../run/probe-machine.js';
import { type ConfigFlags, configOptions, type OutputFlags, outputOptions } from '../run/shared-flags.js';
import { StopRequests, supervise } from '../run/supervise.js';

export interface ConformFlags extends MachineFlags, OutputFlags, ConfigFlags {
  lock?: string;
  topology?: string;
  persistence: Persistence;
}

export function addConformFlags(command: Command): Command {
  const options = [
    new Option('--lock <lock>', "whose adapter: as `run --lock`, for instance 'cmd:./my-client'"),
    new Option(
      '--topology <name>',
      'on which topology (default: the first that the lock is for, else single)',
    ).argParser(nameAmong(Object.keys(topologies), topologiesOfService('redis'))),
    persistenceOption(),
    ...machineOptions(),
    ...configOptions(),
    ...outputOptions(),
  ];
  for (const option of options) command.addOption(option);
  return command;
}

const CONFORM: Configurable = {
  name: 'conform',
  add: addConformFlags,
  takes: ['lock', 'topology', 'persistence', ...MACHINE_SETTINGS],
};
const CLIENTS = 6;
const KEYS = ['lock:0', 'lock:1', 'lock:2', 'lock:3'];
/** Not whole seconds, so that a unit that is confused or a part that is cut off shows; long enough for every library. */
const LEASE_MS = 2_300;
/** As long as libraries try that have no notion of a wait. */
const WAIT_MS = 3_000;
const TIME_LIMIT_MS = 27_000;
/** The plan and all choices are always the same: an author who mends something wants to see whether it is that. */
const SEED = 1;

/** Runs, says what is wrong, and resolves with the exit status. Rejects with an error for the user. */
export async function conformCommand(typed: ConformFlags, invocation: Invocation): Promise<number> {
  const { cwd } = invocation;
  const { flags, origin } = await withConfig(CONFORM, typed, invocation);
  const { lock, json } = flags;
  if (lock === undefined) throw new UsageError("whose adapter? name a lock: --lock 'cmd:./my-client'");
  const say = json ? () => {} : saying(flags);
  for (const line of origin) say(line);
  const topology = flags.topology ?? topologiesOf(lock)?.[0] ?? 'single';
  const kind = topologies[topology]!;
  checkPair(lock, kind);
  if (kind.service !== 'redis')
    throw new UsageError(
      `conform compares with what servers were seen to do, and of ${kind.service} nothing is recorded`,
    );
  if (kind.quorum === 'majority' && kind.replicated)
    throw new UsageError(
      `conform does not follow which server of a node gave its vote: name another topology than ${topology}`,
    );
  const machine = await probeMachine(askMachine(flags, cwd), say);
  const again = [...namingMachine(flags, cwd), ...ignoringConfig(cwd)];
  const request = requestOf(lock, { topology, asked: flags.topology, persistence: flags.persistence }, again, cwd);
  const plan = gentlePlan(request, machine.unavailable, say);
  const run = await createPreparer(machine, resolve(cwd, flags.out), say)(request, plan);
  say(`conform ${lock} on ${request.topology}: half a minute…`);
  const ended = await supervise(run, { json: false, quiet: true }, new StopRequests(false));
  if (ended === 'not-begun' || !ended.results) throw new UsageError(`it could not run: see above, and ${run.folder}`);
  const { input } = await readInput(run.folder);
  const result = conformance(input);
  const exitStatus = statusOf(result);
  const text = json
    ? JSON.stringify({ type: 'conform', lock, exitStatus, ...result, folder: run.folder })
    : textOf(result, run.folder);
  process.stdout.write(`${text}\n`);
  return exitStatus;
}

function requestOf(
  lock: string,
  { topology, asked, persistence }: { topology: string; asked: string | undefined; persistence: Persistence },
  again: readonly string[],
  cwd: string,
): RunRequest {
  const flags = [
    ...['--lock', lock, ...(asked === undefined ? [] : ['--topology', asked])],
    ...(persistence === 'rdb' ? [] : ['--persistence', persistence]),
  ];
  return {
    seed: SEED,
    topology,
    topologyOptions: { nodes: DEFAULT_NODES, persistence, minReplicasToWrite: 0, redisConf: [] },
    lock,
    cwd,
    workload: everyFeature.name,
    clients: CLIENTS,
    keys: KEYS,
    leaseMs: LEASE_MS,
    waitMs: WAIT_MS,
    hold: { min: 0, max: 0 },
    careless: true,
    timeLimitMs: TIME_LIMIT_MS,
    nemesis: [],
    nemesisIntervalMs: 1_000,
    failOn: [],
    reproduce: commandLine(['conform', ...flags, ...again]),
  };
}

/** Faults that an adapter must tell the truth under, none of which a lock need be harmed by. */
const STEPS: readonly PlanStep[] = [
  // What is asked of several nodes in turn takes its time, and a stamp that is taken after an answer is seen to be late.
  { atMs: 11_000, fault: 'delay', target: 'all', forMs: 3_500, args: { delayMs: 15 } },
  // Commands that are carried out and not answered: neither ok nor fail.
  { atMs: 16_000, fault: 'lost-reply', target: 'all', forMs: 1_200 },
  // Who holds, and renews, is told "not yours"; scripts are not known any more by their hash. Twice: now and then nobody
  // renews between one of them and the end of the hold.
  { atMs: 20_000, fault: 'amnesia', target: 'one', forMs: 300 },
  { atMs: 23_000, fault: 'amnesia', target: 'one', forMs: 300 },
];

function gentlePlan(request: RunRequest, unavailable: Machine['unavailable'], say: Say): Plan {
  const steps = STEPS.filter((step) => {
    const lacking = [...needsOf({ version: 1, seed: SEED, steps: [step] })].find(
      (need) => unavailable[need] !== undefined,
    );
    if (lacking !== undefined) say(`note: without ${step.fault}: ${unavailable[lacking]}`);
    return lacking === undefined;
  });
  const topology = planTopology(topologies[request.topology]!, request.topologyOptions, request.clients);
  return fitPlan({ version: 1, seed: SEED, steps }, 'the plan of conform', topology, unavailable);
}

function statusOf({ findings, open }: Conformance): 0 | 1 | 2 {
  if (findings.some(({ weight }) => weight === 'mistake')) return 1;
  return open.length > 0 ? 2 : 0;
}

function textOf(result: Conformance, folder: string): string {
  const { findings, open, grants, answers } = result;
  const mistakes = findings.filter(({ weight }) => weight === 'mistake').length;
  const headline = {
    0: 'CONFORMS: nothing that it said was otherwise than the servers did',
    1: `DOES NOT CONFORM: ${mistakes} ${mistakes === 1 ? 'mistake' : 'mistakes'} of the adapter`,
    2: `CANNOT TELL: ${open[0]}`,
  }[statusOf(result)];
  return [
    '',
    ...findings.map(lineOf),
    `${headline} (${grants} grants and ${answers} other answers looked at)`,
    `Record: ${folder}`,
  ].join('\n');
}

function lineOf({ weight, rule, text, remedy, count }: AdapterFinding): string {
  const times = count === 1 ? 'once' : `${count} times, the first`;
  return visible(`${weight} ${rule}, ${times}: ${text}. Remedy: ${remedy}.`);
}

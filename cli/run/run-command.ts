/**
 * `run`, outside: turns flags into what a run is to do and its plan, once for each run asked for.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { WARM_UP_MS } from '../../harness/run/run.js';
import { topologies } from '../../harness/topologies/index.js';
import type { Plan } from '../../harness/vocabulary/faults.js';
import type { Capability } from '../../harness/vocabulary/host.js';
import type { TopologyKind, TopologyOptions } from '../../harness/vocabulary/topology.js';
import type { Workload } from '../../harness/vocabulary/workload.js';
import { defaultIntervalMs, makePlan, parseNemesis } from '../../nemesis/index.js';
import { workloads } from '../../workloads/index.js';
import { againOf } from '../common/again.js';
import { UsageError } from '../common/errors.js';
import type { RunFlags } from './flags.js';
import { readPlanFile } from './plan-file.js';
import { checkPair, createPreparer, fitsTopology, planTopology, type RunRequest } from './prepare-run.js';
import { probeMachine } from './probe-machine.js';
import { runSeries, timesOf } from './series.js';
import { withWorkload } from './workload-flags.js';

export interface Invocation {
  /** Arguments as typed, for the command that repeats the run. */
  argv: readonly string[];
  /** Where the user stood when typing them. */
  cwd: string;
  /** Whether a flag was typed, or is a default. */
  given(flag: keyof RunFlags): boolean;
}

/** Shortest torture phase that a fault fits into. */
export const LEAST_TIME_LIMIT_MS = WARM_UP_MS + 500;
/** Seeds are below this. */
export const SEEDS = 2 ** 31;

/** Runs, and resolves with the exit status. Rejects with an error for the user when it could not run. */
export async function runCommand(flags: RunFlags, invocation: Invocation): Promise<number> {
  const asked = readRunFlags(flags, invocation);
  const say = saying(flags);
  const redis = flags.redis && resolve(invocation.cwd, flags.redis);
  const machine = await probeMachine(
    { runtime: flags.runtime, redis, image: flags.image, clientImage: flags.clientImage },
    say,
  );
  const firstSeed = flags.seed ?? randomInt(0, SEEDS);
  sayWhatIsRepeated(flags, firstSeed, say);
  const note = once((warning: string) => say(`note: ${warning}`));
  const base = resolve(invocation.cwd, flags.out);
  const prepare = createPreparer(machine, base, say);
  return runSeries({
    repetition: flags,
    base,
    json: flags.json,
    prepare: (n) => {
      const { request, plan, warnings } = decideRun(asked, machine.unavailable, (firstSeed + n) % SEEDS);
      for (const warning of warnings) note(warning);
      return prepare(request, plan);
    },
  });
}

/** Flags that make sense together, with what the workload and the topology bring along. */
export interface AskedRun {
  flags: RunFlags;
  kind: TopologyKind;
  lock: string;
  invocation: Invocation;
}

/** Throws where flags make no sense. */
export function readRunFlags(asTyped: RunFlags, invocation: Invocation): AskedRun {
  const kind = topologies[asTyped.topology]!;
  const flags = withWorkload(asTyped, workloadOf(asTyped), invocation.given, (lock) => fitsTopology(lock, kind));
  const lock = flags.lock ?? kind.defaultLock;
  checkFlags(flags, kind);
  checkPair(lock, kind);
  return { flags, kind, lock, invocation };
}

/** What the run with this seed is to do, and its plan. Throws where the faults asked for cannot be had. */
export function decideRun(
  { flags, kind, lock, invocation }: AskedRun,
  unavailable: Partial<Record<Capability, string>>,
  seed: number,
): { request: RunRequest; plan: Plan; warnings: string[] } {
  const options = topologyOptions(flags);
  const { plan, nemesis, warnings } = decidePlan(flags, kind, options, unavailable, seed, invocation.cwd);
  return {
    request: requestOf({ flags, kind, lock, options, seed, nemesis, invocation }),
    plan,
    warnings: [...warnings, ...leaseWarnings(flags, kind)],
  };
}

/** One line of progress: text, or a JSON object. */
export function saying({ json }: { json: boolean }): (line: string) => void {
  return (line) => process.stdout.write(`${json ? JSON.stringify({ type: 'progress', line }) : line}\n`);
}

function sayWhatIsRepeated(flags: RunFlags, firstSeed: number, say: (line: string) => void): void {
  const times = timesOf(flags);
  if (times === 1) return;
  const last = times === undefined ? 'on' : `to ${(firstSeed + times - 1) % SEEDS}`;
  const runs = times === undefined ? 'runs' : `${flags.untilViolation ? 'at most ' : ''}${times} runs`;
  say(`${runs}, seeds from ${firstSeed} ${last}${flags.untilViolation ? ', until one is violated' : ''}`);
  if (flags.plan === undefined) return;
  say(
    `note: every run carries out the same plan, ${flags.plan}; the seeds differ in what the clients do and in whom a target such as "one" picks`,
  );
}

function requestOf(run: {
  flags: RunFlags;
  kind: TopologyKind;
  lock: string;
  options: TopologyOptions;
  seed: number;
  nemesis: string[];
  invocation: Invocation;
}): RunRequest {
  const { flags, invocation } = run;
  return {
    seed: run.seed,
    topology: run.kind.name,
    topologyOptions: run.options,
    lock: run.lock,
    cwd: invocation.cwd,
    workload: flags.workload,
    clients: flags.clients,
    keys: Array.from({ length: flags.keys }, (_, n) => `lock:${n}`),
    leaseMs: flags.lease,
    waitMs: flags.wait,
    hold: flags.hold,
    careless: flags.careless,
    ...(flags.resource && { resource: flags.resource }),
    timeLimitMs: flags.timeLimit,
    nemesis: run.nemesis,
    nemesisIntervalMs: flags.nemesisInterval ?? defaultIntervalMs(flags.timeLimit - WARM_UP_MS, flags.lease),
    failOn: flags.failOn,
    ...(flags.stopAtFirst && { stopAtFirst: true }),
    again: againOf(invocation.argv, run.seed),
  };
}

function workloadOf({ workload }: RunFlags): Workload {
  const known = Object.keys(workloads);
  if (!known.includes(workload)) throw new UsageError(`no workload "${workload}"; known: ${known.join(', ')}`);
  return workloads[workload]!;
}

function checkFlags(flags: RunFlags, kind: TopologyKind): void {
  if (flags.timeLimit < LEAST_TIME_LIMIT_MS) {
    throw new UsageError(
      `--time-limit must be at least ${LEAST_TIME_LIMIT_MS} ms: ${WARM_UP_MS} ms of it are a clean warm-up`,
    );
  }
  if (flags.plan !== undefined && flags.nemesis !== 'default') {
    throw new UsageError('--plan already says which faults strike; leave out --nemesis');
  }
  if (kind.name !== 'redlock' && flags.nodes !== 5)
    throw new UsageError(`--nodes is for the redlock topology, not for ${kind.name}`);
  if (!kind.replicated && flags.minReplicasToWrite > 0)
    throw new UsageError(`--min-replicas-to-write makes no sense on ${kind.name}, which has no replicas`);
}

function decidePlan(
  flags: RunFlags,
  kind: TopologyKind,
  options: TopologyOptions,
  unavailable: Partial<Record<Capability, string>>,
  seed: number,
  cwd: string,
): { plan: Plan; nemesis: string[]; warnings: string[] } {
  const topology = planTopology(kind, options, flags.clients);
  if (flags.plan !== undefined) {
    const path = resolve(cwd, flags.plan);
    const plan = readPlanFile(path, flags.plan, topology, unavailable);
    return { plan, nemesis: [...new Set(plan.steps.map((step) => step.fault))], warnings: [] };
  }
  const { requests, warnings } = parseNemesis(flags.nemesis, topology, unavailable);
  const made = makePlan({
    seed,
    faults: requests,
    topology,
    timeLimitMs: flags.timeLimit,
    warmUpMs: WARM_UP_MS,
    intervalMs: flags.nemesisInterval,
    leaseMs: flags.lease,
  });
  return {
    plan: made.plan,
    nemesis: requests.map(({ fault, target }) => (target ? `${fault}:${target}` : fault)),
    warnings: [...warnings, ...made.warnings],
  };
}

function topologyOptions(flags: RunFlags): TopologyOptions {
  const { nodes, persistence, minReplicasToWrite, maxmemoryPolicy, redisConf } = flags;
  return {
    nodes,
    persistence,
    minReplicasToWrite,
    ...(maxmemoryPolicy && { maxmemoryPolicy }),
    ...(flags.auth && { password: randomBytes(16).toString('hex') }),
    redisConf,
  };
}

/** A lease that ends before the failover does hides what the failover lost. */
function leaseWarnings(flags: RunFlags, kind: TopologyKind): string[] {
  const failoverMs = kind.expectedFailoverMs ?? 0;
  if (flags.lease >= 3 * failoverMs) return [];
  return [
    `a lease of ${flags.lease} ms is below three failovers (${3 * failoverMs} ms): careful holds end before the lock can be granted again, so little can be found`,
  ];
}

/** The same thing is said once, however many runs it is true of. */
function once(say: (line: string) => void): (line: string) => void {
  const said = new Set<string>();
  return (line) => {
    if (!said.has(line)) say(line);
    said.add(line);
  };
}

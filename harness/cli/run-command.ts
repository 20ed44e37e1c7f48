/**
 * `run`, outside: turns flags into a run folder with everything decided (config, plan, lock, Redis), then hands over to
 * the inner process in its own namespaces and passes on how it ended.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtinLock, locks } from '../../lock-impl/index.js';
import { defaultIntervalMs, makePlan, parseNemesis, parsePlan } from '../../nemesis/index.js';
import { workloads } from '../../workloads/index.js';
import type { Capability, Plan, RunConfig, TopologyKind, TopologyOptions, ViolationClass } from '../api.js';
import { buildClockShim } from '../clock-shim.js';
import { resolveLock } from '../lock-source.js';
import { cacheFolder, findRedis } from '../redis-binary.js';
import { clientSlot, WARM_UP_MS } from '../run.js';
import { createRunFolder, linkLatest, writeJson } from '../store.js';
import { topologies } from '../topologies/index.js';
import { enterNamespaces } from './enter-namespaces.js';
import { EXIT_COULD_NOT_RUN, EXIT_INTERNAL_ERROR, UsageError } from './errors.js';
import { judgeFolder } from './judge.js';
import { chooseRuntime } from './runtimes.js';
import { quote } from './values.js';

/** The flags of `run`, parsed. */
export interface RunFlags {
  topology: string;
  lock?: string;
  workload: string;
  runtime: string;
  redis?: string;
  clients: number;
  keys: number;
  lease: number;
  wait: number;
  hold: { min: number; max: number };
  careless: boolean;
  timeLimit: number;
  nemesis: string;
  nemesisInterval?: number;
  plan?: string;
  seed?: number;
  nodes: number;
  persistence: TopologyOptions['persistence'];
  minReplicasToWrite: number;
  maxmemoryPolicy?: string;
  auth: boolean;
  redisConf: [string, string][];
  failOn: ViolationClass[];
  out: string;
  json: boolean;
}

export interface Invocation {
  /** Arguments as typed, for the command that repeats the run. */
  argv: readonly string[];
  /** Where the user stood when typing them. */
  cwd: string;
}

/** Shortest torture phase that a fault fits into. */
const LEAST_TIME_LIMIT_MS = WARM_UP_MS + 500;

/** Runs, and resolves with the exit status. Rejects with an error for the user when it could not run. */
export async function runCommand(flags: RunFlags, invocation: Invocation): Promise<number> {
  const say = (line: string) =>
    process.stdout.write(`${flags.json ? JSON.stringify({ type: 'progress', line }) : line}\n`);
  const seed = flags.seed ?? randomInt(0, 2 ** 31);
  const kind = topologies[flags.topology]!;
  const runtime = await chooseRuntime(flags.runtime, say);
  say(`runtime ${runtime.name}: ${runtime.why}`);
  checkFlags(flags, kind);
  const lockName = flags.lock ?? kind.defaultLock;
  checkPair(lockName, kind);

  const cache = cacheFolder();
  const redis = await findRedis({
    explicit: flags.redis && resolve(invocation.cwd, flags.redis),
    cacheFolder: cache,
    say,
  });
  const shim = await buildClockShim({ cacheFolder: cache, say });
  const unavailable: Partial<Record<Capability, string>> = 'unavailable' in shim ? { clock: shim.unavailable } : {};
  if (unavailable.clock) say(`no clock faults: ${unavailable.clock}`);

  const options = topologyOptions(flags);
  const { plan, nemesis, warnings } = decidePlan(flags, kind, options, unavailable, seed, invocation.cwd);
  for (const warning of [...warnings, ...leaseWarnings(flags, kind)]) say(`note: ${warning}`);

  const runId = `${timestamp()}-${kind.name}-${randomBytes(2).toString('hex')}`;
  const base = resolve(invocation.cwd, flags.out);
  const folder = createRunFolder(base, runId);
  try {
    const lock = await resolveLock(lockName, {
      cwd: invocation.cwd,
      outFolder: folder,
      builtin: builtinLock,
      builtinNames: Object.keys(locks),
      clientMain: fileURLToPath(new URL('../client/main.js', import.meta.url)),
      node: process.execPath,
    });
    const config: RunConfig = {
      version: 1,
      runId,
      startedAt: new Date().toISOString(),
      seed,
      topology: kind.name,
      topologyOptions: options,
      runtime: runtime.name,
      lock: lockName,
      cwd: invocation.cwd,
      workload: flags.workload,
      clients: flags.clients,
      keys: Array.from({ length: flags.keys }, (_, n) => `lock:${n}`),
      leaseMs: flags.lease,
      waitMs: flags.wait,
      hold: flags.hold,
      careless: flags.careless,
      timeLimitMs: flags.timeLimit,
      nemesis,
      nemesisIntervalMs: flags.nemesisInterval ?? defaultIntervalMs(flags.timeLimit - WARM_UP_MS, flags.lease),
      failOn: flags.failOn,
      redis,
      clockShim: 'path' in shim ? shim.path : undefined,
      clientArgv: lock.clientArgv,
      unavailable,
      again: again(invocation.argv, seed),
    };
    writeJson(folder, 'config.json', config);
    writeJson(folder, 'plan.json', plan);
  } catch (error) {
    // Nothing has run yet: a folder that holds no run would only be in the way.
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  linkLatest(folder);
  say(`run ${runId}, seed ${seed}, ${plan.steps.length} fault${plan.steps.length === 1 ? '' : 's'} planned`);
  return supervise(folder, flags.json);
}

/** Starts the inner process and stays until it ends; judges what is on disk if it was killed. */
async function supervise(folder: string, json: boolean): Promise<number> {
  const main = fileURLToPath(new URL('./inside-main.js', import.meta.url));
  const inner = await enterNamespaces([process.execPath, main, folder, ...(json ? ['--json'] : [])]);
  let interrupts = 0;
  const interrupt = () => {
    interrupts++;
    if (interrupts > 1) {
      inner.kill();
      process.exit(EXIT_COULD_NOT_RUN);
    }
    process.stderr.write('\nstopping: healing, tearing down and judging what there is (once more: stop at once)\n');
    inner.askToStop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);

  const end = await inner.ended;
  if ('code' in end && end.code !== EXIT_INTERNAL_ERROR) return end.code;
  const how = 'code' in end ? 'the run failed (see above)' : `the run was killed (${end.signal})`;
  process.stderr.write(`lock-torture: ${how}; judging what it had recorded\n`);
  if (!existsSync(join(folder, 'history.jsonl'))) throw new UsageError('it was killed before anything was recorded');
  return judgeFolder(folder, { json });
}

function checkFlags(flags: RunFlags, kind: TopologyKind): void {
  if (flags.timeLimit < LEAST_TIME_LIMIT_MS) {
    throw new UsageError(
      `--time-limit must be at least ${LEAST_TIME_LIMIT_MS} ms: ${WARM_UP_MS} ms of it are a clean warm-up`,
    );
  }
  if (!workloads[flags.workload])
    throw new UsageError(`no workload "${flags.workload}"; known: ${Object.keys(workloads).join(', ')}`);
  if (flags.plan !== undefined && flags.nemesis !== 'default') {
    throw new UsageError('--plan already says which faults strike; leave out --nemesis');
  }
  if (kind.name !== 'redlock' && flags.nodes !== 5)
    throw new UsageError(`--nodes is for the redlock topology, not for ${kind.name}`);
  if (!kind.replicated && flags.minReplicasToWrite > 0)
    throw new UsageError(`--min-replicas-to-write makes no sense on ${kind.name}, which has no replicas`);
}

function checkPair(lockName: string, kind: TopologyKind): void {
  const fits = locks[lockName]?.topologies;
  if (fits && !fits.includes(kind.name)) {
    throw new UsageError(`lock ${lockName} makes no sense on topology ${kind.name}: it is for ${fits.join(', ')}`);
  }
}

function decidePlan(
  flags: RunFlags,
  kind: TopologyKind,
  options: TopologyOptions,
  unavailable: Partial<Record<Capability, string>>,
  seed: number,
  cwd: string,
): { plan: Plan; nemesis: string[]; warnings: string[] } {
  const clients = Array.from({ length: flags.clients }, (_, n) => clientSlot(n));
  const { nodes, sentinels } = kind.hosts(options);
  const { maxmemoryPolicy } = options;
  const topology = { name: kind.name, replicated: kind.replicated, maxmemoryPolicy, nodes, sentinels, clients };
  if (flags.plan !== undefined) {
    const path = resolve(cwd, flags.plan);
    const plan = parsePlan(readText(path), flags.plan, topology, unavailable);
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

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}`);
  }
}

function timestamp(): string {
  return new Date().toISOString().slice(0, 19).replaceAll(':', '-');
}

/** The command that runs it again, with the seed that was drawn. */
function again(argv: readonly string[], seed: number): string {
  const kept = argv.filter(
    (argument, n) => argument !== '--seed' && argv[n - 1] !== '--seed' && !argument.startsWith('--seed='),
  );
  return ['npm run torture --', ...kept.map(quote), '--seed', String(seed)].join(' ');
}

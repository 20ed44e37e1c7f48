/**
 * From the flags of `run` to what its runs have in common. Here flags end: what comes after this sees an `AskedRun`, with the
 * workload's defaults filled in, paths that are absolute, and only combinations that make sense.
 */
import { resolve } from 'node:path';
import { durationOfMs, listed } from '../../harness/record/facts/words.js';
import { WARM_UP_MS } from '../../harness/run/run.js';
import { topologies } from '../../harness/topologies/index.js';
import { services } from '../../harness/topologies/services.js';
import type { TopologyKind, TopologyOptions } from '../../harness/vocabulary/topology.js';
import { defaultIntervalMs } from '../../nemesis/index.js';
import { UsageError } from '../common/errors.js';
import { dashed } from '../common/values.js';
import { checkPair, checkTls, fitsTopology } from './deployment.js';
import { DEFAULT_NODES, LEAST_TIME_LIMIT_MS, type RunFlags } from './flags.js';
import { knownOf } from './known.js';
import { leastOf } from './least-flags.js';
import { type Machine, SIM } from './machine.js';
import type { RunRequest } from './prepare-run.js';
import { withWorkload } from './workload-flags.js';

/** A command line, and where it was typed. */
export interface Invocation {
  /** Arguments as typed, for the command that repeats the run. */
  argv: readonly string[];
  /** Where the user stood when typing them. */
  cwd: string;
  /** Whether a flag was typed, or is a default. */
  given(flag: string): boolean;
}

/** Faults from a file, or to be planned from a seed. */
export type AskedFaults =
  | { planFile: string; named: string }
  | { nemesis: string /** Absent: as often as suits the run. */; intervalMs?: number };

/** What the runs of one command line have in common. */
export interface AskedRun {
  kind: TopologyKind;
  /** What does not depend on a run's seed. */
  settings: Omit<RunRequest, 'seed' | 'nemesis' | 'reproduce'>;
  /** Whether servers ask for a password, which is drawn for each run. */
  auth: boolean;
  faults: AskedFaults;
  /** As typed. */
  argv: readonly string[];
}

/** Throws where flags make no sense. */
export function askRun(asTyped: RunFlags, { argv, cwd, given }: Invocation): AskedRun {
  const kind = kindOf(asTyped, given);
  const flags = withWorkload({ ...asTyped, topology: kind.name }, given, {
    fits: (lock) => fitsTopology(lock, kind),
    mixedLeaseMs: kind.mixedLeaseMs,
  });
  checkFlags(flags, kind);
  const ofRedis = kind.service === 'redis' ? undefined : OF_REDIS.find((flag) => given(flag));
  if (ofRedis) throw new UsageError(`--${dashed(ofRedis)} is for Redis, not for ${services[kind.service].title}`);
  const lock = flags.lock ?? kind.defaultLock;
  checkPair(lock, kind);
  if (flags.tls) checkTls(lock);
  const faults: AskedFaults =
    flags.plan === undefined
      ? { nemesis: flags.nemesis, intervalMs: flags.nemesisInterval }
      : { planFile: resolve(cwd, flags.plan), named: flags.plan };
  return {
    kind,
    settings: settingsOf(flags, kind, lock, cwd),
    auth: flags.auth || kind.hasPassword === true,
    faults,
    argv,
  };
}

/** Of a run by default in virtual time, where real seconds would be many: its verdict is to come within one minute on two cores. */
const VIRTUAL_LIMIT_MS: Readonly<Record<string, number>> = { redlock: 12_000, cluster: 12_000 };

/**
 * As `askRun`, for a machine that was found. In virtual time a run whose length nobody named is shortened, and says so; and what
 * repeats one names the runtime, for another machine may have real time.
 */
export function askRunOn({ runtime }: Pick<Machine, 'runtime'>, flags: RunFlags, invocation: Invocation): AskedRun {
  if (runtime !== SIM) return askRun(flags, invocation);
  if (flags.tls) throw new UsageError(NO_TLS_IN_VIRTUAL_TIME);
  const limitMs = invocation.given('timeLimit') ? undefined : VIRTUAL_LIMIT_MS[flags.topology];
  const asked = askRun({ ...flags, timeLimit: limitMs ?? flags.timeLimit }, invocation);
  const named = flags.runtime === SIM ? [] : ['--runtime', SIM];
  const argv = [...invocation.argv, ...named];
  if (limitMs === undefined) return { ...asked, argv };
  const [cut, whole] = [limitMs, flags.timeLimit].map(durationOfMs);
  const words = `${cut} of virtual time in place of ${whole}, for its verdict to come within a minute; --time-limit ${flags.timeLimit / 1e3}s plays all`;
  return { ...asked, argv, settings: { ...asked.settings, cut: words } };
}

const NO_TLS_IN_VIRTUAL_TIME =
  '--tls needs real time, and these runs are played in virtual time: leave out --tls, or name another runtime with --runtime';

/** What flags call `single` and `quorum` is another deployment with every service. */
function kindOf({ service, topology }: RunFlags, given: Invocation['given']): TopologyKind {
  const { topologies: own } = services[service];
  const [byDefault] = Object.values(own);
  const kind = given('topology') ? (own[topology] ?? topologies[topology]) : byDefault;
  if (kind?.service === service) return kind;
  const elsewhere = Object.values(services).find((other) => topology in other.topologies)!;
  if (service === 'redis' && !kind)
    throw new UsageError(`--topology ${topology} is for --service ${elsewhere.name}, say`);
  throw new UsageError(`--service ${service} has the topologies ${listed(Object.keys(own))}, not ${topology}`);
}

/** Flags that say how a Redis server is set up. */
const OF_REDIS = ['persistence', 'minReplicasToWrite', 'maxmemoryPolicy', 'auth', 'tls', 'redisConf'] as const;

function settingsOf(flags: RunFlags, { service }: TopologyKind, lock: string, cwd: string): AskedRun['settings'] {
  const { topology, workload, clients, callers, hold, careless, resource, failOn } = flags;
  const known = knownOf(flags, { lock, topology, cwd });
  const atLeast = leastOf(flags);
  return {
    topology,
    ...(service !== 'redis' && { service }),
    topologyOptions: topologyOptions(flags),
    lock,
    cwd,
    workload,
    clients,
    ...(callers > 1 && { callers }),
    keys: Array.from({ length: flags.keys }, (_, n) => `lock:${n}`),
    ...(flags.startsWithin !== undefined && { startsWithinMs: flags.startsWithin }),
    leaseMs: flags.lease,
    waitMs: flags.wait,
    hold,
    careless,
    ...(resource && { resource }),
    timeLimitMs: flags.timeLimit,
    nemesisIntervalMs: flags.nemesisInterval ?? defaultIntervalMs(flags.timeLimit - WARM_UP_MS, flags.lease),
    failOn,
    ...(known && { known }),
    ...(atLeast && { atLeast }),
    ...(flags.stopAtFirst && { stopAtFirst: true }),
  };
}

function topologyOptions(flags: RunFlags): TopologyOptions {
  const { nodes, persistence, minReplicasToWrite, maxmemoryPolicy, tls, redisConf } = flags;
  return {
    nodes,
    persistence,
    minReplicasToWrite,
    ...(maxmemoryPolicy && { maxmemoryPolicy }),
    ...(tls && { tls }),
    redisConf,
  };
}

/** Throws one line where a run would be too short for its warm-up and a fault. */
export function mustHaveTime(timeLimitMs: number): void {
  if (timeLimitMs >= LEAST_TIME_LIMIT_MS) return;
  throw new UsageError(
    `--time-limit must be at least ${LEAST_TIME_LIMIT_MS} ms: ${WARM_UP_MS} ms of it are a clean warm-up`,
  );
}

function checkFlags(flags: RunFlags, kind: TopologyKind): void {
  mustHaveTime(flags.timeLimit);
  if (flags.tls && flags.runtime === SIM) throw new UsageError(NO_TLS_IN_VIRTUAL_TIME);
  if (flags.plan !== undefined && flags.nemesis !== 'default') {
    throw new UsageError('--plan already says which faults strike; leave out --nemesis');
  }
  if (kind.quorum !== 'majority' && flags.nodes !== DEFAULT_NODES) {
    const majorities = Object.values(topologies).filter(({ quorum }) => quorum === 'majority');
    const names = majorities.map(({ name }) => name).join(' or ');
    throw new UsageError(`--nodes is for the ${names} topology, not for ${kind.name}`);
  }
  if (!kind.replicated && flags.minReplicasToWrite > 0)
    throw new UsageError(`--min-replicas-to-write makes no sense on ${kind.name}, which has no replicas`);
}

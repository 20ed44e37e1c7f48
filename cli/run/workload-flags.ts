/** What a workload brings along for flags that were not given: its lock, its faults, its times. */
import { insteadOf } from '../../harness/record/schemas/names.js';
import type { Workload, WorkloadDefaults } from '../../harness/vocabulary/workload.js';
import { isMixed } from '../../workloads/hold-times.js';
import { workloads } from '../../workloads/index.js';
import { UsageError } from '../common/errors.js';
import { dashed } from '../common/values.js';
import type { RunFlags } from './flags.js';

/** By which flag a default is overruled. */
const FLAG_OF: Record<keyof WorkloadDefaults, keyof RunFlags> = {
  lock: 'lock',
  nemesis: 'nemesis',
  clients: 'clients',
  callers: 'callers',
  keys: 'keys',
  leaseMs: 'lease',
  waitMs: 'wait',
  hold: 'hold',
  careless: 'careless',
  resource: 'resource',
};

/** What is to be known of the topology. */
interface Deployment {
  /** Whether a built-in lock is for it. */
  fits(lock: string): boolean;
  /** As `TopologyKind.mixedLeaseMs`. */
  mixedLeaseMs?: number | undefined;
}

/**
 * The flags with the workload's own defaults where `given` says that the user gave none. Throws where there is no such
 * workload, or a flag makes no sense for it.
 */
export function withWorkload(
  flags: RunFlags,
  given: (flag: keyof RunFlags) => boolean,
  { fits, mixedLeaseMs }: Deployment,
): RunFlags {
  const workload = workloadOf(flags);
  if (flags.resource !== undefined && !workload.resource)
    throw new UsageError(
      `--resource is for workloads that write to what the lock protects, which ${workload.name} does not`,
    );
  const changed: Partial<Record<keyof RunFlags, unknown>> = {};
  for (const [name, value] of Object.entries(workload.defaults ?? {}) as [keyof WorkloadDefaults, unknown][]) {
    const flag = FLAG_OF[name];
    if (given(flag) || (flag === 'nemesis' && flags.plan !== undefined)) continue;
    if (flag !== 'lock' || fits(value as string)) changed[flag] = value;
  }
  if (workload.resource && flags.resource === undefined) changed.resource ??= 'trusting';
  const decided = (flag: keyof RunFlags) => given(flag) || flag in changed;
  const { leastKeys = 1 } = workload;
  if (given('keys') && flags.keys < leastKeys)
    throw new UsageError(`--keys ${flags.keys}: clients of ${workload.name} take ${leastKeys} locks at once`);
  return withContenders({ ...flags, ...(changed as Partial<RunFlags>) }, decided, mixedLeaseMs);
}

/** What suits a mixture of holds: a client and a key stand still under each long one, and there must be enough beside them. */
const BESIDE_LONG_HOLDS = { clients: 8, keys: 8 };

/** Where holds are mixed: what goes with them, as far as nobody has `decided` otherwise. */
function withContenders(
  flags: RunFlags,
  decided: (flag: keyof RunFlags) => boolean,
  mixedLeaseMs: number | undefined,
): RunFlags {
  if (!isMixed(flags.hold)) return flags;
  const { briefWaitMs, briefTries, ...hold } = flags.hold;
  return {
    ...flags,
    ...(!decided('clients') && { clients: BESIDE_LONG_HOLDS.clients }),
    ...(!decided('keys') && { keys: BESIDE_LONG_HOLDS.keys }),
    ...(!decided('lease') && mixedLeaseMs !== undefined && { lease: mixedLeaseMs }),
    hold: decided('wait') ? hold : flags.hold,
  };
}

function workloadOf({ workload }: RunFlags): Workload {
  const known = Object.keys(workloads);
  if (!known.includes(workload)) throw new UsageError(`no workload "${workload}"; ${insteadOf(workload, known)}`);
  return workloads[workload]!;
}

/** As flags, for `list workloads`: "--lock watchdog --lease 2000ms". */
export function defaultsText({ defaults }: Workload): string {
  const texts = Object.entries(defaults ?? {}).map(([name, value]) => {
    const flag = dashed(FLAG_OF[name as keyof WorkloadDefaults]);
    const unit = name.endsWith('Ms') ? 'ms' : '';
    return value === true ? `--${flag}` : `--${flag} ${valueText(value)}${unit}`;
  });
  return texts.join(' ');
}

function valueText(value: unknown): string {
  if (typeof value === 'object') {
    const { min, max } = value as { min: number; max: number };
    return `${min}x..${max}x`;
  }
  return String(value);
}

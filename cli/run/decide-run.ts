/** What one run of those asked for is to do, once its seed is known: its request and its plan. */
import { randomBytes } from 'node:crypto';
import { WARM_UP_MS } from '../../harness/run/run.js';
import type { Plan } from '../../harness/vocabulary/faults.js';
import type { Capability } from '../../harness/vocabulary/host.js';
import { makePlan, parseNemesis } from '../../nemesis/index.js';
import { commandToReproduce } from '../common/reproduce.js';
import type { AskedRun } from './ask-run.js';
import { lackingOf, planTopology } from './deployment.js';
import { withOpening } from './opening.js';
import { readPlanFile } from './plan-file.js';
import type { RunRequest } from './prepare-run.js';

/** `warnings`: what the user should know of it, though it can be run. */
export interface DecidedRun {
  request: RunRequest;
  plan: Plan;
  warnings: string[];
}

interface DecidedPlan {
  plan: Plan;
  /** Faults as they were asked for. */
  nemesis: string[];
  warnings: string[];
  /** Whether the faults leave the beginning to an opening, and its holder may be killed. */
  opensWithKill: boolean;
}

/** Throws where the faults asked for are not possible. `unavailable`: what this machine lacks. */
export function decideRun(asked: AskedRun, unavailable: Partial<Record<Capability, string>>, seed: number): DecidedRun {
  const { kind, auth, argv } = asked;
  const { plan: planned, nemesis, warnings, opensWithKill } = decidePlan(asked, unavailable, seed);
  const { settings, plan } = withOpening(kind, asked.settings, planned, opensWithKill);
  const password = auth ? { password: randomBytes(16).toString('hex') } : {};
  const topologyOptions = { ...settings.topologyOptions, ...password };
  return {
    request: { ...settings, topologyOptions, seed, nemesis, reproduce: commandToReproduce(argv, seed) },
    plan,
    warnings: [...warnings, ...leaseWarnings(asked)],
  };
}

function decidePlan(
  { kind, settings, faults }: AskedRun,
  unavailable: Partial<Record<Capability, string>>,
  seed: number,
): DecidedPlan {
  const { timeLimitMs, leaseMs, clients, topologyOptions } = settings;
  const topology = planTopology(kind, topologyOptions, clients);
  const lacking = lackingOf(kind, topologyOptions, unavailable);
  if ('planFile' in faults) {
    const plan = readPlanFile(faults.planFile, faults.named, topology, lacking);
    return { plan, nemesis: [...new Set(plan.steps.map((step) => step.fault))], warnings: [], opensWithKill: false };
  }
  const { requests, warnings, phases } = parseNemesis(faults.nemesis, topology, lacking);
  const { intervalMs } = faults;
  const made = makePlan({
    seed,
    faults: requests,
    topology,
    timeLimitMs,
    warmUpMs: WARM_UP_MS,
    intervalMs,
    leaseMs,
    ...(phases && { phases }),
  });
  return {
    plan: made.plan,
    nemesis: requests.map(({ fault, target }) => (target ? `${fault}:${target}` : fault)),
    warnings: [...warnings, ...made.warnings],
    opensWithKill: phases !== undefined,
  };
}

/**
 * What a failover lost shows in holds that outlast it: long ones are drawn from a third of the lease to nine tenths, so that at two
 * and a half failovers seven of eight do. The default lease is above that wherever there is failover.
 */
const FAILOVERS_IN_LEASE = 2.5;

/** A lease that ends before the failover does hides what the failover lost. */
function leaseWarnings({ kind, settings: { leaseMs } }: AskedRun): string[] {
  const leastMs = FAILOVERS_IN_LEASE * (kind.expectedFailoverMs ?? 0);
  if (leaseMs >= leastMs) return [];
  return [
    `a lease of ${leaseMs} ms is below two and a half failovers (${leastMs} ms): many holds end before the lock can be granted again, so little can be found`,
  ];
}

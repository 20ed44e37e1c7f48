/**
 * What a run opens with (`workloads/opening.ts`), where its plan leaves the time for it: nothing strikes before it is over, but
 * that by default its holder is killed when the faults begin.
 */
import { clientSlot, WARM_UP_MS } from '../../harness/run/run.js';
import type { Plan, PlanStep } from '../../harness/vocabulary/faults.js';
import type { TopologyKind } from '../../harness/vocabulary/topology.js';
import type { Opening } from '../../harness/vocabulary/workload.js';
import { isMixed } from '../../workloads/hold-times.js';
import { workloads } from '../../workloads/index.js';
import { openingFor, openingMs } from '../../workloads/opening.js';
import type { AskedRun } from './ask-run.js';

/** At once: what the holder has lasts for a lease from then on. */
const KILL: PlanStep = { atMs: 0, fault: 'kill', target: { names: [clientSlot(0)] }, forMs: 500 };

/** A run's settings and plan with its opening, if it has one. `kills`: its holder may be killed. */
export function withOpening<Settings extends AskedRun['settings']>(
  kind: TopologyKind,
  settings: Settings,
  plan: Plan,
  kills: boolean,
): { settings: Settings; plan: Plan } {
  const { hold, workload, callers = 1 } = settings;
  // Of independent nodes, and of what is not in the servers' record, nobody says that it was free.
  const isJudged = kind.service === 'redis' && kind.quorum !== 'majority';
  if (!isMixed(hold) || callers > 1 || !workloads[workload]?.opens || !isJudged) return { settings, plan };
  const opening = openingFor(settings, kills ? WARM_UP_MS : undefined);
  if (!opening || !leavesTime(plan, opening, settings)) return { settings, plan };
  return {
    settings: { ...settings, hold: { ...hold, opening } },
    plan: kills ? { ...plan, steps: [KILL, ...plan.steps] } : plan,
  };
}

function leavesTime({ steps }: Plan, opening: Opening, { timeLimitMs }: AskedRun['settings']): boolean {
  const overMs = openingMs(opening);
  return timeLimitMs >= overMs && steps.every((step) => 'atMs' in step && WARM_UP_MS + step.atMs >= overMs);
}

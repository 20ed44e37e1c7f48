/** What the clients of a run do: a workload, or what a scenario tells them. */

import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { Scenario, Workload } from '../../harness/vocabulary/workload.js';
import { scenarios } from '../../scenarios/index.js';
import { workloads } from '../../workloads/index.js';

/** Undefined: there is no such workload or scenario any more. */
export function workloadOf(config: Pick<RunConfig, 'workload' | 'scenario'>): Workload | undefined {
  if (config.scenario === undefined) return workloads[config.workload];
  const scenario = scenarios[config.scenario];
  return scenario && played(scenario);
}

function played({ name, claim, judgedBy = [], settings }: Scenario): Workload {
  return {
    name,
    summary: claim,
    // With whatever lock it is played: where grants carry tokens these must rise.
    checkers: [...new Set(['mutual-exclusion', 'ownership', 'liveness', 'waiting', 'fencing', ...judgedBy])],
    model: { kind: 'mutex' },
    ...(settings?.resource && { resource: true }),
    // Its clients are led by hand.
    *script() {},
  };
}

/** What the clients of a run do: a workload, or what a scenario tells them. And which checkers judge it. */

import { checkers, judgesOf } from '../../checkers/index.js';
import type { Checker, RunConfig } from '../../harness/vocabulary/run.js';
import type { Scenario, Workload } from '../../harness/vocabulary/workload.js';
import { scenarios } from '../../scenarios/index.js';
import { everyFeature } from '../../workloads/conform.js';
import { workloads } from '../../workloads/index.js';

type WhatWasRun = Pick<RunConfig, 'workload' | 'scenario'>;

/** Undefined: there is no such workload or scenario any more. */
export function workloadOf(config: WhatWasRun): Workload | undefined {
  if (config.scenario === undefined)
    return config.workload === everyFeature.name ? everyFeature : workloads[config.workload];
  const scenario = scenarios[config.scenario];
  return scenario && played(scenario);
}

/**
 * Of a run by a workload that no longer exists, or that is for any lock: none, so its verdict is "cannot tell". `all`: the
 * checkers to choose from.
 */
export function judgesOfRun(config: WhatWasRun, all: readonly Checker[] = checkers): readonly Checker[] {
  const workload = workloadOf(config);
  return workload === undefined || workload.anyLock
    ? []
    : judgesOf({ ...workload, played: config.scenario !== undefined }, all);
}

function played({ name, claim, settings }: Scenario): Workload {
  return {
    name,
    summary: claim,
    model: { kind: 'mutex' },
    ...(settings?.resource && { resource: true, habit: 'writes' as const }),
    // Its clients are led by hand.
    *script() {},
  };
}

/** Whether real servers show what a schedule found in virtual time: plays its faults in `netns`, in real time. */
import { join } from 'node:path';
import { WARM_UP_MS } from '../../harness/run/run.js';
import { topologies } from '../../harness/topologies/index.js';
import type { Plan } from '../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { PlanError } from '../../nemesis/index.js';
import { UsageError } from '../common/errors.js';
import { planTopology } from '../run/deployment.js';
import type { Machine } from '../run/machine.js';
import { readPlanFile } from '../run/plan-file.js';
import { createPreparer, requestOf } from '../run/prepare-run.js';
import { probeMachine } from '../run/probe-machine.js';
import { StopRequests, supervise } from '../run/supervise.js';
import { CLEAN_START_MS, discoveriesOf, fingerprintOf } from './schedule.js';

/** Below a finding's folder: the runs on real servers, each with its report. */
const REAL_RUNS = 'real';

export interface ConfirmOptions {
  /** The finding's folder. */
  place: string;
  config: RunConfig;
  fingerprint: string;
  times: number;
  /** Whether no other run is to be begun. */
  ends?: () => boolean;
}

/** In how many of the runs it was found again, and how many were asked for; or what this machine needs for them. */
export type Confirmation = { found: number; played: number; asked: number } | { needs: string };

const NO_TIME = 'there was no time left';

export function confirmationText(confirmed: Confirmation): string {
  if ('needs' in confirmed) return `not confirmable: needs ${confirmed.needs}`;
  const { found, played, asked } = confirmed;
  if (played === 0) return `not played on real servers: ${NO_TIME}`;
  const undone = played < asked ? `, and ${asked - played} not played: ${NO_TIME}` : '';
  return `on real servers ${found} of ${played}${undone}`;
}

/** Rejects where a run fails for another reason than what this machine lacks. */
export async function confirmOnServers({
  place,
  config,
  fingerprint,
  times,
  ends = () => false,
}: ConfirmOptions): Promise<Confirmation> {
  if (ends()) return { found: 0, played: 0, asked: times };
  const quiet = () => {};
  let prepared: { machine: Machine; plan: Plan };
  try {
    const machine = await probeMachine({ runtime: 'netns' }, quiet, config.redis);
    const topology = planTopology(topologies[config.topology]!, config.topologyOptions, config.clients);
    prepared = { machine, plan: readPlanFile(join(place, 'plan.json'), 'the plan', topology, machine.unavailable) };
  } catch (error) {
    if (error instanceof UsageError || error instanceof PlanError) return { needs: error.message };
    throw error;
  }
  // Programs warm up for longer; from then on it is the same plan.
  const timeLimitMs = config.timeLimitMs - CLEAN_START_MS + WARM_UP_MS;
  // So few turns are enough where each comes when the schedule has it.
  const { turns: _, ...request } = requestOf(config);
  const prepare = createPreparer(prepared.machine, join(place, REAL_RUNS), quiet);
  const stop = new StopRequests(true);
  let [found, played] = [0, 0];
  for (; played < times && !ends(); played++) {
    const run = await prepare({ ...request, timeLimitMs, replayOf: config.runId }, prepared.plan);
    const ended = await supervise(run, { json: false, quiet: true }, stop);
    if (ended === 'not-begun') break;
    if (!ended.results) throw new Error(`a run on real servers could not be made; see ${run.folder}`);
    if (discoveriesOf(ended.results).some((one) => fingerprintOf(one) === fingerprint)) found++;
  }
  return { found, played, asked: times };
}

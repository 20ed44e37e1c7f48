/** What a run's clients do: the scripts of its workload, each told which client it is for. */
import type { Host } from '../vocabulary/host.js';
import type { RunConfig } from '../vocabulary/run.js';
import type { Workload } from '../vocabulary/workload.js';
import type { SlotOptions } from './client-slot.js';
import { limitedTurns, type TurnsLeft } from './limited-turns.js';

/** The run begins with the first script that is asked for. */
export function scriptsOf(
  workload: Workload,
  config: RunConfig,
  hosts: readonly Host[],
  nowMs: () => number,
): SlotOptions['script'] {
  let beganMs: number | undefined;
  const limits = new Map<string, TurnsLeft>(
    Object.entries(config.turns ?? {}).map(([slot, turns]) => [slot, { turns }]),
  );
  return (random, lock, { slot, isFirst, resumes }) => {
    beganMs ??= nowMs();
    const place = { slot: hosts.findIndex(({ name }) => name === slot), isFirst, beganMs };
    const script = workload.script(
      { ...config, nowMs, place, ...(resumes !== undefined && { resumes }) },
      random,
      lock,
    );
    const left = limits.get(slot);
    return left ? limitedTurns(script, left) : script;
  };
}

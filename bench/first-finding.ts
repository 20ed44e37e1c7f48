/**
 * How long it takes until the first violation of a lock is found, whoever is to blame for it: by a hunt in virtual time, and by runs in
 * real time, one after the other. Both with the flags that they have by default, on a machine that does nothing else for them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AskedHunt } from '../cli/hunt/flags.js';
import { playInWorld } from '../cli/hunt/play-all.js';
import type { Simulation } from '../cli/run/simulation.js';
import { realRun } from './real-run.js';
import { inWorlds, schedulesOf } from './simulated.js';

const MOST_SCHEDULES = 200;
const MOST_RUNS = 10;
/** One that takes longer hangs. */
const RUN_MS = 10 * 60_000;
const VIOLATED = 1;

/** Starting the world is part of it, as it is of a hunt. */
export function firstInVirtualTime(asked: AskedHunt, seed: number, simulation: Simulation): Promise<string> {
  const beganMs = performance.now();
  return inWorlds(asked, { workers: 1, by: 'hunt' }, simulation, async ([world], config) => {
    let played = 0;
    for (const schedule of schedulesOf(asked, seed, MOST_SCHEDULES)) {
      played++;
      const result = await playInWorld(world!, schedule, config);
      if ('found' in result && result.found.length > 0) return told(beganMs, counted(played, 'schedule'));
    }
    return `nothing in ${counted(played, 'schedule')}`;
  });
}

/** Runs of the topology's own lock, with seeds from `seed` on, starting and judging included. Rejects where one cannot run. */
export async function firstInRealTime(topology: string, seed: number): Promise<string> {
  const base = mkdtempSync(join(tmpdir(), 'lock-torture-bench-'));
  const beganMs = performance.now();
  try {
    for (let run = 1; run <= MOST_RUNS; run++) {
      const flags = ['--topology', topology, '--seed', String(seed + run - 1)];
      const { exitCode, trouble } = await realRun(flags, { base, timeoutMs: RUN_MS });
      if (trouble !== undefined) throw new Error(`a run in real time could not be made: ${trouble}`);
      if (exitCode === VIOLATED) return told(beganMs, counted(run, 'run'));
    }
    return `nothing in ${counted(MOST_RUNS, 'run')}`;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function told(beganMs: number, after: string): string {
  return `${((performance.now() - beganMs) / 1e3).toFixed(1)} s (${after})`;
}

function counted(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? '' : 's'}`;
}

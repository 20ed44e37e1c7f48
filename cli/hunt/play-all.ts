/** Plays schedules in the processes that there are. */
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { HuntSchedule } from './hunt-schedule.js';
import type { ScheduleResult } from './schedule.js';
import { EndlessScheduleError, type WorldProcess } from './world-process.js';

export type PlayResult = ScheduleResult | EndlessScheduleError;

/**
 * Results in the order of the schedules, of the first ones only where it was stopped. Whoever is free plays the next. `onPlayed`: of
 * each when it is over.
 */
export async function playAll(
  worlds: readonly WorldProcess[],
  schedules: readonly HuntSchedule[],
  config: Omit<RunConfig, 'seed'>,
  isStopped: () => boolean = () => false,
  onPlayed: (result: PlayResult) => void = () => {},
): Promise<PlayResult[]> {
  const results: PlayResult[] = [];
  let next = 0;
  const plays = async (world: WorldProcess) => {
    while (next < schedules.length && !isStopped()) {
      const n = next++;
      const result = await playInWorld(world, schedules[n]!, config);
      results[n] = result;
      onPlayed(result);
    }
  };
  await Promise.all(worlds.map(plays));
  return results;
}

/** Resolves with an EndlessScheduleError where it does not end. */
export function playInWorld(
  world: WorldProcess,
  { seed, steps, hold }: HuntSchedule,
  config: Omit<RunConfig, 'seed'>,
): Promise<PlayResult> {
  return world.play({ ...config, ...(hold && { hold }), seed }, { version: 1, seed, steps }).catch((error) => {
    if (error instanceof EndlessScheduleError) return error;
    throw error;
  });
}

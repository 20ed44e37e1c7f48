/** Shrinking what a schedule found, by playing what is less of it. */
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { UsageError } from '../common/errors.js';
import type { HuntSchedule } from './hunt-schedule.js';
import { playInWorld } from './play-all.js';
import { type Discovery, fingerprintOf } from './schedule.js';
import { type Shrinkable, type Shrunk, shrinkSchedule } from './shrink.js';
import { EndlessScheduleError, type WorldProcess } from './world-process.js';

/**
 * The fewest faults and the least else of a schedule that still find what it found, and all that this shows; absent: nothing else was
 * played. `onEndless`: one of the plays did not end.
 */
export async function shrinkFinding(
  world: WorldProcess,
  schedule: HuntSchedule,
  config: Omit<RunConfig, 'seed'>,
  fingerprint: string,
  { onEndless, isStopped }: { onEndless(): void; isStopped(): boolean },
): Promise<{ shrunk: Shrunk; shows?: Discovery[] }> {
  const shown = new Map<string, Discovery[]>();
  const finds = finder(world, schedule, config, fingerprint, onEndless, (tried, found) =>
    shown.set(identityOf(tried), found),
  );
  const shrunk = await shrinkSchedule(wholeOf(schedule, config), finds, isStopped);
  const shows = shown.get(identityOf(shrunk));
  return { shrunk, ...(shows && { shows }) };
}

function identityOf({ seed, steps, clients, keys, timeLimitMs, turns }: Shrinkable): string {
  return JSON.stringify([seed, steps, clients, keys, timeLimitMs, turns]);
}

/** Nothing of it is less. */
export function wholeOf(
  { seed, steps }: HuntSchedule,
  { clients, keys, timeLimitMs }: Omit<RunConfig, 'seed'>,
): Shrinkable {
  return { seed, steps, clients, keys: keys.length, timeLimitMs };
}

/** Whether a schedule that is less finds the same. `onShown`: all that one shows which does. */
export function finder(
  world: WorldProcess,
  schedule: HuntSchedule,
  config: Omit<RunConfig, 'seed'>,
  fingerprint: string,
  onEndless: () => void,
  onShown: (tried: Shrinkable, found: Discovery[]) => void = () => {},
): (tried: Shrinkable) => Promise<boolean> {
  return async (tried) => {
    const again = await playInWorld(
      world,
      { ...schedule, seed: tried.seed, steps: tried.steps },
      { ...config, ...lessOf(config, tried) },
    ).catch((error) => {
      // Not every workload can do with fewer clients: what cannot be played does not find it.
      if (error instanceof UsageError) return undefined;
      throw error;
    });
    if (again instanceof EndlessScheduleError) onEndless();
    if (!again || again instanceof EndlessScheduleError) return false;
    const does = again.found.some((one) => fingerprintOf(one) === fingerprint);
    if (does) onShown(tried, again.found);
    return does;
  };
}

/** What is less of a config. */
export function lessOf(
  config: Pick<RunConfig, 'keys'>,
  { clients, keys, timeLimitMs, turns }: Shrinkable,
): Pick<RunConfig, 'clients' | 'keys' | 'timeLimitMs' | 'turns'> {
  return { clients, keys: config.keys.slice(0, keys), timeLimitMs, ...(turns && { turns }) };
}

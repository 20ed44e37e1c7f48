/** What a lock's watchdog does, as its client tells it. */
import type { Stage } from '../../harness/vocabulary/workload.js';

/** Resolves with when each renewal of the play left, milliseconds by the run's clock, as soon as they are enough. */
async function renewalsUntil(stage: Stage, what: string, isEnough: (sentMs: readonly number[]) => boolean) {
  const sentMs = new Map<number, number>();
  await stage.event(what, (event) => {
    if (event.type === 'renewed') sentMs.set(event.i, event.sentNs / 1e6);
    return isEnough([...sentMs.values()]);
  });
  return [...sentMs.values()];
}

/** Resolves with when the first `count` renewals left. */
export function renewals(stage: Stage, count: number): Promise<number[]> {
  return renewalsUntil(stage, `renewal ${count}`, (sentMs) => sentMs.length >= count);
}

/** Resolves with when they left, from the first one on to the first that left at least `ms` after it. */
export async function renewalsFor(stage: Stage, ms: number): Promise<number[]> {
  await renewals(stage, 1);
  await stage.sleep(ms);
  return renewalsUntil(stage, `a renewal after ${ms} ms`, (sentMs) => sentMs.at(-1)! >= sentMs[0]! + ms);
}

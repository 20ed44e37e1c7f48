/** What an exhaustive search does with its time, with worlds that play nothing and a clock that only they move. */
import { expect, test } from 'vitest';
import { Budget } from '../../../../cli/hunt/budget.js';
import type { OrderAction } from '../../../../cli/hunt/exhaustive/actions.js';
import { courseOf } from '../../../../cli/hunt/exhaustive/course.js';
import { exhaust, type FoundInCourse } from '../../../../cli/hunt/exhaustive/exhaust.js';
import { type Discovery, fingerprintOf, type ScheduleResult } from '../../../../cli/hunt/schedule.js';
import type { PlayOptions, WorldProcess } from '../../../../cli/hunt/world-process.js';
import type { Plan } from '../../../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../../../harness/vocabulary/run.js';

const PLAY_MS = 100;

function discovery(blame: Discovery['blame'], cause: string, of: Discovery['class'] = 'exclusion'): Discovery {
  return { checker: 'any', class: of, kind: 'some', cause, blame, sentence: '', proof: '' };
}

/** Every order of `actions` things, all of which depend on each other; each course shows `found`. */
async function exhausted({ forMs, actions, found = [] }: { forMs?: number; actions: number; found?: Discovery[] }) {
  let [nowMs, descents] = [0, 0];
  const world = {
    async play(_config: RunConfig, _plan: Plan, { order }: PlayOptions): Promise<ScheduleResult> {
      nowMs += PLAY_MS;
      if (order!.descent !== undefined) descents++;
      const { choose, played } = courseOf(order!);
      const left = Array.from({ length: actions }, (_, n) => ({ id: `${n}` }) as OrderAction);
      for (let chosen: OrderAction | undefined; left.length > 0; left.splice(left.indexOf(chosen), 1)) {
        chosen = choose(left);
        if (!chosen) break;
      }
      const result = {
        digest: '',
        virtualMs: 1,
        verdict: 'held' as const,
        holds: 1,
        strikes: 0,
        struckHolds: 0,
        shown: [],
      };
      return { ...result, found, reasons: [], order: played };
    },
  } as unknown as WorldProcess;
  const told: FoundInCourse[] = [];
  const same: string[] = [];
  const totals = await exhaust({
    worlds: [world],
    config: { seed: 1 } as RunConfig,
    bound: { operations: 2, faults: 0 },
    isReduced: false,
    budget: Budget.of(forMs, () => nowMs),
    isStopped: () => false,
    onEstimate() {},
    onCourse() {},
    async onFinding(finding) {
      told.push(finding);
    },
    onSame: (one, as) => same.push(`${fingerprintOf(one)} as ${as}`),
    onProgress() {},
  });
  return { totals, told, same, descents, nowMs };
}

test('every order is played once, beside those of the estimate', async () => {
  const { totals, descents } = await exhausted({ actions: 4 });
  expect(totals).toMatchObject({ courses: 24, isExhausted: true, estimate: 24, descents });
  expect(descents).toBeGreaterThan(3);
});

test('the estimate has a tenth of the time, to one schedule, and the search has the rest', async () => {
  const { totals, descents, nowMs } = await exhausted({ actions: 7, forMs: 3_000 });
  expect(descents).toBe(3);
  expect(totals).toMatchObject({ courses: 27, estimate: 5_040, isExhausted: false });
  expect(nowMs).toBe(3_000);
});

test('what the estimate finds counts the schedules that were played until then, and one mistake is told once', async () => {
  const found = [discovery('lock', 'released-by-other', 'stale'), discovery('lock', 'released-by-other')];
  const lease = discovery('lease', 'client-paused', 'stale');
  const { told, same } = await exhausted({ actions: 3, found: [lease, ...found] });
  expect(told).toMatchObject([
    { found: found[1], schedule: 1, same: [found[0]] },
    { found: lease, schedule: 1, same: [] },
  ]);
  expect(same).toEqual([]);
});

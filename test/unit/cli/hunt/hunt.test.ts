/** What a hunt does with its time and with what it finds, with worlds that play nothing and a clock that only they move. */
import { expect, test } from 'vitest';
import { Budget } from '../../../../cli/hunt/budget.js';
import { type HuntOptions, hunt, type NewFinding } from '../../../../cli/hunt/hunt.js';
import { type Discovery, fingerprintOf, type ScheduleResult } from '../../../../cli/hunt/schedule.js';
import type { WorldProcess } from '../../../../cli/hunt/world-process.js';
import type { Plan, PlanStep } from '../../../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../../../harness/vocabulary/run.js';
import type { HoldTimes } from '../../../../harness/vocabulary/workload.js';
import { type PlanTopology, searchedAs } from '../../../../nemesis/index.js';

const PLAY_MS = 100;
const TOPOLOGY: PlanTopology = {
  ...{ name: 'single', service: 'redis', replicated: false, quorum: 'primary' },
  ...{ nodes: ['r1'], sentinels: [], clients: ['c1', 'c2'] },
};

function discovery(blame: Discovery['blame'], cause: string, of: Discovery['class'] = 'exclusion'): Discovery {
  return { checker: 'any', class: of, kind: 'some', cause, blame, sentence: '', proof: '' };
}

const LOST = discovery('lock', 'released-by-other');

/** `finds`: what a plan shows. `forMs` undefined: without an end. Every play takes `PLAY_MS`. */
async function hunted(
  finds: (plan: Plan) => Discovery[],
  {
    forMs,
    runs,
    worlds = 1,
    habits,
    from = 1,
  }: { forMs?: number; runs?: number; worlds?: number; habits?: HoldTimes; from?: number },
) {
  let nowMs = 0;
  /** Of each play: of what seed it is, and when it ended. */
  const plays: { seed: number; endMs: number; hold: HoldTimes }[] = [];
  const world = {
    async play({ seed, hold }: RunConfig, plan: Plan): Promise<ScheduleResult> {
      nowMs += PLAY_MS;
      plays.push({ seed, endMs: nowMs, hold });
      const digest = JSON.stringify(plan.steps);
      const found = finds(plan);
      return {
        digest,
        found,
        virtualMs: 1,
        verdict: 'held',
        holds: 1,
        strikes: 0,
        struckHolds: 0,
        shown: [],
        reasons: [],
      };
    },
  } as unknown as WorldProcess;
  const searched: { seed: number; fresh: string[]; steps: PlanStep[] }[] = [];
  const told: (NewFinding & { atMs: number; isSpent: boolean })[] = [];
  const same: string[] = [];
  const totals = await hunt({
    worlds: Array.from({ length: worlds }, () => world),
    seed: 7,
    shard: { index: from, of: from },
    ...(habits && { habits }),
    ...(runs !== undefined && { runs }),
    config: { leaseMs: 470, clients: 2, keys: ['lock:0'], timeLimitMs: 2_000 } as HuntOptions['config'],
    topology: TOPOLOGY,
    faults: ['pause', 'delay', 'kill'],
    endMs: 1_500,
    budget: Budget.of(forMs, () => nowMs),
    isStopped: () => false,
    onSchedule({ seed, steps }, _result, fresh) {
      searched.push({ seed, fresh: fresh.map(fingerprintOf), steps });
    },
    async onFinding(finding, budget) {
      told.push({ ...finding, atMs: nowMs, isSpent: budget.isSpent() });
    },
    onSame: (found, as) => same.push(`${fingerprintOf(found)} as ${as}`),
    onEndless() {},
  });
  return { totals, plays, searched, told, same, nowMs };
}

const always = () => [LOST];
const withPause = ({ steps }: Plan) => (steps.some(({ fault }) => fault === 'pause') ? [LOST] : []);

test('a search that finds nothing has all of the time, to one schedule', async () => {
  const { totals, nowMs } = await hunted(() => [], { forMs: 5_050 });
  expect(nowMs).toBe(5_100);
  expect(totals.schedules).toBe(51);
});

test('one that finds something searches first, for half of the time, shrinks after, and goes on with what is left', async () => {
  const { totals, plays, searched, told, nowMs } = await hunted(withPause, { forMs: 20_000 });
  const [finding] = told;
  const seeds = new Set(searched.map(({ seed }) => seed));
  const before = plays.filter(({ endMs }) => endMs <= 10_000);
  // Nothing is played twice before half of the time is over.
  expect(new Set(before.map(({ seed }) => seed)).size).toBe(100);
  expect(before.every(({ seed }) => seeds.has(seed))).toBe(true);
  expect(finding!.shrunk).toMatchObject({ isMinimal: true, wasStopped: false, clients: 2 });
  expect(finding!.shrunk.steps).toHaveLength(1);
  expect(totals.schedules).toBeGreaterThan(110);
  expect(nowMs).toBe(20_000);
});

test('what the budget does not suffice to shrink is told all the same, and time is left to play it again', async () => {
  const { told, nowMs } = await hunted(always, { forMs: 1_000 });
  const [finding] = told;
  expect(finding!.shrunk).toMatchObject({ isMinimal: false, wasStopped: true });
  expect(finding!.isSpent).toBe(false);
  expect(nowMs).toBeLessThanOrEqual(1_000);
});

test('clients hold in what is shrunk and told as they did in the schedule that found it', async () => {
  const habits = { min: 0.3, max: 0.4 };
  const { told, plays } = await hunted(always, { runs: 3, habits, from: 2 });
  expect(told.map(({ hold }) => hold)).toEqual([habits]);
  expect(plays.every(({ hold }) => hold === habits)).toBe(true);
});

test('one schedule is played in any case', async () => {
  const { totals, told, nowMs } = await hunted(always, { forMs: 1 });
  expect(totals.schedules).toBe(1);
  expect(told[0]!.shrunk).toMatchObject({ executions: 0, isMinimal: false, wasStopped: true });
  expect(nowMs).toBe(PLAY_MS);
});

test('a number of schedules is that of the search; what it finds is shrunk to the end, in whichever world is free', async () => {
  const other = discovery('lock', 'another');
  const { totals, plays, told } = await hunted(() => [LOST, other], { runs: 20, worlds: 2 });
  expect(totals.schedules).toBe(20);
  expect(new Set(plays.slice(0, 20).map(({ seed }) => seed)).size).toBe(20);
  expect(told.map(({ shrunk }) => shrunk.isMinimal)).toEqual([true, true]);
});

test('what takes long to shrink holds up no other world', async () => {
  const long = discovery('lock', 'takes-long');
  const quick = ['one', 'another'].map((cause) => discovery('lock', cause, 'stale'));
  const finds = ({ steps }: Plan) => [...(steps.length > 0 ? [long] : []), ...quick];
  const { told } = await hunted(finds, { runs: 8, worlds: 2 });
  expect(told.map(({ found }) => found)).toEqual([long, ...quick]);
});

test('the schedules are the same however long there is to play them', async () => {
  const forSome = await hunted(withPause, { forMs: 15_000 });
  const forAll = await hunted(withPause, { runs: forSome.searched.length });
  expect(forAll.searched).toEqual(forSome.searched);
});

test('what breaks every lock is left out of later schedules, when its fault does so alone', async () => {
  const everyLock = discovery('deployment', 'node-forgot');
  const killed = ({ steps }: Plan) => (steps.some(({ fault }) => fault === 'kill') ? [everyLock] : []);
  const { totals, searched } = await hunted(killed, { runs: 64 });
  expect(totals.leftOut).toEqual([expect.stringMatching(/^kill:/)]);
  const such = (of: typeof searched) =>
    of.filter(({ steps }) => steps.some((step) => totals.leftOut.includes(searchedAs(step, TOPOLOGY))));
  expect(such(searched.slice(0, 16)).length).toBeGreaterThan(3);
  expect(such(searched.slice(16))).toEqual([]);
  const unprovoked = await hunted(() => [everyLock], { runs: 64 });
  expect(unprovoked.totals.leftOut).toEqual([]);
  // What a lock does when a lease is over shows by nothing else.
  const stale = discovery('lease', 'client-paused', 'stale');
  const paused = ({ steps }: Plan) => (steps.some(({ fault }) => fault === 'pause') ? [stale] : []);
  expect((await hunted(paused, { runs: 64 })).totals.leftOut).toEqual([]);
});

test('one mistake is told once: by its cause, and where it has none by the minimal schedule of the lock’s', async () => {
  const stale = discovery('lock', 'released-by-other', 'stale');
  const unproven = discovery('unexplained', 'unexplained');
  const { told, same } = await hunted(() => [unproven, stale, LOST], { runs: 4 });
  expect(told.map(({ found, same: others }) => [found, others])).toEqual([[LOST, [stale, unproven]]]);
  expect(same).toEqual([]);
});

test('a mistake with a cause of its own is told, and so is what is unexplained where only what every lock does explains it', async () => {
  const lease = discovery('lease', 'client-paused', 'stale');
  const unproven = discovery('unexplained', 'unexplained');
  const both = await hunted(() => [LOST, lease], { runs: 4 });
  expect(both.told.map(({ found }) => found)).toEqual([LOST, lease]);
  const doubtful = await hunted(() => [unproven, lease], { runs: 4 });
  expect(doubtful.told.map(({ found }) => found)).toEqual([unproven, lease]);
});

test('what is unexplained in a schedule that found the lock’s mistake, but not in the smallest of either, is told', async () => {
  const unproven = discovery('unexplained', 'unexplained');
  const apart = ({ steps }: Plan) => [
    ...(steps.some(({ fault }) => fault === 'pause') ? [LOST] : []),
    ...(steps.some(({ fault }) => fault === 'kill') ? [unproven] : []),
  ];
  const { told, same } = await hunted(apart, { runs: 32 });
  expect(told.map(({ found }) => found)).toEqual([LOST, unproven]);
  expect(same).toEqual([]);
});

test('what shows only after its mistake was told is said to be the same', async () => {
  const unproven = discovery('unexplained', 'unexplained');
  let plays = 0;
  const later = () => (++plays > 350 ? [LOST, unproven] : [LOST]);
  const { told, same } = await hunted(later, { forMs: 60_000 });
  expect(told.map(({ found, same: others }) => [found, others])).toEqual([[LOST, []]]);
  expect(same).toEqual([`${fingerprintOf(unproven)} as ${fingerprintOf(LOST)}`]);
});

test('what is unexplained is no part of what every lock does, though every schedule shows both', async () => {
  const lease = discovery('lease', 'client-paused', 'stale');
  const unproven = discovery('unexplained', 'unexplained');
  let plays = 0;
  const { told, same } = await hunted(() => (++plays > 350 ? [lease, unproven] : [lease]), { forMs: 60_000 });
  expect(told.map(({ found }) => found)).toEqual([lease, unproven]);
  expect(same).toEqual([]);
});

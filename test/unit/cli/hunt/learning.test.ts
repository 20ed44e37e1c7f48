/** The search itself, with worlds that play nothing: what they find is a function of the schedule. */
import { expect, test } from 'vitest';
import { Budget } from '../../../../cli/hunt/budget.js';
import { Corpus } from '../../../../cli/hunt/corpus.js';
import { type HuntOptions, hunt } from '../../../../cli/hunt/hunt.js';
import type { HuntSchedule } from '../../../../cli/hunt/hunt-schedule.js';
import type { Discovery, ScheduleResult } from '../../../../cli/hunt/schedule.js';
import type { WorldProcess } from '../../../../cli/hunt/world-process.js';
import { createRandom } from '../../../../harness/runtimes/random.js';
import type { Plan } from '../../../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../../../harness/vocabulary/run.js';

const topology = {
  name: 'single',
  service: 'redis' as const,
  replicated: false,
  quorum: 'primary' as const,
  nodes: ['r1'],
  sentinels: [],
  clients: ['c1', 'c2'],
};
const END_MS = 3_000;

/** `show`: the orders of commands that a plan shows. */
function world(show: (plan: Plan) => string[], afterMs = () => 0, found: readonly Discovery[] = []): WorldProcess {
  const play = async (config: RunConfig, plan: Plan): Promise<ScheduleResult> => {
    const ms = afterMs();
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    const shown = show(plan);
    const digest = JSON.stringify([config.seed, plan.steps]);
    return {
      digest,
      virtualMs: 1,
      verdict: 'held',
      found: [...found],
      holds: 1,
      strikes: 0,
      struckHolds: 0,
      shown,
      reasons: [],
    };
  };
  return { play } as unknown as WorldProcess;
}

async function played(
  worlds: readonly WorldProcess[],
  runs: number,
  isStopped = () => false,
  onFinding: HuntOptions['onFinding'] = async () => {},
) {
  const all: { schedule: HuntSchedule; digest: string }[] = [];
  const options: HuntOptions = {
    worlds,
    seed: 7,
    shard: { index: 1, of: 1 },
    runs,
    config: { leaseMs: 470, clients: 2, keys: ['lock:0'], timeLimitMs: 2_000 } as HuntOptions['config'],
    topology,
    faults: ['pause', 'delay', 'kill'],
    endMs: END_MS,
    budget: Budget.of(undefined, () => 0),
    isStopped,
    onSchedule: (schedule, { digest }) => all.push({ schedule, digest }),
    onFinding,
    onSame() {},
    onEndless: () => {},
  };
  await hunt(options);
  return all;
}

/** How deep a plan goes: pauses, each shortly after the one before. Deeper is rarer, and one change away from what is less deep. */
function depthOf({ steps }: Plan): number {
  const pauses = steps.filter(({ fault }) => fault === 'pause').map((step) => ('atMs' in step ? step.atMs : 0));
  let depth = 0;
  for (let at = 1; at < pauses.length; at++) depth += pauses[at]! - pauses[at - 1]! < 60 ? 1 : 0;
  return depth;
}

const showsDepth = (plan: Plan) => Array.from({ length: depthOf(plan) + 1 }, (_, n) => `depth ${n}`);

test('schedules that are made of others are the same with any number of workers, whoever is done first', async () => {
  let n = 0;
  const late = () => [0, 3, 1, 5][n++ % 4]!;
  const one = await played([world(showsDepth)], 64);
  const three = await played([world(showsDepth, late), world(showsDepth, late), world(showsDepth, late)], 64);
  expect(three).toEqual(one);
  expect(one.map(({ schedule }) => schedule.number)).toEqual(Array.from({ length: 64 }, (_, at) => at + 1));
});

test('the first generation is drawn; of the later ones about half is made of what showed something new before them', async () => {
  const all = await played([world(showsDepth)], 112);
  const made = all.filter(({ schedule }) => schedule.madeOf !== undefined).map(({ schedule }) => schedule);
  expect(made[0]!.number).toBeGreaterThan(16);
  expect(made.length / 96).toBeGreaterThan(0.35);
  expect(made.length / 96).toBeLessThan(0.65);
  for (const { number, madeOf } of made) expect(Math.ceil(madeOf! / 16)).toBeLessThan(Math.ceil(number / 16));
});

test('once it is stopped no schedule is begun, and those that were played count', async () => {
  let begun = 0;
  const counting = () => {
    begun++;
    return 0;
  };
  const all = await played([world(showsDepth, counting)], 64, () => begun >= 20);
  expect(begun).toBe(20);
  expect(all.map(({ schedule }) => schedule.number)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
});

test("of what one schedule finds the lock's mistakes are told first, then unexplained, deployment and lease, each by class", async () => {
  const what = (blame: Discovery['blame'], of: Discovery['class']): Discovery => ({
    ...{ checker: 'any', class: of, kind: 'some', cause: `${blame} ${of}`, blame, sentence: '', proof: '' },
  });
  const found = [
    what('lease', 'stale'),
    what('deployment', 'exclusion'),
    what('unexplained', 'liveness'),
    what('unexplained', 'exclusion'),
    what('lock', 'liveness'),
    what('lock', 'harm'),
  ];
  const told: string[] = [];
  await played([world(() => [], undefined, found)], 1, undefined, async ({ found: one }) => {
    told.push(`${one.blame} ${one.class}`);
  });
  expect(told).toEqual([
    'lock harm',
    'lock liveness',
    'unexplained exclusion',
    'unexplained liveness',
    'deployment exclusion',
    'lease stale',
  ]);
});

test('where nothing new is shown, all are drawn', async () => {
  const all = await played([world(() => [])], 64);
  expect(all.every(({ schedule }) => schedule.madeOf === undefined)).toBe(true);
});

test('one that is made of another differs from it by one change, or by its chance alone', () => {
  const corpus = new Corpus();
  const step = (fault: string, atMs: number) => ({ fault, target: { names: ['c1'] }, atMs, forMs: 100 });
  const parent = { number: 3, seed: 33, steps: [step('pause', 100), step('delay', 900)] };
  expect(corpus.learn(parent, ['a'])).toBe(true);
  expect(corpus.learn({ ...parent, number: 4 }, ['a'])).toBe(false);
  const drawn = { number: 20, seed: 44, steps: [step('kill', 500)] };
  const made = Array.from({ length: 200 }, (_, n) =>
    corpus.madeOf(drawn, END_MS, createRandom(n).fork('made of')),
  ).filter((one) => one !== undefined);
  expect(made.length).toBeGreaterThan(60);
  for (const { number, madeOf, seed, steps } of made) {
    expect([number, madeOf]).toEqual([20, 3]);
    const kept = parent.steps.filter((one) => steps.some((other) => JSON.stringify(other) === JSON.stringify(one)));
    const others = steps.length - kept.length;
    expect(others).toBeLessThanOrEqual(1);
    expect(steps.length).toBe(kept.length < 2 ? 2 : 2 + others);
    if (seed === drawn.seed) expect(steps).toEqual(parent.steps);
    else expect(seed).toBe(parent.seed);
    const times = steps.map((one) => ('atMs' in one ? one.atMs : Number.NaN));
    expect(times).toEqual(times.toSorted((first, second) => first - second));
    expect(times.every((ms) => ms >= 0 && ms <= END_MS)).toBe(true);
    expect(steps.every(({ forMs }) => forMs >= 10 && forMs <= 100)).toBe(true);
  }
});

test('a request that is held back is another one in what is made of it, of the same operation or of another', () => {
  const corpus = new Corpus();
  const held = { fault: 'preempt', target: 'client' as const, atMs: 0, forMs: 100, args: { request: 50 } };
  corpus.learn({ number: 3, seed: 33, steps: [held] }, ['a']);
  const drawn = { number: 20, seed: 44, steps: [] };
  const requests = Array.from({ length: 300 }, (_, n) =>
    corpus.madeOf(drawn, END_MS, createRandom(n).fork('made of')),
  ).flatMap((one) => one?.steps.map(({ args }) => Number(args!.request)) ?? []);
  expect(requests.filter((one) => one !== 50 && Math.abs(one - 50) <= 3).length).toBeGreaterThan(5);
  expect(requests.filter((one) => Math.abs(one - 50) > 3).length).toBeGreaterThan(5);
  expect(requests.every((one) => one >= 10 && one <= 90)).toBe(true);
});

test('a fault that is aimed is aimed at another moment near by in what is made of it, or moved with its aim', () => {
  const corpus = new Corpus();
  const aim = { side: 'after' as const, event: 'request' as const, count: 2 };
  const aimed = { fault: 'pause', target: { names: ['c1'] }, atMs: 1_000, aim, forMs: 100 };
  corpus.learn({ number: 3, seed: 33, steps: [aimed] }, ['a']);
  const made = Array.from({ length: 300 }, (_, n) =>
    corpus.madeOf({ number: 20, seed: 44, steps: [] }, END_MS, createRandom(n).fork('made of')),
  ).flatMap((one) => (one ? (one.steps as (typeof aimed)[]) : []));
  const others = made.filter(({ aim: { count } }) => count !== 2);
  expect(others.length).toBeGreaterThan(5);
  for (const one of others) expect(one).toEqual({ ...aimed, aim: { ...aim, count: one.aim.count } });
  expect(new Set(others.map(({ aim: { count } }) => count))).toEqual(new Set([1, 3, 4, 5]));
  const moved = made.filter(({ atMs }) => atMs !== 1_000);
  expect(moved.length).toBeGreaterThan(5);
  for (const one of moved) expect(one.aim).toEqual(aim);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Shrinkable, shrinkSchedule } from '../../../../cli/hunt/shrink.js';
import type { PlanStep } from '../../../../harness/vocabulary/faults.js';
import { SEARCHED, searchArbitrary } from '../../../../nemesis/index.js';

const topology = {
  name: 'single',
  service: 'redis' as const,
  replicated: false,
  quorum: 'primary' as const,
  nodes: ['r1'],
  sentinels: [],
  clients: ['c1', 'c2'],
};
const arbitrary = searchArbitrary({ faults: SEARCHED, topology, endMs: 3_000, leaseMs: 500 });

/** The first seed whose schedule has at least four faults and is as asked for. */
function drawn(is: (steps: PlanStep[]) => boolean): { steps: PlanStep[]; seed: number } {
  for (let seed = 1; ; seed++) {
    const [steps = []] = fc.sample(arbitrary, { seed, numRuns: 1 });
    if (steps.length >= 4 && is(steps)) return { steps, seed };
  }
}

const whole = (steps: PlanStep[]): Shrinkable => ({ steps, clients: 2, timeLimitMs: 1_000 });
/** Faults only: of clients and time there is as little as can be. */
const shrinkSteps = (steps: PlanStep[], finds: (steps: PlanStep[]) => Promise<boolean>) =>
  shrinkSchedule(whole(steps), (tried) => finds(tried.steps));

const has = (steps: PlanStep[], fault: string, leastMs: number) =>
  steps.some((step) => step.fault === fault && step.forMs >= leastMs);

test('of many faults the one is left that it takes, about as short as it may be', async () => {
  const finds = (steps: PlanStep[]) => has(steps, 'delay', 100);
  const { steps } = drawn(finds);
  const shrunk = await shrinkSteps(steps, async (tried) => finds(tried));
  expect(shrunk.steps).toHaveLength(1);
  expect(shrunk.isMinimal).toBe(true);
  expect(finds(shrunk.steps)).toBe(true);
  expect(shrunk.steps[0]!.forMs).toBeLessThanOrEqual(120);
});

test('of two that it takes together both are left', async () => {
  const finds = (steps: PlanStep[]) => has(steps, 'pause', 50) && has(steps, 'kill', 10);
  const { steps } = drawn(finds);
  const shrunk = await shrinkSteps(steps, async (tried) => finds(tried));
  expect(shrunk.steps.map(({ fault }) => fault).sort()).toEqual(['kill', 'pause']);
});

test('where nothing is needed nothing is left', async () => {
  const { steps } = drawn(() => true);
  expect((await shrinkSteps(steps, async () => true)).steps).toEqual([]);
});

test('it comes to its end where nothing can be left out, and says so where it ran out of time', async () => {
  const { steps } = drawn(() => true);
  const only = JSON.stringify(steps);
  const shrunk = await shrinkSteps(steps, async (tried) => JSON.stringify(tried) === only);
  expect(shrunk.steps).toEqual(steps);
  expect(shrunk.executions).toBeLessThanOrEqual(300);
});

test('once it is stopped nothing more is played, and what is left may not be the least', async () => {
  const { steps } = drawn(() => true);
  let plays = 0;
  const finds = async () => ++plays > 0;
  const shrunk = await shrinkSchedule(whole(steps), finds, () => plays >= 2);
  expect(plays).toBe(2);
  expect(shrunk).toMatchObject({ executions: 2, isMinimal: false });
  expect(shrunk.steps).toHaveLength(steps.length - 2);
});

test('as few clients and as little time are left as do, and of clients all that are struck', async () => {
  const step = (names: string[], atMs: number, forMs: number): PlanStep => ({
    fault: 'pause',
    target: { names },
    atMs,
    forMs,
  });
  const shrunk = (names: string[], least: (tried: Shrinkable) => boolean) =>
    shrinkSchedule(
      { steps: [step(names, 1_037, 444)], clients: 6, timeLimitMs: 3_500 },
      async (tried) => tried.steps.length === 1 && least(tried),
    );
  expect(await shrunk(['c2'], () => true)).toMatchObject({ clients: 2, timeLimitMs: 1_000 });
  expect(await shrunk(['c4'], () => true)).toMatchObject({ clients: 4, timeLimitMs: 1_000 });
  const needs = await shrunk(['c1'], ({ clients, timeLimitMs }) => clients >= 3 && timeLimitMs >= 1_700);
  expect(needs).toMatchObject({ clients: 3, timeLimitMs: 2_000 });
});

test('numbers are as round as they can be: when a fault begins, and how long it lasts', async () => {
  const step: PlanStep = { fault: 'pause', target: { names: ['c1'] }, atMs: 1_037, forMs: 444 };
  const needs = ({ steps: [one] }: Shrinkable) =>
    one !== undefined && 'atMs' in one && one.atMs > 1_030 && one.forMs >= 237;
  const { steps } = await shrinkSchedule(whole([step]), async (tried) => needs(tried));
  // 237 ms are needed; 300 would be rounder than 250, and much longer.
  expect(steps).toEqual([{ ...step, atMs: 1_100, forMs: 250 }]);
});

test('of those that are named together only those are left that it takes', async () => {
  const step = (names: string[]): PlanStep => ({ atMs: 0, fault: 'priorities', target: { names }, forMs: 100 });
  const shrunk = await shrinkSteps([step(['c2', 'c3', 'c4', 'c1'])], async (steps) => {
    const [first] = steps;
    if (!first || typeof first.target === 'string') return false;
    const { names } = first.target;
    return names.includes('c3') && names.indexOf('c3') < names.indexOf('c1');
  });
  expect(shrunk.steps[0]!.target).toEqual({ names: ['c3', 'c1'] });
});

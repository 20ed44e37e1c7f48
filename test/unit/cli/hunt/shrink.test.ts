import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shrinkSteps } from '../../../../cli/hunt/shrink.js';
import type { PlanStep } from '../../../../harness/vocabulary/faults.js';
import { SEARCHED, searchArbitrary } from '../../../../nemesis/index.js';

const topology = {
  name: 'single',
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

const has = (steps: PlanStep[], fault: string, leastMs: number) =>
  steps.some((step) => step.fault === fault && step.forMs >= leastMs);

test('of many faults the one is left that it takes, about as short as it may be', async () => {
  const finds = (steps: PlanStep[]) => has(steps, 'delay', 100);
  const { steps } = drawn(finds);
  const shrunk = await shrinkSteps(steps, async (tried) => finds(tried));
  expect(shrunk.steps).toHaveLength(1);
  expect(shrunk.isMinimal).toBe(true);
  expect(finds(shrunk.steps)).toBe(true);
  expect(shrunk.steps[0]!.forMs).toBeLessThanOrEqual(105);
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

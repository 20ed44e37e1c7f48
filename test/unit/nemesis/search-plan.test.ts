import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faults } from '../../../nemesis/faults/index.js';
import { fitPlan } from '../../../nemesis/fit-plan.js';
import { SEARCHED, SEARCHED_BY_DEFAULT, searchArbitrary } from '../../../nemesis/search-plan.js';
import type { PlanTopology } from '../../../nemesis/striking/context.js';

const topology: PlanTopology = {
  name: 'single',
  replicated: false,
  quorum: 'primary',
  nodes: ['r1'],
  sentinels: [],
  clients: ['c1', 'c2', 'c3'],
};
const options = { faults: SEARCHED, topology, endMs: 3_000, leaseMs: 500 };

test('all that is searched with are faults', () => {
  for (const name of [...SEARCHED, ...SEARCHED_BY_DEFAULT]) expect(faults[name]?.name).toBe(name);
});

test('every plan can be carried out, on named hosts, and none is long', () => {
  fc.assert(
    fc.property(searchArbitrary(options), (steps) => {
      expect(steps.length).toBeLessThanOrEqual(6);
      for (const step of steps) expect(step.target).toHaveProperty('names');
      fitPlan({ version: 1, seed: 1, steps }, 'plan', topology, {});
    }),
  );
});

test('every fault comes, on every host that it can strike, and long ones as often as short ones', () => {
  const steps = fc.sample(searchArbitrary(options), { seed: 1, numRuns: 2_000 }).flat();
  expect(new Set(steps.map(({ fault }) => fault))).toEqual(new Set(SEARCHED));
  const paused = steps.filter(({ fault }) => fault === 'pause');
  expect(new Set(paused.map(({ target }) => JSON.stringify(target))).size).toBe(4);
  const ofOne = paused.filter(({ target }) => JSON.stringify(target) === '{"names":["c1"]}').map(({ forMs }) => forMs);
  const long = ofOne.filter((forMs) => forMs > Math.max(...ofOne) / 2).length;
  expect(long / ofOne.length).toBeGreaterThan(0.3);
});

test('what is left out does not come, though others of its name do', () => {
  const leftOut = new Set(['kill:node', 'pause:client']);
  const steps = fc.sample(searchArbitrary({ ...options, leftOut }), { seed: 1, numRuns: 500 }).flat();
  const struck = (name: string) =>
    new Set(steps.flatMap(({ fault, target }) => (fault === name && typeof target !== 'string' ? target.names : [])));
  expect(struck('kill').has('r1')).toBe(false);
  expect(struck('kill').size).toBe(3);
  expect(struck('pause')).toEqual(new Set(['r1']));
});

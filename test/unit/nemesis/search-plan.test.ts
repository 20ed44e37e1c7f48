import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faults } from '../../../nemesis/faults/index.js';
import { fitPlan } from '../../../nemesis/fit-plan.js';
import {
  SEARCHED,
  SEARCHED_BY_DEFAULT,
  searchArbitrary,
  searchedAs,
  unsearchable,
} from '../../../nemesis/search-plan.js';
import type { PlanTopology } from '../../../nemesis/striking/context.js';

const topology: PlanTopology = {
  name: 'single',
  service: 'redis',
  replicated: false,
  quorum: 'primary',
  nodes: ['r1'],
  sentinels: [],
  clients: ['c1', 'c2', 'c3'],
};
const ANYWHERE = [
  'pause',
  'kill',
  'delay',
  'partition',
  'reset',
  'amnesia',
  'clock',
  'drift',
  'slow',
  'reset-on-reply',
  'gc',
];
const options = { faults: SEARCHED, topology, endMs: 3_000, leaseMs: 500 };

test('all that is searched with are faults', () => {
  for (const name of [...SEARCHED, ...SEARCHED_BY_DEFAULT]) expect(faults[name]?.name).toBe(name);
});

test('every plan can be carried out, on named hosts or whoever holds a lock, and none is long', () => {
  fc.assert(
    fc.property(searchArbitrary(options), (steps) => {
      expect(steps.length).toBeLessThanOrEqual(6);
      for (const { target } of steps) if (target !== 'holder') expect(target).toHaveProperty('names');
      fitPlan({ version: 1, seed: 1, steps }, 'plan', topology, {});
    }),
  );
});

test('every fault comes, on every host that it can strike, and long ones as often as short ones', () => {
  const steps = fc.sample(searchArbitrary(options), { seed: 1, numRuns: 2_000 }).flat();
  expect(new Set(steps.map(({ fault }) => fault))).toEqual(new Set(ANYWHERE));
  const paused = steps.filter(({ fault }) => fault === 'pause');
  expect(new Set(paused.map(({ target }) => JSON.stringify(target))).size).toBe(5);
  // Three clients, and as often whoever holds a lock.
  const aimed = paused.filter(({ target }) => target === 'holder').length;
  expect(aimed / paused.length).toBeCloseTo(3 / 7, 1);
  const ofOne = paused.filter(({ target }) => JSON.stringify(target) === '{"names":["c1"]}').map(({ forMs }) => forMs);
  const long = ofOne.filter((forMs) => forMs > Math.max(...ofOne) / 2).length;
  expect(long / ofOne.length).toBeGreaterThan(0.3);
});

test('what fits the topology comes, aimed at whoever is primary, for as long as its course takes', () => {
  const replicated = { ...topology, name: 'replica', replicated: true, nodes: ['r1', 'r2', 'r3'] };
  const searched = { ...options, topology: { ...replicated, plannedFailover: 'primary' as const }, leaseMs: 2_100 };
  const steps = fc.sample(searchArbitrary(searched), { seed: 1, numRuns: 500 }).flat();
  expect(new Set(steps.map(({ fault }) => fault))).toEqual(new Set([...ANYWHERE, 'failover', 'failover-to']));
  const aimed = steps.filter(({ fault }) => fault === 'failover');
  expect(new Set(aimed.map(({ target }) => target))).toEqual(new Set(['primary']));
  expect(Math.min(...aimed.map(({ forMs }) => forMs))).toBeGreaterThanOrEqual(1_260);
  const without = { ...searched, leftOut: new Set(['failover:node']) };
  const left = fc.sample(searchArbitrary(without), { seed: 1, numRuns: 500 }).flat();
  expect(left.some(({ fault }) => fault === 'failover')).toBe(false);
});

test('a search whose faults all mean nothing on its topology says why', () => {
  expect(unsearchable(['failover', 'move-slot'], topology)).toBe('single has nothing that could replace a node');
  expect(unsearchable(['failover', 'kill'], topology)).toBeUndefined();
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

test('what one step is left out as does not come again, and hosts of another kind still do', () => {
  const sentinels = { ...topology, name: 'sentinel', replicated: true, sentinels: ['s1', 's2', 's3'] };
  const drawn = (leftOut: ReadonlySet<string>) =>
    fc.sample(searchArbitrary({ ...options, topology: sentinels, leftOut }), { seed: 1, numRuns: 500 }).flat();
  const kinds = new Set(drawn(new Set()).map((step) => searchedAs(step, sentinels)));
  expect([...kinds]).toEqual(expect.arrayContaining(['pause:node', 'pause:sentinel', 'pause:client']));
  for (const kind of kinds) {
    const others = new Set(drawn(new Set([kind])).map((step) => searchedAs(step, sentinels)));
    expect(others).toEqual(new Set([...kinds].filter((one) => one !== kind)));
  }
});

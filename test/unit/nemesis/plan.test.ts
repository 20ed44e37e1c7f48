import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlanStep } from '../../../harness/vocabulary/faults.js';
import { faults } from '../../../nemesis/faults/index.js';
import { makePlan, type PlanOptions, planArbitrary } from '../../../nemesis/plan.js';
import { allFaults, defaultFaults, parseNemesis, type Unavailable } from '../../../nemesis/requests.js';
import type { PlanTopology } from '../../../nemesis/striking/context.js';
import { range, world } from './fakes.js';

const topologies = { single: world('single').plan, sentinel: world('sentinel').plan, redlock: world('redlock').plan };
const WARM_UP_MS = 1_500;

type At = PlanStep & { atMs: number };

function options(topology: PlanTopology, list: string, more: Partial<PlanOptions> = {}): PlanOptions {
  const { requests, phases } = parseNemesis(list, topology);
  const timing = { timeLimitMs: 20_000, warmUpMs: WARM_UP_MS, leaseMs: 5_000, ...(phases && { phases }) };
  return { seed: 1, faults: requests, topology, ...timing, ...more };
}

const stepsOf = (made: { plan: { steps: PlanStep[] } }) => made.plan.steps as At[];
const laneOf = (step: PlanStep, topology: PlanTopology) =>
  faults[step.fault]!.shape(topology, typeof step.target === 'string' ? step.target : 'names', 5_000);

describe('a plan', () => {
  it('is the same for the same seed, another for another', () => {
    // The steps alone: the plan also names its seed, which would be another in any case.
    const steps = (seed: number) => JSON.stringify(stepsOf(makePlan(options(topologies.sentinel, 'all', { seed }))));
    expect(steps(4)).toBe(steps(4));
    expect(new Set(range(10).map(steps)).size).toBe(10);
    expect(steps(2 ** 31 + 5)).toBe(steps(2 ** 31 + 5));
  });

  describe('of the default faults of one server', () => {
    const laid = (seed: number, more: Partial<PlanOptions> = {}) =>
      makePlan(options(topologies.single, 'default', { seed, leaseMs: 4_700, ...more }));
    const inLane = (steps: readonly At[], lane: string) =>
      steps.filter((step) => laneOf(step, topologies.single).lane === lane);

    it('leaves a time in which nothing strikes, strikes the server next, and its clients last', () => {
      for (const seed of range(50)) {
        const { plan, warnings } = laid(seed);
        expect(warnings).toEqual([]);
        const steps = plan.steps as At[];
        const [servers, clients] = [inLane(steps, 'servers'), inLane(steps, 'clients')];
        expect(new Set(servers.map(({ fault }) => fault))).toEqual(
          new Set(['kill', 'partition', 'clock', 'reset', 'slow']),
        );
        const last = servers.findIndex(({ fault }) => fault === 'reset');
        expect(servers[last]).toMatchObject({ args: { awayMs: 500 } });
        const after = servers.slice(last + 1);
        expect(after[0]).toMatchObject({ fault: 'slow', args: { pauseMs: 400, everyMs: 500 } });
        expect(after.filter(({ fault }) => fault !== 'reset' && fault !== 'slow')).toEqual([]);
        expect(servers[last]!.atMs).toBeGreaterThan(13_000);
        expect(Math.min(...steps.map(({ atMs }) => atMs))).toBeGreaterThan(3_000);
        expect(Math.min(...clients.map(({ atMs }) => atMs))).toBeGreaterThan(8_500);
        expect(Math.max(...servers.slice(0, last).map(({ atMs, forMs }) => atMs + forMs))).toBeLessThan(11_500);
        expect(Math.max(...clients.map(({ atMs, forMs }) => atMs + forMs))).toBeGreaterThan(14_000);
      }
    });

    it('stops two holders where there is time for one after the other, beside all else', () => {
      const faultsOf = (seed: number, leaseMs: number) => {
        const { plan, warnings } = laid(seed, { leaseMs });
        expect(warnings).toEqual([]);
        return plan.steps.map(({ fault }) => fault);
      };
      const pauses = (leaseMs: number) =>
        range(50).map((seed) => faultsOf(seed, leaseMs).filter((fault) => fault === 'pause').length);
      expect(Math.min(...pauses(2_300))).toBe(2);
      expect(Math.max(...pauses(4_700))).toBe(1);
    });

    it('does so in what time there is, and in all of it where that is too little', () => {
      const steps = laid(1, { timeLimitMs: 60_000 }).plan.steps as At[];
      expect(Math.min(...steps.map(({ atMs }) => atMs))).toBeGreaterThan(10_000);
      expect(Math.min(...inLane(steps, 'clients').map(({ atMs }) => atMs))).toBeGreaterThan(28_000);
      const [first] = laid(1, { timeLimitMs: 8_000 }).plan.steps as At[];
      expect(first!.atMs).toBeLessThan(1_500);
    });

    it('has them in another order with another seed', () => {
      const orders = range(20).map((seed) =>
        inLane(laid(seed).plan.steps as At[], 'clients').map(({ fault }) => fault),
      );
      expect(new Set(orders.map((order) => order.join())).size).toBeGreaterThan(5);
    });

    it('is not so where faults are named, nor of other deployments', () => {
      for (const [topology, list] of [
        [topologies.single, 'all'],
        [topologies.single, 'kill,pause:holder'],
        [topologies.sentinel, 'default'],
        [topologies.redlock, 'default'],
      ] as const)
        expect(parseNemesis(list, topology).phases).toBeUndefined();
    });
  });

  it('has of all faults those that the server can, and says which it cannot', () => {
    const cluster = { ...topologies.sentinel, name: 'cluster', sentinels: [], plannedFailover: 'replica' as const };
    const names = (unavailable: Unavailable) =>
      parseNemesis('all', cluster, unavailable).requests.map(({ fault }) => fault);
    expect(names({})).toEqual(expect.arrayContaining(['move-slot', 'migrate-slots']));
    const lacking = { 'slots-at-once': 'this server has no CLUSTER MIGRATESLOTS' };
    expect(names(lacking)).toEqual(names({}).filter((name) => name !== 'migrate-slots'));
    expect(parseNemesis('all', cluster, lacking).warnings).toEqual([
      'left out migrate-slots: this server has no CLUSTER MIGRATESLOTS',
    ]);
    expect(() => parseNemesis('migrate-slots', cluster, lacking)).toThrow(
      '--nemesis: migrate-slots is not possible here: this server has no CLUSTER MIGRATESLOTS',
    );
  });

  it('heals everything before the end, keeps server faults apart, asks for what was asked for', () => {
    const anyOptions = fc.record({
      name: fc.constantFrom('single', 'sentinel', 'redlock') as fc.Arbitrary<keyof typeof topologies>,
      seed: fc.integer({ min: 0, max: 2 ** 31 }),
      timeLimitMs: fc.integer({ min: 2_000, max: 120_000 }),
      leaseMs: fc.integer({ min: 300, max: 30_000 }),
      intervalMs: fc.option(fc.integer({ min: 1, max: 20_000 }), { nil: undefined }),
      group: fc.constantFrom('all', 'default'),
    });
    fc.assert(
      fc.property(anyOptions, ({ name, group, ...more }) => {
        const topology = topologies[name];
        const made = makePlan(options(topology, group, more));
        const steps = stepsOf(made);
        let serversFreeMs = 0;
        for (const step of steps) {
          const role = typeof step.target === 'string' ? step.target : 'names';
          const shape = faults[step.fault]!.shape(topology, role, more.leaseMs);
          expect(step.atMs).toBeGreaterThanOrEqual(0);
          expect(step.forMs).toBeGreaterThanOrEqual(shape.leastMs);
          expect(step.atMs + step.forMs).toBeLessThanOrEqual(more.timeLimitMs - WARM_UP_MS - 1_500 + 1);
          if (shape.lane === 'servers') {
            expect(step.atMs).toBeGreaterThanOrEqual(serversFreeMs);
            serversFreeMs = step.atMs + step.forMs + shape.settleMs;
          }
        }
        expect(steps.map((step) => step.atMs)).toEqual(steps.map((step) => step.atMs).sort((a, b) => a - b));
        const owed = options(topology, group, more).faults.filter(
          (request) => request.atLeast !== 0 && !request.afterwards,
        );
        const absent = owed.filter((request) => !steps.some((step) => step.fault === request.fault));
        for (const { fault } of absent) expect(made.warnings.join()).toContain(fault);
        if (more.timeLimitMs > 100_000 && more.leaseMs < 6_000) expect(made.warnings).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['sentinel', 'all'],
    ['redlock', 'all'],
    ['single', 'all'],
    ['sentinel', 'default'],
    ['redlock', 'default'],
    ['single', 'default'],
  ] as const)('has room for everything in a long run: %s %s', (name, group) => {
    for (const seed of range(20)) {
      const timeLimitMs = group === 'all' ? 60_000 : 20_000;
      expect(makePlan(options(topologies[name], group, { seed, timeLimitMs })).warnings).toEqual([]);
    }
  });

  it('fails over twice in a default run of 20 s, early, once each way, with client faults beside', () => {
    for (const seed of range(200)) {
      const steps = stepsOf(makePlan(options(topologies.sentinel, 'default', { seed })));
      const failovers = steps.filter((step) => step.fault === 'failover');
      expect(failovers.map((step) => step.args?.then).sort()).toEqual(['isolate', 'kill']);
      expect(failovers[0]!.atMs).toBeLessThan(1_000);
      const onClients = steps.filter((step) => step.target === 'client').map((step) => step.fault);
      expect([...new Set(onClients)].sort()).toEqual(['kill', 'partition', 'pause']);
    }
  });

  it('names the faults for which there is no time', () => {
    const made = makePlan(options(topologies.sentinel, 'failover,pause:client', { timeLimitMs: 6_000 }));
    expect(made.warnings).toEqual(['no time for failover, pause:client in 4500 ms; give a longer --time-limit']);
    expect(made.plan.steps).toEqual([]);
  });

  it('is empty without faults', () => {
    expect(makePlan(options(topologies.single, 'none'))).toEqual({
      plan: { version: 1, seed: 1, steps: [] },
      warnings: [],
    });
  });

  it('keeps to the interval where the faults themselves are short', () => {
    const gaps = range(20).flatMap((seed) => {
      const steps = stepsOf(
        makePlan(options(topologies.single, 'kill:client', { seed, timeLimitMs: 60_000, intervalMs: 3_000 })),
      );
      return steps.slice(1).map((step, at) => step.atMs - steps[at]!.atMs);
    });
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    expect(mean).toBeGreaterThan(2_600);
    expect(mean).toBeLessThan(3_400);
  });

  it('tries every kind of partition in turn', () => {
    const steps = makePlan(options(topologies.redlock, 'partition', { timeLimitMs: 60_000 })).plan.steps;
    expect(new Set(steps.map((step) => step.args?.mode)).size).toBe(6);
  });

  it('can be shrunk to the one step that matters', () => {
    const arbitrary = planArbitrary(options(topologies.sentinel, 'failover,kill:primary', { timeLimitMs: 60_000 }));
    const found = fc.check(
      fc.property(arbitrary, (steps) => !steps.some((step) => step.fault === 'failover')),
      { seed: 1, numRuns: 200 },
    );
    expect(found.failed).toBe(true);
    expect(found.counterexample![0]).toHaveLength(1);
  });

  it('runs client faults at the same time, but leaves most clients alone', () => {
    for (const seed of range(20)) {
      const steps = stepsOf(makePlan(options(topologies.single, 'pause:client', { seed, timeLimitMs: 60_000 })));
      const most = Math.max(
        ...steps.map((one) => steps.filter((two) => two.atMs <= one.atMs && two.atMs + two.forMs > one.atMs).length),
      );
      expect(most).toBe(3);
    }
  });

  it('uses shapes of both lanes', () => {
    expect(laneOf({ atMs: 0, fault: 'pause', target: 'holder', forMs: 1 }, topologies.single).lane).toBe('clients');
    expect(laneOf({ atMs: 0, fault: 'pause', target: 'primary', forMs: 1 }, topologies.single).lane).toBe('servers');
  });
});

describe('groups', () => {
  it('default and all make sense on their topology', () => {
    for (const topology of Object.values(topologies)) {
      for (const { fault } of [...defaultFaults(topology), ...allFaults(topology)]) {
        expect(faults[fault]!.unfit(topology)).toBeUndefined();
      }
    }
    const onRedlock = allFaults(topologies.redlock).map(({ fault }) => fault);
    expect(onRedlock).toEqual(expect.arrayContaining(['kill', 'pause', 'clock', 'forget-granted', 'reload']));
    for (const fault of ['lag', 'failover']) expect(onRedlock).not.toContain(fault);
  });
});

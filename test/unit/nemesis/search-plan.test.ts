import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PlanStep } from '../../../harness/vocabulary/faults.js';
import { faults } from '../../../nemesis/faults/index.js';
import { fitPlan } from '../../../nemesis/fit-plan.js';
import {
  SEARCHED,
  SEARCHED_BY_DEFAULT,
  type SearchOptions,
  searchArbitrary,
  searchedAs,
  searchedByDefault,
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
  'power-cut',
  'gc',
  'priorities',
  'preempt',
  'lost-reply',
  'reload',
  'strobe',
  'loss',
  'rate',
  'reorder',
  'duplicate',
  'slow-disk',
];
/** Of which nobody is struck by name. */
const OF_ONE_ROLE: Record<string, string> = { preempt: 'client', reload: 'all' };
const options = { faults: SEARCHED, topology, endMs: 3_000, leaseMs: 500 };

test('all that is searched with are faults', () => {
  for (const name of [...SEARCHED, ...SEARCHED_BY_DEFAULT]) expect(faults[name]?.name).toBe(name);
});

test('a power cut and a slow disk are searched with by default where there is a log', () => {
  for (const persistence of ['none', 'rdb'] as const) expect(searchedByDefault(persistence)).toBe(SEARCHED_BY_DEFAULT);
  for (const name of ['power-cut', 'slow-disk']) expect(SEARCHED_BY_DEFAULT).not.toContain(name);
  for (const persistence of ['aof-everysec', 'aof-always'] as const)
    expect(searchedByDefault(persistence)).toEqual([...SEARCHED_BY_DEFAULT, 'power-cut', 'slow-disk']);
});

test('every plan can be carried out, on named hosts or whoever holds a lock, and none is long', () => {
  fc.assert(
    fc.property(searchArbitrary(options), (steps) => {
      expect(steps.length).toBeLessThanOrEqual(6);
      for (const { fault, target } of steps)
        if (target !== 'holder')
          expect(OF_ONE_ROLE[fault] === undefined ? target : { names: target }).toHaveProperty('names');
      fitPlan({ version: 1, seed: 1, steps }, 'plan', topology, {});
    }),
  );
});

test('every fault comes, on every host that it can strike, and long ones as often as short ones', () => {
  const steps = fc.sample(searchArbitrary(options), { seed: 1, numRuns: 6_000 }).flat();
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
  expect(new Set(steps.map(({ fault }) => fault))).toEqual(new Set([...ANYWHERE, 'failover', 'failover-to', 'lag']));
  expect(new Set(steps.filter(({ fault }) => fault === 'lag').map(({ target }) => target))).toEqual(
    new Set(['replica']),
  );
  const aimed = steps.filter(({ fault }) => fault === 'failover');
  expect(new Set(aimed.map(({ target }) => target))).toEqual(new Set(['primary']));
  expect(Math.min(...aimed.map(({ forMs }) => forMs))).toBeGreaterThanOrEqual(1_260);
  const without = { ...searched, leftOut: new Set(['failover:node']) };
  const left = fc.sample(searchArbitrary(without), { seed: 1, numRuns: 500 }).flat();
  expect(left.some(({ fault }) => fault === 'failover')).toBe(false);
});

test('half of the plans with the usual have a holder stopped or cut off until its lease is over, as a run does', () => {
  const isUsual = ({ fault, target, forMs }: PlanStep) =>
    target === 'holder' && (fault === 'pause' || fault === 'partition') && forMs >= 1.2 * options.leaseMs;
  const plans = fc.sample(searchArbitrary({ ...options, usual: true }), { seed: 1, numRuns: 2_000 });
  const alone = { ...options, faults: ['pause', 'kill'], usual: true as const };
  const [with2, none] = [alone, { ...alone, usual: undefined }].map((of) => {
    const sampled = fc.sample(searchArbitrary(of), { seed: 1, numRuns: 2_000 });
    return sampled.filter((steps) => steps.some(isUsual)).length / 2_000;
  });
  expect(with2! - none!).toBeGreaterThan(0.3);
  for (const steps of plans) {
    expect(steps.length).toBeLessThanOrEqual(6);
    expect(steps.map((step) => ('atMs' in step ? step.atMs : 0))).toEqual(
      steps.map((step) => ('atMs' in step ? step.atMs : 0)).toSorted((a, b) => a - b),
    );
  }
  // Nor where it was found to break every lock.
  const leftOut = new Set(['pause:client', 'partition:client']);
  const left = fc.sample(searchArbitrary({ ...options, usual: true, leftOut }), { seed: 1, numRuns: 500 }).flat();
  expect(left.some(isUsual)).toBe(false);
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
  const some = ['pause', 'gc', 'preempt', 'kill', 'delay', 'partition', 'amnesia', 'failover', 'lag', 'reload', 'loss'];
  const drawn = (leftOut: ReadonlySet<string>) =>
    fc
      .sample(searchArbitrary({ ...options, faults: some, topology: sentinels, leftOut }), { seed: 1, numRuns: 500 })
      .flat();
  const kinds = new Set(drawn(new Set()).map((step) => searchedAs(step, sentinels)));
  expect([...kinds]).toEqual(expect.arrayContaining(['pause:node', 'pause:sentinel', 'pause:client']));
  for (const kind of kinds) {
    const others = new Set(drawn(new Set([kind])).map((step) => searchedAs(step, sentinels)));
    expect(others).toEqual(new Set([...kinds].filter((one) => one !== kind)));
  }
});

describe('priorities', () => {
  const drawn = (of: Partial<typeof options>, seed = 1) =>
    fc.sample(searchArbitrary({ ...options, ...of }), { seed, numRuns: 2_000 });
  const isOf = ({ fault }: { fault: string }) => fault === 'priorities' || fault === 'preempt';

  test('half of the schedules have an order of the clients, and half of those nothing else beside its change points', () => {
    const all = drawn({ faults: SEARCHED_BY_DEFAULT });
    const ordered = all.filter((steps) => steps.some(({ fault }) => fault === 'priorities'));
    expect(ordered.length / all.length).toBeCloseTo(0.5, 1);
    const alone = ordered.filter((steps) => steps.every(isOf));
    expect(alone.length / ordered.length).toBeGreaterThan(0.4);
    const orders = ordered.map(([first]) => JSON.stringify(first!.target));
    // All but the first of three are named, in every order.
    expect(new Set(orders).size).toBe(6);
  });

  test('change points are as many as are drawn, among few requests as often as among many, and short or longer than a lease', () => {
    const alone = drawn({ faults: ['priorities', 'preempt'] });
    for (const [order, ...changes] of alone) {
      expect(order!.fault).toBe('priorities');
      expect(changes.map(({ fault }) => fault)).toEqual(changes.map(() => 'preempt'));
    }
    for (const count of [0, 1, 2, 3])
      expect(alone.filter(({ length }) => length === 1 + count).length / alone.length).toBeCloseTo(1 / 4, 1);
    const changes = alone.flatMap(([, ...others]) => others);
    const atMost = (most: number) =>
      changes.filter(({ args }) => Number(args!.request) <= most).length / changes.length;
    // Of the first 32 requests: 1/8 (1 + 1/2 + 1/4 + ...).
    expect(atMost(32)).toBeCloseTo(0.25, 1);
    expect(atMost(4_096)).toBe(1);
    expect(changes.every(({ forMs }) => forMs <= 50 || forMs > options.leaseMs)).toBe(true);
    expect(changes.filter(({ forMs }) => forMs > options.leaseMs).length / changes.length).toBeCloseTo(0.5, 1);
  });

  test('without them the same faults are drawn as ever, and of one client there is no order', () => {
    const withoutThem = SEARCHED_BY_DEFAULT.filter((fault) => !isOf({ fault }));
    const before = drawn({ faults: withoutThem });
    expect(before.flat().some(isOf)).toBe(false);
    const one = drawn({ faults: ['priorities', 'preempt'], topology: { ...topology, clients: ['c1'] } });
    expect(new Set(one.flat().map(({ fault }) => fault))).toEqual(new Set(['preempt']));
  });
});

describe('aims', () => {
  const drawn = (more: Partial<SearchOptions> = {}) =>
    fc.sample(searchArbitrary({ ...options, ...more }), { seed: 1, numRuns: 3_000 });
  const aimOf = (step: PlanStep) => ('aim' in step ? step.aim : undefined);

  test('nearly half of the steps that can be aimed are, and at every kind of moment', () => {
    const steps = drawn().flat();
    const aimed = steps.filter(aimOf);
    const aimable = new Set(aimed.map(({ fault }) => fault));
    expect([...aimable].sort()).toEqual(
      [
        'pause',
        'kill',
        'delay',
        'partition',
        'reset',
        'amnesia',
        'clock',
        'drift',
        'power-cut',
        'slow-disk',
        'loss',
        'rate',
        'reorder',
        'duplicate',
      ].sort(),
    );
    const can = steps.filter(({ fault }) => aimable.has(fault));
    // A half but for those at the end of a lease: hardly any is aimed at the end of a lease: a holder must have been struck before.
    expect(aimed.length / can.length).toBeCloseTo(0.42, 1);
    const kinds = new Set(aimed.map((step) => `${aimOf(step)!.side} ${aimOf(step)!.event} ${aimOf(step)!.count}`));
    expect(kinds.size).toBe(2 * (4 + 2 + 1) + 2);
    for (const all of drawn()) {
      const first = all.findIndex((step) => aimOf(step)?.event === 'expiry');
      if (first >= 0) expect(all.slice(0, first).some(({ target }) => target === 'holder')).toBe(true);
    }
  });

  test('all else is drawn as without', () => {
    const without = drawn({ unaimed: true });
    expect(without.flat().some(aimOf)).toBe(false);
    const timed = drawn().map((steps) => steps.map((step) => ({ ...step, aim: undefined })));
    expect(timed).toEqual(without.map((steps) => steps.map((step) => ({ ...step, aim: undefined }))));
  });
});

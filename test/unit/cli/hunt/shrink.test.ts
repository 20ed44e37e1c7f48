import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Shrinkable, shrinkSchedule } from '../../../../cli/hunt/shrink.js';
import { createRandom } from '../../../../harness/runtimes/random.js';
import type { PlanStep } from '../../../../harness/vocabulary/faults.js';
import { faults, SEARCHED, searchArbitrary } from '../../../../nemesis/index.js';

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

const whole = (steps: PlanStep[]): Shrinkable => ({ seed: 1, steps, clients: 2, keys: 1, timeLimitMs: 1_000 });
/** Faults only: of clients, keys and time there is as little as can be. */
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

test('where one does, or two do, it is these, also where three do of which none can be left out', async () => {
  const { steps } = drawn((all) => new Set(all.map(({ fault }) => fault)).size >= 5);
  const names = [...new Set(steps.map(({ fault }) => fault))];
  const has = (tried: PlanStep[], from: number, to?: number) =>
    names.slice(from, to).every((name) => tried.some(({ fault }) => fault === name));
  const one = await shrinkSteps(steps, async (tried) => has(tried, 0, 1) || has(tried, 1, 4));
  expect(one.steps.map(({ fault }) => fault)).toEqual(names.slice(0, 1));
  const two = await shrinkSteps(steps, async (tried) => has(tried, 0, 2) || has(tried, 2, 5));
  expect(two.steps.map(({ fault }) => fault)).toEqual(names.slice(0, 2));
});

test('of three that it takes, where two do with other chance it is these, and it keeps that chance; one is not left out for luck', async () => {
  const { steps } = drawn((all) => new Set(all.map(({ fault }) => fault)).size >= 3);
  const names = [...new Set(steps.map(({ fault }) => fault))].slice(0, 3);
  const all = (tried: PlanStep[], from: number) =>
    names.slice(from).every((name) => tried.some(({ fault }) => fault === name));
  const luck = async ({ seed, steps: tried }: Shrinkable) => all(tried, 0) || (seed !== 1 && all(tried, 1));
  const two = await shrinkSchedule(whole(steps), luck);
  expect(two.steps.map(({ fault }) => fault).sort()).toEqual(names.slice(1).sort());
  expect(await luck(two)).toBe(true);
  const alone = await shrinkSchedule(whole(steps), async ({ seed, steps: tried }) => seed !== 1 || all(tried, 2));
  expect(alone).toMatchObject({ seed: 1, steps: [{ fault: names[2] }] });
});

test('a fault that strikes whoever holds a lock does without the one that made it the holder, if it names the client', async () => {
  const step = (fault: string, target: PlanStep['target']): PlanStep => ({ fault, target, atMs: 0, forMs: 100 });
  const steps = [step('kill', { names: ['c2'] }), step('reset', { names: ['c1'] }), step('pause', 'holder')];
  const shrunk = await shrinkSteps(steps, async (tried) => {
    const [reset, pause] = ['reset', 'pause'].map((name) => tried.find(({ fault }) => fault === name));
    if (!reset || !pause) return false;
    return pause.target === 'holder' ? tried.length === 3 : JSON.stringify(pause.target) === '{"names":["c2"]}';
  });
  expect(shrunk.steps).toMatchObject([{ fault: 'reset' }, { fault: 'pause', target: { names: ['c2'] } }]);
  // No other chance was needed for it.
  expect(shrunk.seed).toBe(1);
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
  const finds = async (tried: Shrinkable) => ++plays > 0 && tried.steps.length === 1;
  const shrunk = await shrinkSchedule(whole(steps), finds, () => plays >= 2);
  expect(plays).toBe(2);
  expect(shrunk).toMatchObject({ steps: [steps[0]], executions: 2, isMinimal: false });
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
      { seed: 1, steps: [step(names, 1_037, 444)], clients: 6, keys: 1, timeLimitMs: 3_500 },
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

test('as few keys are left as do, and of each client as many turns as it takes', async () => {
  const many: Shrinkable = { seed: 1, steps: [], clients: 4, keys: 3, timeLimitMs: 1_000 };
  const turnsOf = ({ turns }: Shrinkable, slot: string) => turns?.[slot] ?? 20;
  const needs = (tried: Shrinkable) =>
    tried.clients >= 3 && tried.keys >= 2 && turnsOf(tried, 'c1') >= 11 && turnsOf(tried, 'c3') >= 1;
  const { executions, ...shrunk } = await shrinkSchedule(many, async (tried) => needs(tried));
  expect(shrunk).toEqual({
    ...many,
    clients: 3,
    keys: 2,
    turns: { c1: 11, c2: 0, c3: 1 },
    isMinimal: true,
    wasStopped: false,
  });
  expect(executions).toBeLessThan(40);
  const endless = await shrinkSchedule(
    many,
    async (tried) => turnsOf(tried, 'c1') > 200 || tried.turns?.c1 === undefined,
  );
  expect(endless.turns).toEqual({ c2: 0 });
});

describe('what a fault is told', () => {
  const told = (fault: string, args: Record<string, number | string>): PlanStep => ({
    fault,
    target: { names: ['r1'] },
    atMs: 100,
    forMs: 100,
    args,
  });
  const shrunkArgs = async (step: PlanStep, needs: (args: NonNullable<PlanStep['args']>) => boolean) => {
    const { steps } = await shrinkSteps([step], async ([one]) => one !== undefined && needs(one.args ?? {}));
    return steps[0]!.args;
  };

  test('is left out where it need not be said', async () => {
    const step = told('delay', { delayMs: 200, jitterMs: 5, direction: 'out' });
    expect(await shrunkArgs(step, () => true)).toBeUndefined();
    expect(await shrunkArgs(step, ({ direction }) => direction === 'out')).toEqual({ direction: 'out' });
  });

  test('is as little as does, in the roundest number', async () => {
    const step = told('delay', { delayMs: 200, jitterMs: 50 });
    expect(await shrunkArgs(step, ({ delayMs = 50 }) => Number(delayMs) >= 87)).toEqual({ delayMs: 100 });
    // Rounder would be much more.
    expect(
      await shrunkArgs(step, ({ delayMs = 50, jitterMs = 0 }) => delayMs === 200 && Number(jitterMs) >= 7),
    ).toEqual({
      delayMs: 200,
      jitterMs: 7,
    });
  });

  test('is never what the fault would not take, and what it must be told stays', async () => {
    const tried: unknown[] = [];
    const back = await shrunkArgs(told('clock', { offsetMs: -470 }), ({ offsetMs }) => {
      tried.push(offsetMs);
      return Number(offsetMs) <= -93;
    });
    expect(back).toEqual({ offsetMs: -100 });
    expect(tried).not.toContain(0);
    expect(tried).not.toContain(undefined);
  });

  test('which request is held back is no amount, and stays', async () => {
    const step = told('preempt', { of: 'going-on', request: 37 });
    expect(await shrunkArgs(step, ({ request }) => Number(request) >= 30)).toEqual({ request: 37 });
  });
});

test('what can be left out only beside what is less by then is left out, too', async () => {
  const step = (fault: string): PlanStep => ({ fault, target: { names: ['c1'] }, atMs: 0, forMs: 400 });
  const found: Shrinkable = { seed: 1, steps: [step('pause'), step('kill')], clients: 2, keys: 3, timeLimitMs: 1_000 };
  const has = ({ steps }: Shrinkable, name: string) => steps.find(({ fault }) => fault === name);
  const { steps: onFewerKeys } = await shrinkSchedule(
    found,
    async (tried) => has(tried, 'pause') !== undefined && (tried.keys === 1 || has(tried, 'kill') !== undefined),
  );
  expect(onFewerKeys.map(({ fault }) => fault)).toEqual(['pause']);
  const { steps: besideShorter } = await shrinkSchedule(
    found,
    async (tried) =>
      (has(tried, 'pause')?.forMs ?? 400) <= (has(tried, 'kill') ? 400 : 100) && has(tried, 'pause') !== undefined,
  );
  expect(besideShorter.map(({ fault }) => fault)).toEqual(['pause']);
});

function optionalArgs({ fault, args = {} }: PlanStep): string[] {
  return Object.keys(args).filter((name) => !faults[fault]!.args[name]!.required);
}

/** The schedule without one part, each part once. */
function withoutOnePart({ seed, steps, clients, keys, timeLimitMs, turns }: Shrinkable): Shrinkable[] {
  const all = { seed, steps, clients, keys, timeLimitMs, ...(turns && { turns }) };
  const withStep = (n: number, step: PlanStep) => ({ ...all, steps: steps.with(n, step) });
  return [
    ...steps.map((_, n) => ({ ...all, steps: steps.toSpliced(n, 1) })),
    ...steps.flatMap((step, n) =>
      // What a fault must be told is no part that could be left out.
      optionalArgs(step).map((name) => {
        const { [name]: _, ...args } = step.args!;
        return withStep(n, { ...step, args });
      }),
    ),
    ...steps.flatMap((step, n) => {
      const names = typeof step.target === 'string' ? [] : step.target.names;
      return names.length < 2
        ? []
        : names.map((_, at) => withStep(n, { ...step, target: { names: names.toSpliced(at, 1) } }));
    }),
    ...(clients > 2 ? [{ ...all, clients: clients - 1 }] : []),
    ...(keys > 1 ? [{ ...all, keys: keys - 1 }] : []),
    ...(timeLimitMs > 1_000 ? [{ ...all, timeLimitMs: timeLimitMs - 500 }] : []),
    ...Object.entries(turns ?? {})
      .filter(([, left]) => left > 0)
      .map(([slot, left]) => ({ ...all, turns: { ...turns, [slot]: left - 1 } })),
  ];
}

test.each([1, 2, 3, 4, 5, 6])(
  'of what is left nothing can be left out, also where one thing makes up for another (%i)',
  async (seed) => {
    const { steps } = drawn((all) => all.length >= 5);
    const random = createRandom(seed);
    const needed = steps.filter(() => random.float() < 0.4).map(({ fault }) => fault);
    const leastMs = random.int(1, 400);
    const leastTurns = random.int(0, 12);
    const needs = (tried: Shrinkable) => {
      const turns = (slot: string) => tried.turns?.[slot] ?? 30;
      const lastingMs = tried.steps.reduce((all, { forMs }) => all + forMs, 0);
      return (
        needed.every((fault) => tried.steps.some((step) => step.fault === fault)) &&
        // Fewer clients take more turns, less time takes longer faults, and a second key makes up for a fault.
        turns('c1') + 2 * tried.clients >= leastTurns + 6 &&
        lastingMs * tried.timeLimitMs >= 2_000 * Math.min(leastMs, needed.length * 10) &&
        tried.keys + tried.steps.length >= 3
      );
    };
    const found: Shrinkable = { seed: 1, steps, clients: 4, keys: 3, timeLimitMs: 3_500 };
    expect(needs(found)).toBe(true);
    const shrunk = await shrinkSchedule(found, async (tried) => needs(tried));
    expect(shrunk.isMinimal).toBe(true);
    expect(needs(shrunk)).toBe(true);
    for (const fewer of withoutOnePart(shrunk)) expect([fewer, needs(fewer)]).toEqual([fewer, false]);
  },
);

test('an aim is left out where the fault finds it at its time, too; else it is at the first moment that does', async () => {
  const aim = (count: number) => ({ side: 'before' as const, event: 'request' as const, count });
  const step = (count: number): PlanStep => ({
    atMs: 1_000,
    aim: aim(count),
    fault: 'pause',
    target: { names: ['c1'] },
    forMs: 100,
  });
  const aimed = (tried: PlanStep | undefined) => (tried && 'aim' in tried ? tried.aim : undefined);
  const any = await shrinkSteps([step(4)], async ([first]) => first !== undefined);
  expect(any.steps).toHaveLength(1);
  expect(any.steps[0]).not.toHaveProperty('aim');
  const needed = await shrinkSteps([step(7)], async ([first]) => (aimed(first)?.count ?? 0) >= 3);
  expect(needed.steps).toMatchObject([{ aim: aim(3) }]);
});

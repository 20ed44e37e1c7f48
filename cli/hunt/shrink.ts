/**
 * From a schedule that found something to the smallest that finds the same: without any fault that can be left out and anything that one
 * need not be told, with as few clients, keys and turns of clients and as little time as do, with each fault that is left as short, and what
 * it is told in numbers as small, as fast-check gets it, and in the roundest numbers. What is found is the same where its fingerprint is.
 *
 * Of what is left nothing can be left out by itself: where all of it was tried, each part was, beside all the others as they are in the end.
 */
import fc from 'fast-check';
import { clientSlot } from '../../harness/run/run.js';
import { createRandom } from '../../harness/runtimes/random.js';
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import { faults } from '../../nemesis/index.js';
import { SEEDS } from '../run/flags.js';
import { fewest, firstOf, range } from './fewest.js';

/** More is not worth the time: by then what is left is small, as a rule. */
const MOST_EXECUTIONS = 300;
const FEWEST_CLIENTS = 2;
/** Time limits that are tried are multiples of it. */
const TIME_MS = 500;
const FEWEST_TIMES = 2;
/** Of a client whose turns are not limited yet. Where all of them are too few, it has as many as fit. */
const TURNS_TRIED = [0, 1, 2, 4, 8, 16, 32, 64, 128];
/** Multiples of these are rounder than others, the first most of all. */
const ROUND = [100, 50, 10];
/** What is counted in them is as round in multiples of so many. */
const ROUND_IN: Readonly<Record<string, number>> = { ms: 1, ppm: 1_000 };
/** Nothing becomes longer than so many times for a rounder number. */
const LONGER_BY_AT_MOST = 1.25;

/** Of a schedule with two faults or more: how often each is left out with other chance. */
const OTHER_CHANCES = 5;
/** With fewer faults chance stays as it is: one fault says more of why than luck does. */
const FEWEST_WITH_OTHER_CHANCE = 2;

/** What of a schedule can be less. */
export interface Shrinkable {
  /** Of its chance: what messages and timers take, and clients draw. */
  seed: number;
  steps: PlanStep[];
  clients: number;
  /** How many of the run's, the first ones. */
  keys: number;
  timeLimitMs: number;
  /** As in `RunConfig`; absent: as many as fit. */
  turns?: Record<string, number>;
}

export interface Shrunk extends Shrinkable {
  executions: number;
  /** Whether all of it was tried. */
  isMinimal: boolean;
  /** Where not: whether it was stopped, and did not come to the most executions. */
  wasStopped: boolean;
}

type Finds = (tried: Shrinkable) => Promise<boolean>;

/** `finds` plays a schedule, and says whether it still finds it; of `found` it is known. Once it is stopped nothing more is played. */
export async function shrinkSchedule(
  found: Shrinkable,
  finds: Finds,
  isStopped: () => boolean = () => false,
): Promise<Shrunk> {
  let executions = 0;
  let [isMinimal, wasStopped] = [true, false];
  const known = new Map([[JSON.stringify(found), true]]);
  const stillFinds: Finds = async (tried) => {
    const key = JSON.stringify(tried);
    const before = known.get(key);
    if (before !== undefined) return before;
    // What was not tried does not find it, as far as anybody knows: so shrinking comes to its end.
    if (executions >= MOST_EXECUTIONS || isStopped()) {
      isMinimal = false;
      wasStopped = executions < MOST_EXECUTIONS;
      return false;
    }
    executions++;
    const does = await finds(tried);
    known.set(key, does);
    return does;
  };
  let left = await withoutWhatIsNotNeeded(await withFewestSteps(found, stillFinds), stillFinds);
  for (;;) {
    const smaller = await rounded(await inSmallerNumbers(left, stillFinds), stillFinds);
    // Beside what is less by now something may be left out that could not be before.
    left = await withoutWhatIsNotNeeded(smaller, stillFinds);
    if (isSame(left, smaller)) return { ...left, executions, isMinimal, wasStopped };
  }
}

/** Part by part, each once. */
async function withoutWhatIsNotNeeded(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  const passes = [
    withFewerSteps,
    withFewerNames,
    withoutArguments,
    withoutAims,
    withFewerClients,
    withFewerKeys,
    inLessTime,
    withFewerTurns,
  ];
  let left = found;
  for (const pass of passes) left = await pass(left, finds);
  return left;
}

function isSame(one: Shrinkable, other: Shrinkable): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** None, one or two of them alone, where any that are do; else without any step that can be left out, one after the other, until none can. */
async function withFewerSteps(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  // One after the other would end at three of which none can be left out, where another of the schedule's faults alone does.
  const all = found.steps;
  const pairs = all.flatMap((one, n) => all.slice(n + 1).map((other) => [one, other]));
  const few = [[], ...all.map((one) => [one]), ...pairs].filter(({ length }) => length < all.length);
  const fewest = await firstOf(few, (steps) => finds({ ...found, steps }));
  if (fewest) return { ...found, steps: fewest };
  let left = found;
  for (let at = 0; at < left.steps.length; ) {
    const fewer = { ...left, steps: left.steps.toSpliced(at, 1) };
    if (await finds(fewer)) {
      left = fewer;
      at = 0;
    } else {
      at++;
    }
  }
  return left;
}

/**
 * Fewer faults, where they find it on clients that they name, or with other chance: without one of them another client may hold the lock
 * when it strikes, or the others meet another moment of the clients, in which nobody is harmed.
 */
async function withFewestSteps(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  const left = await withFewerSteps(await onNamedClients(await withFewerSteps(found, finds), finds), finds);
  if (left.steps.length < FEWEST_WITH_OTHER_CHANCE) return left;
  const chances = createRandom(found.seed).fork('other chance');
  const seeds = Array.from({ length: OTHER_CHANCES }, () => chances.int(0, SEEDS - 1));
  const fewer = left.steps.flatMap((_, n) =>
    seeds.map((seed) => ({ ...left, steps: left.steps.toSpliced(n, 1), seed })),
  );
  const other = await firstOf(fewer, finds);
  return other ? withFewestSteps(other, finds) : left;
}

/** Each that strikes whoever holds a lock then by the name of the client that it takes. */
async function onNamedClients(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  let left = found;
  for (const [n, step] of found.steps.entries()) {
    if (step.target !== 'holder') continue;
    const named = range(0, left.clients - 1).map((slot) => ({ ...step, target: { names: [clientSlot(slot)] } }));
    const tried = named.map((one) => ({ ...left, steps: left.steps.with(n, one) }));
    left = (await firstOf(tried, finds)) ?? left;
  }
  return left;
}

/** Of those that a step strikes by name none that can be left out, but one. */
async function withFewerNames(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  let left = found;
  for (const n of found.steps.keys())
    for (let at = 0; ; ) {
      const step = left.steps[n]!;
      const names = typeof step.target === 'string' ? [] : step.target.names;
      if (names.length < 2 || at >= names.length) break;
      const fewer = { ...step, target: { names: names.toSpliced(at, 1) } };
      const tried = { ...left, steps: left.steps.with(n, fewer) };
      if (await finds(tried)) left = tried;
      else at++;
    }
  return left;
}

/** Of what a fault is told nothing that it need not be: then it is as the fault itself says. */
async function withoutArguments(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  let left = found;
  for (const n of found.steps.keys())
    for (const name of Object.keys(left.steps[n]!.args ?? {})) {
      if (ruleOf(left.steps[n]!, name)?.required) continue;
      const { args, ...step } = left.steps[n]!;
      const { [name]: _, ...fewer } = args!;
      const tried = withStep(left, n, Object.keys(fewer).length === 0 ? step : { ...step, args: fewer });
      if (await finds(tried)) left = tried;
    }
  return left;
}

/** Each at its time, where that finds it as well; else at the first of such moments that does. */
async function withoutAims(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  let left = found;
  for (const [n, step] of found.steps.entries()) {
    if (!('atMs' in step) || !step.aim) continue;
    const { aim, ...timed } = step;
    const at = (count: number) => withStep(left, n, { ...step, aim: { ...aim, count } });
    if (await finds(withStep(left, n, timed))) left = withStep(left, n, timed);
    else left = at(await fewest(1, aim.count, (count) => finds(at(count))));
  }
  return left;
}

/** The first ones of them, all that are struck among these. */
async function withFewerClients(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  const strikes = (clients: number) =>
    Array.from({ length: found.clients - clients }, (_, n) => clientSlot(clients + n)).some((absent) =>
      found.steps.some(({ target }) => typeof target !== 'string' && target.names.includes(absent)),
    );
  const fewer = range(FEWEST_CLIENTS, found.clients - 1).filter((clients) => !strikes(clients));
  return (
    (await firstOf(
      fewer.map((clients) => withTurns({ ...found, clients }, found.turns)),
      finds,
    )) ?? found
  );
}

async function withFewerKeys(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  return (
    (await firstOf(
      range(1, found.keys - 1).map((keys) => ({ ...found, keys })),
      finds,
    )) ?? found
  );
}

async function inLessTime(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  const lasting = (times: number) => ({ ...found, timeLimitMs: times * TIME_MS });
  const now = Math.ceil(found.timeLimitMs / TIME_MS);
  const least = await fewest(FEWEST_TIMES, now, (times) => finds(lasting(times)));
  return least < now ? lasting(least) : found;
}

/** Client by client. */
async function withFewerTurns(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  let left = found;
  for (const slot of Array.from({ length: found.clients }, (_, n) => clientSlot(n))) {
    const taking = (turns: number) => withTurns(left, { ...left.turns, [slot]: turns });
    const does = (turns: number) => finds(taking(turns));
    const now = left.turns?.[slot];
    const first = now ?? (await firstOf(TURNS_TRIED, does));
    if (first === undefined) continue;
    const tooFew = now === undefined ? TURNS_TRIED[TURNS_TRIED.indexOf(first) - 1] : undefined;
    left = taking(await fewest(tooFew === undefined ? 0 : tooFew + 1, first, does));
  }
  return left;
}

/** `turns` of the clients that there are. */
function withTurns({ turns: _, ...rest }: Shrinkable, turns: Shrinkable['turns']): Shrinkable {
  const slots = Array.from({ length: rest.clients }, (_, n) => clientSlot(n));
  const theirs = slots.flatMap((slot) => (turns?.[slot] === undefined ? [] : [[slot, turns[slot]] as const]));
  return theirs.length === 0 ? rest : { ...rest, turns: Object.fromEntries(theirs) };
}

/** A number that a step has: how long it lasts, or one that its fault is told and that is an amount of something. */
interface StepsNumber {
  value: number;
  unit: string;
  /** When it begins, of which earlier is not less. */
  isMoment?: true;
  /** The step with another. Undefined: its fault would not take that. */
  as(value: number): PlanStep | undefined;
}

function numbersOf(step: PlanStep): StepsNumber[] {
  const told = Object.entries(step.args ?? {}).flatMap(([name, value]): StepsNumber[] => {
    const rule = ruleOf(step, name);
    if (typeof value !== 'number' || rule?.unit === undefined) return [];
    const as = (other: number) =>
      rule.check(other) === undefined ? { ...step, args: { ...step.args, [name]: other } } : undefined;
    return [{ value, unit: rule.unit, as }];
  });
  const lasts = (forMs: number) => (forMs > 0 ? { ...step, forMs } : undefined);
  return [
    ...('atMs' in step
      ? [{ value: step.atMs, unit: 'ms', isMoment: true as const, as: (atMs: number) => ({ ...step, atMs }) }]
      : []),
    { value: step.forMs, unit: 'ms', as: lasts },
    ...told,
  ];
}

/** One after the other: each as near to nothing as still finds it. */
async function inSmallerNumbers(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  let left = found;
  for (const n of found.steps.keys())
    for (const place of numbersOf(found.steps[n]!).keys()) {
      const number = numbersOf(left.steps[n]!)[place]!;
      if (number.isMoment || number.value === 0) continue;
      const between = { min: Math.min(0, number.value), max: Math.max(0, number.value) };
      const out = await fc.check(
        fc.asyncProperty(fc.integer(between), async (tried) => {
          const step = number.as(tried);
          return step === undefined || !(await finds(withStep(left, n, step)));
        }),
        { examples: [[number.value]], numRuns: 1 },
      );
      const [smaller] = out.counterexample ?? [];
      if (smaller !== undefined) left = withStep(left, n, number.as(smaller)!);
    }
  return left;
}

/** One after the other, in the order of `numbersOf`: a little longer for a rounder number. */
async function rounded(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  let left = found;
  for (const n of found.steps.keys())
    for (const place of numbersOf(found.steps[n]!).keys()) {
      const { value, unit, isMoment, as } = numbersOf(left.steps[n]!)[place]!;
      const round = ROUND.map((one) => one * (ROUND_IN[unit] ?? 1));
      const already = round.findIndex((one) => value % one === 0);
      const tried = round
        .slice(0, already < 0 ? undefined : already)
        .flatMap((one) => near(value, one, isMoment === true))
        .flatMap((rounder) => as(rounder) ?? []);
      left =
        (await firstOf(
          tried.map((step) => withStep(left, n, step)),
          finds,
        )) ?? left;
    }
  return left;
}

/** The multiples on both sides. What is no moment does not become nothing, or much more. */
function near(exact: number, of: number, isMoment: boolean): number[] {
  const below = Math.floor(exact / of) * of;
  const isLittleMore = (one: number) => one !== 0 && Math.abs(one) <= LONGER_BY_AT_MOST * Math.abs(exact);
  return [below, below + of].filter((one) => isMoment || isLittleMore(one));
}

function withStep(found: Shrinkable, n: number, step: PlanStep): Shrinkable {
  return { ...found, steps: found.steps.with(n, step) };
}

function ruleOf({ fault }: PlanStep, name: string) {
  return faults[fault]?.args[name];
}

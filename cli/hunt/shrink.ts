/**
 * From a schedule that found something to the smallest that finds the same: without any fault that can be left out, with as few
 * clients and as little time as do, with each fault that is left as short as fast-check gets it, and in the roundest numbers. What
 * is found is the same where its fingerprint is.
 */
import fc from 'fast-check';
import { clientSlot } from '../../harness/run/run.js';
import type { PlanStep } from '../../harness/vocabulary/faults.js';

/** More is not worth the time: by then what is left is small, as a rule. */
const MOST_EXECUTIONS = 300;
const FEWEST_CLIENTS = 2;
/** Time limits that are tried are multiples of it. */
const TIME_MS = 500;
/** Multiples of these are rounder than others, the first most of all. */
const ROUND_MS = [100, 50, 10];
/** No fault becomes longer than so many times for a rounder number. */
const LONGER_BY_AT_MOST = 1.25;

/** What of a schedule can be less. */
export interface Shrinkable {
  steps: PlanStep[];
  clients: number;
  timeLimitMs: number;
}

export interface Shrunk extends Shrinkable {
  executions: number;
  /** Whether all of it was tried. */
  isMinimal: boolean;
}

type Finds = (tried: Shrinkable) => Promise<boolean>;

/** `finds` plays a schedule, and says whether it still finds it; of `found` it is known. Once it is stopped nothing more is played. */
export async function shrinkSchedule(
  found: Shrinkable,
  finds: Finds,
  isStopped: () => boolean = () => false,
): Promise<Shrunk> {
  let executions = 0;
  const known = new Map([[JSON.stringify(found), true]]);
  const stillFinds: Finds = async (tried) => {
    const key = JSON.stringify(tried);
    const before = known.get(key);
    if (before !== undefined) return before;
    // What was not tried does not find it, as far as anybody knows: so shrinking comes to its end.
    if (executions >= MOST_EXECUTIONS || isStopped()) return false;
    executions++;
    const does = await finds(tried);
    known.set(key, does);
    return does;
  };
  const needed = await withFewerNames(await withoutWhatIsNotNeeded(found, stillFinds), stillFinds);
  const small = await inLessTime(await withFewerClients(needed, stillFinds), stillFinds);
  const least = await rounded(await shortened(small, stillFinds), stillFinds);
  return { ...least, executions, isMinimal: executions < MOST_EXECUTIONS && !isStopped() };
}

/** Without any step that can be left out, one after the other, until none can. */
async function withoutWhatIsNotNeeded(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  let left = found;
  for (let at = 0; at < left.steps.length; ) {
    const fewer = { ...left, steps: left.steps.filter((_, n) => n !== at) };
    if (await finds(fewer)) {
      left = fewer;
      at = 0;
    } else {
      at++;
    }
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

/** The first ones of them, all that are struck among these. */
async function withFewerClients(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  const strikes = (clients: number) =>
    Array.from({ length: found.clients - clients }, (_, n) => clientSlot(clients + n)).some((absent) =>
      found.steps.some(({ target }) => typeof target !== 'string' && target.names.includes(absent)),
    );
  return (
    (await firstThatFinds(
      range(FEWEST_CLIENTS, found.clients - 1)
        .filter((clients) => !strikes(clients))
        .map((clients) => ({ ...found, clients })),
      finds,
    )) ?? found
  );
}

async function inLessTime(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  const limits = range(2, Math.ceil(found.timeLimitMs / TIME_MS) - 1).map((n) => n * TIME_MS);
  return (
    (await firstThatFinds(
      limits.map((timeLimitMs) => ({ ...found, timeLimitMs })),
      finds,
    )) ?? found
  );
}

async function shortened(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  const { steps } = found;
  if (steps.length === 0) return found;
  const lasting = (lengthsMs: readonly number[]): Shrinkable => ({
    ...found,
    steps: steps.map((step, n) => ({ ...step, forMs: lengthsMs[n]! })),
  });
  const lengths = fc.tuple(...steps.map(({ forMs }) => fc.integer({ min: Math.min(1, forMs), max: forMs })));
  const out = await fc.check(
    fc.asyncProperty(lengths, async (tried) => !(await finds(lasting(tried)))),
    { examples: [[steps.map(({ forMs }) => forMs)]], numRuns: 1 },
  );
  const [shorter] = out.counterexample ?? [];
  return shorter ? lasting(shorter) : found;
}

/** When each fault begins, and then how long it lasts, one after the other: a little longer for a rounder number. */
async function rounded(found: Shrinkable, finds: Finds): Promise<Shrinkable> {
  let left = found;
  for (const n of found.steps.keys())
    for (const field of ['atMs', 'forMs'] as const) {
      const exact = (left.steps[n] as { atMs?: number; forMs: number })[field];
      if (exact === undefined) continue;
      const already = ROUND_MS.findIndex((ms) => exact % ms === 0);
      const rounder = ROUND_MS.slice(0, already < 0 ? undefined : already).flatMap((ms) => near(exact, ms, field));
      const tried = rounder.map((ms) => ({ ...left, steps: left.steps.with(n, { ...left.steps[n]!, [field]: ms }) }));
      left = (await firstThatFinds(tried, finds)) ?? left;
    }
  return left;
}

/** The multiples on both sides; nothing lasts for no time, or for much longer. */
function near(exact: number, ms: number, field: 'atMs' | 'forMs'): number[] {
  const below = Math.floor(exact / ms) * ms;
  return [below, below + ms].filter((one) => field === 'atMs' || (one > 0 && one <= LONGER_BY_AT_MOST * exact));
}

async function firstThatFinds(tried: readonly Shrinkable[], finds: Finds): Promise<Shrinkable | undefined> {
  for (const one of tried) if (await finds(one)) return one;
  return undefined;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => from + n);
}

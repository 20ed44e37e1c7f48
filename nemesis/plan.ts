/**
 * Makes a nemesis plan: plain data, the same for the same seed and options. Built from fast-check arbitraries, so that a
 * plan that found something can be shrunk.
 *
 * Server faults follow one another, each after the deployment had time to become whole again; client faults run beside
 * them on a few clients at once. Every fault asked for occurs as often as it was asked for, as far as time allows, those
 * that need most time first; what is left of the time is filled with more of them. All is healed before the time is over.
 */
import fc from 'fast-check';
import type { Plan, PlanStep } from '../harness/vocabulary/faults.js';
import { faults } from './faults/index.js';
import { words } from './levers/basics.js';
import { type FaultRequest, kindOf, type LanePhases, targetOf } from './requests.js';
import type { PlanTopology, Shape } from './striking/context.js';

export interface PlanOptions {
  seed: number;
  faults: readonly FaultRequest[];
  topology: PlanTopology;
  /** Warm-up and torture phase together. */
  timeLimitMs: number;
  warmUpMs: number;
  /** Mean time between the starts of two faults; absent: from the lease and the time there is. */
  intervalMs?: number;
  leaseMs: number;
  /** In which part of the torture phase each lane has its faults; absent: both in all of it. */
  phases?: LanePhases;
}

export interface MadePlan {
  plan: Plan;
  /** Faults for which there is no time. */
  warnings: string[];
}

/** The last fault is healed this long before the torture phase ends. */
const END_MARGIN_MS = 1_500;
const LEAST_INTERVAL_MS = 300;
const LONGEST_PLAN_STEPS = 5_000;

/** Makes the plan of a seed. */
export function makePlan(options: PlanOptions): MadePlan {
  const [steps = []] = fc.sample(fc.noBias(planArbitrary(options, LONGEST_PLAN_STEPS)), {
    seed: options.seed | 0,
    numRuns: 1,
  });
  const missing = options.faults.filter(
    (request) =>
      request.atLeast !== 0 &&
      !request.afterwards &&
      !steps.some((step) => step.fault === request.fault && sameTarget(step, request, options)),
  );
  const names = missing.map(({ fault, target }) => (target ? `${fault}:${target}` : fault));
  const tortureMs = Math.max(0, options.timeLimitMs - options.warmUpMs);
  const warnings =
    names.length > 0
      ? [`no time for ${words([...new Set(names)])} in ${tortureMs} ms; give a longer --time-limit`]
      : [];
  return { plan: { version: 1, seed: options.seed, steps }, warnings };
}

/**
 * Steps by start time, laid out from drafts that shrink towards fewer steps that start sooner and end sooner.
 * `leastSteps` is how many each lane has if time allows: all that fit, for a plan to run; fewer, for one to search with.
 */
export function planArbitrary(options: PlanOptions, leastSteps = 0): fc.Arbitrary<PlanStep[]> {
  const tortureMs = Math.max(0, options.timeLimitMs - options.warmUpMs);
  const entries = options.faults.map((request) => entryOf(request, options));
  const allServers = entries.filter((entry) => entry.shape.lane === 'servers');
  const servers = allServers.filter(({ request }) => !request.afterwards);
  const serversLast = allServers.filter(({ request }) => request.afterwards);
  const clientsOnce = entries.filter((entry) => entry.shape.lane === 'clients');
  const lanes = [servers, clientsOnce].filter((lane) => lane.length > 0).length;
  const frame = {
    anyOrder: false,
    beginMs: 0,
    endMs: tortureMs - END_MARGIN_MS,
    gapMs: Math.max(1, lanes) * (options.intervalMs ?? defaultIntervalMs(tortureMs, options.leaseMs)),
  };
  const inPhase = (lane: keyof LanePhases, neededMs: number) =>
    options.phases ? phaseOf(options.phases[lane], neededMs, frame) : frame;
  const serversNeedMs = neededMs(servers);
  const clientsNeedMs = Math.max(0, ...clientsOnce.map(({ shape }) => shape.leastMs));
  const clientsFrame = inPhase('clients', clientsNeedMs);
  const clients = clientsOnce.map((entry) => oftenIfTime(entry, clientsFrame));
  const owed = [...servers, ...clients].reduce((sum, entry) => sum + entry.atLeast, 0);
  const most = Math.min(LONGEST_PLAN_STEPS, Math.ceil((2 * Math.max(0, frame.endMs)) / frame.gapMs) + owed);
  const drafts = draftsArbitrary(leastSteps, most);
  const atOnce = Math.max(1, Math.floor(options.topology.clients.length / (servers.length > 0 ? 3 : 2)));
  return fc.record({ servers: drafts, clients: drafts }).map((drawn) => {
    const { steps, freeMs } = layServers(servers, drawn.servers, inPhase('servers', serversNeedMs));
    const last = inPhase('last', neededMs(serversLast));
    const after = { ...last, anyOrder: false, beginMs: Math.max(last.beginMs, freeMs) };
    return [
      ...steps,
      ...layServers(serversLast, drawn.servers.slice(steps.length), after).steps,
      ...layClients(clients, drawn.clients, clientsFrame, atOnce),
    ].sort((a, b) => a.atMs - b.atMs);
  });
}

function neededMs(entries: readonly Entry[]): number {
  return entries.reduce((sum, { shape }) => sum + shape.leastMs + shape.settleMs, 0);
}

/** A part of the time that there is, and more of it where that is too little for what is owed. */
function phaseOf({ from, to }: LanePhases['servers'], neededMs: number, frame: Frame): Frame {
  const { endMs, gapMs } = frame;
  const beginMs = Math.max(0, Math.round(Math.min(from * endMs, to * endMs - neededMs)));
  const untilMs = Math.round(Math.min(endMs, Math.max(to * endMs, beginMs + neededMs)));
  return { beginMs, endMs: untilMs, gapMs: (gapMs * (untilMs - beginMs)) / endMs, anyOrder: true };
}

/** With what is asked for again, if there is time. */
function oftenIfTime(entry: Entry, { beginMs, endMs }: Frame): Entry {
  const { request, shape, atLeast } = entry;
  return request.again && (atLeast + 1) * shape.leastMs <= endMs - beginMs ? { ...entry, atLeast: atLeast + 1 } : entry;
}

/** Mean time between two faults: enough for a hold to begin and end in between, and for half a dozen faults at least. */
export function defaultIntervalMs(tortureMs: number, leaseMs: number): number {
  return Math.max(LEAST_INTERVAL_MS, Math.round(Math.min(leaseMs / 2, tortureMs / 6)));
}

/** A request with all that laying it out needs. */
interface Entry {
  request: FaultRequest;
  step: Pick<PlanStep, 'fault' | 'target'>;
  shape: Shape;
  /** Occurrences that are still owed. */
  atLeast: number;
}

type TimedStep = PlanStep & { atMs: number };

/** Random parts of one step, each in thousandths. */
interface Draft {
  gap: number;
  length: number;
  choice: number;
}

interface Frame {
  /** Whether what is owed may come in any order as long as there is time for all of it; else longest first. */
  anyOrder: boolean;
  beginMs: number;
  endMs: number;
  gapMs: number;
}

const THOUSAND = 1_000;

function draftsArbitrary(least: number, most: number): fc.Arbitrary<Draft[]> {
  const part = fc.integer({ min: 0, max: THOUSAND });
  const draft = fc.record({ gap: part, length: part, choice: part });
  return fc.array(draft, { minLength: Math.min(least, most), maxLength: most, size: 'max' });
}

function entryOf(request: FaultRequest, { topology, leaseMs }: PlanOptions): Entry {
  const target = targetOf(request, topology);
  const fault = faults[request.fault]!;
  const role =
    typeof target === 'string'
      ? target
      : target.names.every((name) => kindOf(name, topology) === 'client')
        ? 'client'
        : 'names';
  return {
    request,
    step: { fault: fault.name, target },
    shape: fault.shape(topology, role, leaseMs),
    atLeast: request.atLeast ?? 1,
  };
}

/** One after the other; `freeMs`: from when on another may come. */
function layServers(
  entries: readonly Entry[],
  drafts: readonly Draft[],
  frame: Frame,
): { steps: TimedStep[]; freeMs: number } {
  const chooser = new Chooser(entries, drafts[0]?.choice ?? 0);
  const steps: TimedStep[] = [];
  let freeMs = frame.beginMs;
  let startMs = frame.beginMs;
  for (const draft of drafts) {
    const owed = chooser.owedMs();
    const wanted = startMs + spread(frame.gapMs, draft.gap);
    // A gap may not eat the time of what is still owed; the first fault comes early.
    const latest = steps.length === 0 ? frame.beginMs + 300 + 0.4 * draft.gap : Math.max(freeMs, frame.endMs - owed);
    const atMs = Math.round(Math.max(freeMs, Math.min(wanted, latest)));
    const entry = chooser.next(draft, frame.endMs - atMs, frame.anyOrder);
    if (!entry) break;
    const slackMs = frame.endMs - atMs - owed;
    const step = stepOf(
      entry,
      draft,
      atMs,
      entry.shape.leastMs + Math.max(0, slackMs),
      frame,
      chooser.occurrence(entry),
    );
    steps.push(step);
    startMs = atMs;
    freeMs = atMs + step.forMs + entry.shape.settleMs;
  }
  return { steps, freeMs };
}

/** Beside each other, on at most `atOnce` clients at a time. */
function layClients(entries: readonly Entry[], drafts: readonly Draft[], frame: Frame, atOnce: number): TimedStep[] {
  const chooser = new Chooser(entries, drafts[0]?.choice ?? 0);
  const steps: TimedStep[] = [];
  let startMs = frame.beginMs;
  for (const draft of drafts) {
    const gapMs = Math.min(frame.gapMs, chooser.evenGapMs(frame.endMs - startMs) / 1.5);
    const wanted = startMs + spread(gapMs, draft.gap);
    const ends = steps.map((step) => step.atMs + step.forMs).filter((end) => end > wanted);
    // Not more at once: wait until enough of those in force are over.
    const room = ends.length < atOnce ? wanted : ends.sort((a, b) => a - b)[ends.length - atOnce]!;
    const atMs = Math.round(room);
    const entry = chooser.next(draft, frame.endMs - atMs, frame.anyOrder);
    if (!entry) break;
    steps.push(stepOf(entry, draft, atMs, frame.endMs - atMs, frame, chooser.occurrence(entry)));
    startMs = atMs;
  }
  return steps;
}

function stepOf(entry: Entry, draft: Draft, atMs: number, mostMs: number, frame: Frame, occurrence: number): TimedStep {
  const { forMs, leastMs, args: drawnArgs } = entry.shape;
  const args = { ...(drawnArgs && chooseArgs(drawnArgs, occurrence)), ...entry.request.args };
  const drawn = forMs.min + (draft.length / THOUSAND) * (forMs.max - forMs.min);
  const fits = Math.min(drawn, mostMs, frame.endMs - atMs);
  return {
    atMs,
    ...entry.step,
    forMs: Math.round(Math.max(fits, leastMs)),
    ...(Object.keys(args).length > 0 && { args }),
  };
}

/** Each occurrence takes the next value, from a random one on, so that a run tries as many of them as it can. */
function chooseArgs(args: NonNullable<Shape['args']>, occurrence: number): Record<string, number | string> {
  return Object.fromEntries(
    Object.entries(args).map(([name, values]) => {
      return [name, values[occurrence % values.length]!];
    }),
  );
}

/** Decides which fault is next: first what is owed, longest first or in any order, then anything. */
class Chooser {
  private readonly queue: Entry[];
  private readonly counts = new Map<Entry, number>();

  constructor(
    private readonly entries: readonly Entry[],
    private readonly rotation: number,
  ) {
    const rotated = entries.map((_, at) => entries[(at + rotation) % entries.length]!);
    const longestFirst = rotated.sort((a, b) => b.shape.leastMs - a.shape.leastMs);
    this.queue = longestFirst.flatMap((entry) => Array.from({ length: entry.atLeast }, () => entry));
  }

  /** The gap with which everything that is owed and possible gets its turn in `leftMs`. */
  evenGapMs(leftMs: number): number {
    const possible = this.queue.map(({ shape }) => shape.leastMs).filter((leastMs) => leastMs <= leftMs);
    return possible.length > 0 ? (leftMs - Math.max(...possible)) / possible.length : Number.POSITIVE_INFINITY;
  }

  owedMs(): number {
    return this.queue.reduce((sum, { shape }) => sum + shape.leastMs + shape.settleMs, 0);
  }

  /** The next fault for which `leftMs` is enough. */
  next(draft: Draft, leftMs: number, anyOrder: boolean): Entry | undefined {
    const fits = (entry: Entry) => entry.shape.leastMs <= leftMs;
    const [longest] = this.queue;
    // Of what takes half of the time that is left there is no second chance.
    const isAny = anyOrder && longest && longest.shape.leastMs <= leftMs / 2 && this.owedMs() <= leftMs;
    const at = isAny ? draft.choice % this.queue.length : this.queue.findIndex(fits);
    if (at >= 0) return this.queue.splice(at, 1)[0];
    const fitting = this.entries.filter(fits);
    return fitting[draft.choice % Math.max(1, fitting.length)];
  }

  /** The how many-th time this is that the entry was chosen, counted from a random number. */
  occurrence(entry: Entry): number {
    const before = this.counts.get(entry) ?? this.rotation;
    this.counts.set(entry, before + 1);
    return before;
  }
}

/** From half the mean to one and a half of it. */
function spread(meanMs: number, part: number): number {
  return meanMs * (0.5 + part / THOUSAND);
}

function sameTarget(step: PlanStep, request: FaultRequest, options: PlanOptions): boolean {
  return JSON.stringify(step.target) === JSON.stringify(targetOf(request, options.topology));
}

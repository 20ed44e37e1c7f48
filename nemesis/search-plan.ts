/**
 * Plans to search with: unlike those that a run follows (`plan.ts`), which give everything that was asked for its turn, each is a
 * few faults at any time, on named hosts, of a random subset of what there is (swarm testing: Groce et al., ISSTA 2012), so
 * that rare combinations are not drowned by common ones. They shrink to fewer faults, earlier, shorter.
 */
import fc from 'fast-check';
import type { PlanStep, Target } from '../harness/vocabulary/faults.js';
import type { Persistence } from '../harness/vocabulary/topology.js';
import { aimedAt, drawnAims } from './aim-plan.js';
import { faults } from './faults/index.js';
import { drawnPriorities, isOfPriorities } from './priority-plan.js';
import { kindOf } from './requests.js';
import type { NemesisFault, PlanTopology, Shape, Struckable } from './striking/context.js';

export interface SearchOptions {
  /** Names of faults. */
  faults: readonly string[];
  /** What of them is left out: `kill:node`. */
  leftOut?: ReadonlySet<string>;
  topology: PlanTopology;
  /** Every fault begins before this, counted from the begin of the torture phase. */
  endMs: number;
  leaseMs: number;
  /** Half of the plans have a step besides as a run has them: a holder of a lock is stopped, or cut off, until its lease is over. */
  usual?: true | undefined;
  /** All steps at their times. */
  unaimed?: true | undefined;
}

/** What a schedule can have one after the other, or at once. */
const MOST_FAULTS = 6;
/** A fault may be shorter than what a run on real servers gives it. */
const SHORTEST_MS = 10;

/**
 * Faults of which a simulated network and its hosts have all that they need, and on every server: `migrate-slots` needs one that can.
 * What was added later stands later: what is drawn of the others is as before.
 */
export const SEARCHED: readonly string[] = [
  'pause',
  'gc',
  'priorities',
  'preempt',
  'kill',
  'delay',
  'partition',
  'reset',
  'amnesia',
  'power-cut',
  'clock',
  'drift',
  'failover',
  'failover-to',
  'cluster-failover',
  'move-slot',
  'slow',
  'reset-on-reply',
  'lost-reply',
  'evict',
  'lag',
  'reload',
  'sentinel-failover',
  'strobe',
  'forget-granted',
  'skew-granted',
  'loss',
  'rate',
  'reorder',
  'duplicate',
  'slow-disk',
];
/** The one leaves a server without a log what `kill` does, the other does nothing to it. */
const OF_A_LOG: readonly string[] = ['power-cut', 'slow-disk'];
/**
 * Those that break every lock that counts on a server's time, as nearly all do; that are made of others which a search puts together by
 * itself; whose own course is longer than a schedule should be; or that TCP hides.
 */
const WHEN_NAMED: readonly string[] = [
  'clock',
  'drift',
  'strobe',
  'lag',
  'reload',
  'sentinel-failover',
  'forget-granted',
  'skew-granted',
  'reorder',
  'duplicate',
];
export const SEARCHED_BY_DEFAULT: readonly string[] = SEARCHED.filter(
  (name) => ![...WHEN_NAMED, ...OF_A_LOG].includes(name),
);

/** Where nobody says what to search with. */
export function searchedByDefault(persistence: Persistence): readonly string[] {
  const keepsLog = persistence === 'aof-always' || persistence === 'aof-everysec';
  return keepsLog ? [...SEARCHED_BY_DEFAULT, ...OF_A_LOG] : SEARCHED_BY_DEFAULT;
}

/** Why a search on this topology cannot be made of these faults alone, or undefined. */
export function unsearchable(names: readonly string[], topology: PlanTopology): string | undefined {
  const reasons = names.map((name) => faults[name]!.unfit(topology));
  return reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined;
}

/**
 * Steps by start time, some of them aimed. Not biased: a generator that prefers small values hardly tries a long fault. Aims are drawn last:
 * what is drawn of all else is as it would be without.
 */
export function searchArbitrary(options: SearchOptions): fc.Arbitrary<PlanStep[]> {
  const timed = timedArbitrary(options);
  if (options.unaimed) return timed;
  return fc.noBias(
    fc.record({ timed, aims: drawnAims(MOST_FAULTS) }).map(({ timed: steps, aims: drawn }) => aimedAt(steps, drawn)),
  );
}

function timedArbitrary(options: SearchOptions): fc.Arbitrary<PlanStep[]> {
  const struck = strikingArbitrary({ ...options, faults: options.faults.filter((name) => !isOfPriorities(name)) });
  if (!options.faults.some(isOfPriorities)) return struck;
  const hasOthers = options.faults.some((name) => !isOfPriorities(name));
  // Drawn after the others, which are what they would be without.
  return fc.noBias(
    fc.record({ others: struck, ...drawnPriorities(options, hasOthers) }).map(({ others, beside, steps }) => {
      if (beside === 'others alone') return others;
      return beside === 'alone' ? steps : [...steps, ...others].slice(0, MOST_FAULTS);
    }),
  );
}

function strikingArbitrary(options: SearchOptions): fc.Arbitrary<PlanStep[]> {
  const names = options.faults.filter((name) => faults[name]!.unfit(options.topology) === undefined);
  const steps = names.flatMap((name) => stepArbitraries(faults[name]!, options));
  if (steps.length === 0) return fc.constant([]);
  const enabled = fc.array(fc.boolean(), { minLength: names.length, maxLength: names.length });
  const drawn = fc.array(fc.oneof(...steps), { minLength: 1, maxLength: MOST_FAULTS, size: 'max' });
  const usual = usualArbitrary(names, options);
  return fc.noBias(
    fc.record({ enabled, drawn, ...(usual && { one: usual }) }).map(({ enabled: mask, drawn: all, one }: Drawn) => {
      const allowed = names.filter((_, n) => mask[n]);
      const kept = all.filter(({ fault }) => allowed.length === 0 || allowed.includes(fault));
      const drawnSteps = one === undefined ? kept : [one, ...kept.slice(0, MOST_FAULTS - 1)];
      return drawnSteps.toSorted((a, b) => a.atMs - b.atMs);
    }),
  );
}

interface Drawn {
  enabled: boolean[];
  drawn: TimedStep[];
  one?: TimedStep | undefined;
}

/** What a run's default plan does to whoever holds a lock and leaves the holder alive. */
const USUAL: readonly string[] = ['pause', 'pause', 'partition'];

/** Undefined where there is no such step. */
function usualArbitrary(
  names: readonly string[],
  options: SearchOptions,
): fc.Arbitrary<TimedStep | undefined> | undefined {
  const { topology, leaseMs, leftOut, usual } = options;
  const faultsOf = USUAL.filter((name) => names.includes(name) && !leftOut?.has(`${name}:client`));
  if (!usual || faultsOf.length === 0) return undefined;
  const drawn = faultsOf.map((name) => {
    const shape = faults[name]!.shape(topology, 'holder', leaseMs);
    return stepArbitrary(faults[name]!, 'holder', shape, shape.forMs.min, options);
  });
  return fc.record({ has: fc.boolean(), step: fc.oneof(...drawn) }).map(({ has, step }) => (has ? step : undefined));
}

/** What `leftOut` calls this step by: its fault, on such hosts as it strikes. */
export function searchedAs({ fault, target }: PlanStep, topology: PlanTopology): string {
  if (typeof target === 'string') return `${fault}:${target === 'holder' || target === 'client' ? 'client' : 'node'}`;
  return `${fault}:${kindOf(target.names[0]!, topology)}`;
}

/**
 * Whether nothing is lost with it once it was found to break every lock by itself. A stop in the midst of a client's code makes a stale
 * holder of every lock, and is what finds the mistakes of those that trust their own clock: these are not told by who was stopped. The
 * same holds for a request that is held back for longer than a lease.
 */
export function mayBeLeftOut({ fault }: PlanStep): boolean {
  return !faults[fault]!.needs.includes('turns');
}

type TimedStep = PlanStep & { atMs: number };

/** One for each host that the fault can strike, and one for whoever holds a lock then; for a fault of one role, whoever has it then. */
function stepArbitraries(fault: NemesisFault, options: SearchOptions): fc.WeightedArbitrary<TimedStep>[] {
  const { topology, leftOut } = options;
  const [role, ...others] = fault.targets;
  if (others.length === 0) {
    if (leftOut?.has(`${fault.name}:node`)) return [];
    const shape = fault.shape(topology, role!, options.leaseMs);
    // Its own course takes so long: it waits for a grant, or until a server is replaced.
    const arbitrary = stepArbitrary(fault, role!, shape, shape.leastMs, options);
    // As often as others that can strike everybody.
    return [{ weight: topology.nodes.length + topology.clients.length, arbitrary }];
  }
  const hosts: Record<Struckable, readonly string[]> = {
    node: topology.nodes,
    sentinel: topology.sentinels,
    client: topology.clients,
  };
  const kinds = fault.strikes.filter((kind) => !leftOut?.has(`${fault.name}:${kind}`));
  return kinds.flatMap((kind) => {
    const shape = fault.shape(topology, kind === 'client' ? 'client' : 'names', options.leaseMs);
    const on = (target: Target, weight: number) => ({
      weight,
      arbitrary: stepArbitrary(fault, target, shape, SHORTEST_MS, options),
    });
    const named = hosts[kind].map((name) => on({ names: [name] }, 1));
    // What happens to who holds nothing breaks little: every other fault of a client's is a holder's.
    const hasHolder = kind === 'client' && fault.targets.includes('holder');
    return hasHolder ? [...named, on('holder', named.length)] : named;
  });
}

function stepArbitrary(
  { name }: NemesisFault,
  target: Target,
  { forMs, args }: Pick<Shape, 'forMs' | 'args'>,
  shortestMs: number,
  { endMs }: SearchOptions,
): fc.Arbitrary<TimedStep> {
  const values = Object.entries(args ?? {}).map(([arg, choices]) => [arg, fc.constantFrom(...choices)] as const);
  const min = Math.round(shortestMs);
  return fc
    .record({
      atMs: fc.integer({ min: 0, max: endMs }),
      forMs: fc.integer({ min, max: Math.max(Math.round(forMs.max), min) }),
      args: fc.record(Object.fromEntries(values)),
    })
    .map(({ atMs, forMs: lasts, args: chosen }) => ({
      atMs,
      fault: name,
      target,
      forMs: lasts,
      ...(values.length > 0 && { args: chosen as Record<string, number | string> }),
    }));
}

/**
 * Schedules by priorities, as in probabilistic concurrency testing (PCT; Burckhardt et al., ASPLOS 2010): an order of the clients, and a few
 * requests at which whoever sends them loses its place. A mistake of depth d takes d - 1 of these; how likely it is found is in
 * docs/simulation.md.
 */
import fc from 'fast-check';
import type { PlanStep } from '../harness/vocabulary/faults.js';
import { faults } from './faults/index.js';
import type { PlanTopology } from './striking/context.js';

/** What is drawn for a search. */
interface SearchedPriorities {
  /** Names of faults. */
  faults: readonly string[];
  /** As in `SearchOptions`. */
  leftOut?: ReadonlySet<string>;
  topology: PlanTopology;
  endMs: number;
  leaseMs: number;
}

const MOST_CHANGES = 3;
/**
 * How many requests a schedule has is known when it was played. A change point is one of the first so many of them; of these numbers there is
 * one between that and its double, up to four thousand.
 */
export const REQUESTS = [32, 64, 128, 256, 512, 1_024, 2_048, 4_096];
/** Between two commands of others. */
const SHORT_MS = { min: 1, max: 50 };
/** Until a lease has passed, in parts of it. */
const LONG_LEASES = { least: 1.05, most: 1.5 };

/** With what other faults a schedule has. */
const BESIDE = ['others alone', 'others alone', 'alone', 'beside others'] as const;

export function isOfPriorities(fault: string): boolean {
  return fault === 'priorities' || fault === 'preempt';
}

/** What to draw beside the other faults of a schedule; without others there are priorities in each. */
export function drawnPriorities(options: SearchedPriorities, hasOthers: boolean) {
  const { faults: names, topology, leftOut } = options;
  const asked = (name: string) =>
    names.includes(name) && !leftOut?.has(`${name}:client`) && faults[name]!.unfit(topology) === undefined;
  // One alone is always first.
  const areSeveral = topology.clients.length > 1;
  return {
    beside: hasOthers ? fc.constantFrom(...BESIDE) : fc.constant('alone' as const),
    steps: fc
      .record({ order: orderArbitrary(options), changes: changesArbitrary(options) })
      .map(({ order, changes }): PlanStep[] => [
        ...(areSeveral && asked('priorities') ? [order] : []),
        ...(asked('preempt') ? changes : []),
      ]),
  };
}

/** Named are all but the one that is heard first. */
function orderArbitrary({ topology: { clients }, endMs }: SearchedPriorities): fc.Arbitrary<PlanStep> {
  const shuffled = fc.shuffledSubarray([...clients], { minLength: clients.length, maxLength: clients.length });
  const withinMs = fc.constantFrom(1, 5, 20);
  return fc.record({ shuffled, withinMs }).map(({ shuffled: [, ...last], withinMs: within }) => ({
    atMs: 0,
    fault: 'priorities',
    target: { names: last },
    forMs: endMs,
    args: { withinMs: within },
  }));
}

function changesArbitrary({ leaseMs }: SearchedPriorities): fc.Arbitrary<PlanStep[]> {
  const long = {
    min: Math.round(LONG_LEASES.least * leaseMs),
    max: Math.round(LONG_LEASES.most * leaseMs),
  };
  const request = fc.constantFrom(...REQUESTS).chain((most) => fc.integer({ min: 1, max: most }));
  const forMs = fc.oneof(fc.integer(SHORT_MS), fc.integer(long));
  const of = fc.constantFrom('all', 'going-on');
  const change = fc.record({ of, request, forMs }).map(
    ({ of: which, request: nth, forMs: lasts }): PlanStep => ({
      atMs: 0,
      fault: 'preempt',
      target: 'client',
      forMs: lasts,
      args: { of: which, request: nth },
    }),
  );
  return fc.array(change, { minLength: 0, maxLength: MOST_CHANGES, size: 'max' });
}

/**
 * Plans to search with: unlike those that a run follows (`plan.ts`), which give everything that was asked for its turn, each is a
 * few faults at any time, on named hosts, of a random subset of what there is (swarm testing: Groce et al., ISSTA 2012), so
 * that rare combinations are not drowned by common ones. They shrink to fewer faults, earlier, shorter.
 */
import fc from 'fast-check';
import type { PlanStep } from '../harness/vocabulary/faults.js';
import { faults } from './faults/index.js';
import type { NemesisFault, PlanTopology, Struckable } from './striking/context.js';

export interface SearchOptions {
  /** Names of faults. */
  faults: readonly string[];
  /** What of them is left out: `kill:node`. */
  leftOut?: ReadonlySet<string>;
  topology: PlanTopology;
  /** Every fault begins before this, counted from the begin of the torture phase. */
  endMs: number;
  leaseMs: number;
}

/** What a schedule can have one after the other, or at once. */
const MOST_FAULTS = 6;
/** A fault may be shorter than what a run on real servers gives it. */
const SHORTEST_MS = 10;

/**
 * Faults of which a simulated network and its hosts have all that they need. What happens to packets (`loss`, `reorder`, ...) it
 * does not have, and faults that wait for their moment by reading a kernel's queues neither.
 */
export const SEARCHED: readonly string[] = [
  'pause',
  'kill',
  'delay',
  'partition',
  'reset',
  'amnesia',
  'clock',
  'drift',
];
/** Without those that break every lock that counts on a server's time, as nearly all do. */
export const SEARCHED_BY_DEFAULT: readonly string[] = ['pause', 'kill', 'delay', 'partition', 'reset', 'amnesia'];

/** Steps by start time. Not biased: a generator that prefers small values hardly tries a long fault. */
export function searchArbitrary(options: SearchOptions): fc.Arbitrary<PlanStep[]> {
  const steps = options.faults.flatMap((name) => stepArbitraries(faults[name]!, options));
  if (steps.length === 0) return fc.constant([]);
  const enabled = fc.array(fc.boolean(), { minLength: options.faults.length, maxLength: options.faults.length });
  const drawn = fc.array(fc.oneof(...steps), { minLength: 1, maxLength: MOST_FAULTS, size: 'max' });
  return fc.noBias(
    fc.record({ enabled, drawn }).map(({ enabled: mask, drawn: all }) => {
      const allowed = options.faults.filter((_, n) => mask[n]);
      const kept = all.filter(({ fault }) => allowed.length === 0 || allowed.includes(fault));
      return [...kept].sort((a, b) => a.atMs - b.atMs);
    }),
  );
}

type TimedStep = PlanStep & { atMs: number };

/** One for each host that the fault can strike. */
function stepArbitraries(
  fault: NemesisFault,
  { topology, leftOut, endMs, leaseMs }: SearchOptions,
): fc.Arbitrary<TimedStep>[] {
  const hosts: Record<Struckable, readonly string[]> = {
    node: topology.nodes,
    sentinel: topology.sentinels,
    client: topology.clients,
  };
  const kinds = fault.strikes.filter((kind) => !leftOut?.has(`${fault.name}:${kind}`));
  return kinds.flatMap((kind) =>
    hosts[kind].map((name) => {
      const { forMs, args } = fault.shape(topology, kind === 'client' ? 'client' : 'names', leaseMs);
      const values = Object.entries(args ?? {}).map(([arg, choices]) => [arg, fc.constantFrom(...choices)] as const);
      return fc
        .record({
          atMs: fc.integer({ min: 0, max: endMs }),
          forMs: fc.integer({ min: SHORTEST_MS, max: Math.max(forMs.max, SHORTEST_MS) }),
          args: fc.record(Object.fromEntries(values)),
        })
        .map(({ atMs, forMs: lasts, args: chosen }) => ({
          atMs,
          fault: fault.name,
          target: { names: [name] },
          forMs: lasts,
          ...(values.length > 0 && { args: chosen as Record<string, number | string> }),
        }));
    }),
  );
}

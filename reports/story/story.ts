/** One run as a reader sees it: the same facts as in the history, arranged by lane. Pure; no drawing. */
import type { Phase } from '../../harness/api.js';
import type { ReportInput } from '../input.js';
import { beliefsOf, type NodeBelief } from './beliefs.js';
import { type FaultStory, faultStories } from './faults.js';
import { type Slot, type Slots, slotsOf } from './slots.js';

export interface PhaseSpan {
  phase: Phase;
  fromNs: number;
  untilNs: number;
  line: number;
}

export interface Story {
  /** What is drawn: from the first phase (or the first operation) to the last event. */
  fromNs: number;
  untilNs: number;
  epochWallMs?: number;
  keys: string[];
  slots: Slot[];
  slotOf: Slots['byClient'];
  phases: PhaseSpan[];
  faults: FaultStory[];
  nodes: NodeBelief[];
  /** Hosts that a fault touched and that are neither a client nor an observed node: Sentinels, unobserved nodes. */
  otherHosts: string[];
}

export function storyOf(input: ReportInput): Story {
  const { events } = input.history;
  const { fromNs, untilNs } = extent(input);
  const { slots, byClient } = slotsOf(input.history, input.holds, input.config.clients);
  const faults = faultStories(input.plan, input.history, untilNs);
  const nodes = beliefsOf(input.observations, untilNs);
  const run = events.find((event) => event.type === 'run');
  return {
    fromNs,
    untilNs,
    ...(run === undefined ? {} : { epochWallMs: run.epochWallMs }),
    keys: [...new Set([...input.config.keys, ...input.holds.map((hold) => hold.key)])],
    slots,
    slotOf: byClient,
    phases: phasesOf(input, untilNs),
    faults,
    nodes,
    otherHosts: otherHosts(faults, byClient, nodes),
  };
}

function extent(input: ReportInput): { fromNs: number; untilNs: number } {
  const { events } = input.history;
  const begin = events.find((event) => event.type === 'phase' || event.type === 'invoke') ?? events[0];
  const fromNs = begin?.atNs ?? input.holds[0]?.fromNs ?? 0;
  let untilNs = fromNs;
  for (const event of events) untilNs = Math.max(untilNs, event.atNs);
  for (const hold of input.holds) if (Number.isFinite(hold.untilNs)) untilNs = Math.max(untilNs, hold.untilNs);
  for (const { untilNs: end } of input.results.violations) if (Number.isFinite(end)) untilNs = Math.max(untilNs, end);
  // An empty record still needs an axis of some length.
  return { fromNs, untilNs: untilNs > fromNs ? untilNs : fromNs + 1e9 };
}

function phasesOf(input: ReportInput, endNs: number): PhaseSpan[] {
  const starts = input.history.events.filter((event) => event.type === 'phase');
  return starts.map((event, at) => ({
    phase: event.phase,
    fromNs: event.atNs,
    untilNs: starts[at + 1]?.atNs ?? endNs,
    line: event.i,
  }));
}

function otherHosts(faults: readonly FaultStory[], slotOf: Slots['byClient'], nodes: readonly NodeBelief[]): string[] {
  const touched = new Set(
    faults.flatMap((fault) => fault.spans.flatMap((span) => span.touches.map((touch) => touch.target))),
  );
  const observed = new Set(nodes.map((node) => node.node));
  return [...touched].filter((name) => !observed.has(name) && !slotOf.has(name)).sort();
}

/** One run as a reader sees it: the same facts as in the history, arranged by lane. Pure; no drawing. */
import type { History, Phase } from '../../harness/vocabulary/history.js';
import type { Violation } from '../../harness/vocabulary/verdict.js';
import type { HoldTable, ReportInput } from '../input.js';
import { Beliefs, type NodeBelief } from './beliefs.js';
import { type FaultStory, faultStories } from './faults.js';
import { type Slot, type Slots, slotsOf } from './slots.js';

/** A violation by the number that it has everywhere in the report. */
export interface Mark {
  number: number;
  violation: Violation;
  /** Where the report tells of it: `#violation-1`. */
  href: string;
}

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
  /** The machine's wall clock at the epoch; absent: not known, or it was stepped, and went its own way from then on. */
  epochWallMs?: number;
  keys: string[];
  slots: Slot[];
  slotOf: Slots['byClient'];
  phases: PhaseSpan[];
  faults: FaultStory[];
  history: History;
  holds: HoldTable;
  beliefs: Beliefs;
  /** Hosts that a fault touched and that are neither a client nor an observed node: Sentinels, unobserved nodes. */
  otherHosts: string[];
}

export function storyOf(input: ReportInput): Story {
  const { history, holds, config } = input;
  const { fromNs, untilNs } = extent(input);
  const { slots, byClient } = slotsOf(history, holds, config.clients);
  const faults = faultStories(input.plan, history, untilNs);
  const beliefs = new Beliefs(input.observations, untilNs, config.leaseMs);
  const run = history.rare.find((event) => event.type === 'run');
  return {
    fromNs,
    untilNs,
    ...(run === undefined || wasStepped(history) ? {} : { epochWallMs: run.epochWallMs }),
    keys: [...new Set([...config.keys, ...keysHeld(input)])],
    slots,
    slotOf: byClient,
    phases: phasesOf(input, untilNs),
    faults,
    history,
    holds,
    beliefs,
    otherHosts: otherHosts(faults, byClient, beliefs.nodes),
  };
}

/** In the order in which they were first held. */
function keysHeld({ history, holds }: ReportInput): string[] {
  const keys = new Set<number>();
  for (let k = 0; k < holds.count; k++) keys.add(holds.key[k]!);
  return [...keys].map((key) => history.operations.keys[key]!);
}

function wasStepped(history: History): boolean {
  return history.rare.some((event) => event.type === 'disturbance' && event.disturbance === 'wall-clock-step');
}

function extent({ history, holds, results }: ReportInput): { fromNs: number; untilNs: number } {
  const phase = history.rare.find((event) => event.type === 'phase');
  const line = Math.min(
    phase?.i ?? Number.POSITIVE_INFINITY,
    history.operations.invokeLine[0] ?? Number.POSITIVE_INFINITY,
  );
  const begin = history.event(line) ?? history.event(0);
  const fromNs = begin?.atNs ?? holds.fromNs[0] ?? 0;
  let untilNs = Math.max(fromNs, history.endNs);
  for (const end of holds.untilNs) if (Number.isFinite(end)) untilNs = Math.max(untilNs, end);
  for (const { untilNs: end } of results.violations) if (Number.isFinite(end)) untilNs = Math.max(untilNs, end);
  // An empty record still needs an axis of some length.
  return { fromNs, untilNs: untilNs > fromNs ? untilNs : fromNs + 1e9 };
}

function phasesOf(input: ReportInput, endNs: number): PhaseSpan[] {
  const starts = input.history.rare.filter((event) => event.type === 'phase');
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

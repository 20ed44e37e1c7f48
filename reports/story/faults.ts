/** What became of each planned fault, put together from the history's fault records. */
import { aimWords } from '../../harness/record/facts/aim-words.js';
import { namesInEffect } from '../../harness/record/facts/faults.js';
import type { Plan, PlanStep } from '../../harness/vocabulary/faults.js';
import type { FaultEffect, FaultRecord, History } from '../../harness/vocabulary/history.js';

export interface FaultMoment {
  /** History line. */
  line: number;
  atNs: number;
  record: FaultRecord;
}

/** One time during which a fault was in force. */
export interface FaultSpan {
  /** The first thing that was done: a composite works before it counts as struck. */
  fromNs: number;
  untilNs: number;
  /** `missed`: the strike was refused or failed after its first phases, and nothing stayed; `open`: no heal recorded. */
  ended: 'heal' | 'missed' | 'open';
  moments: FaultMoment[];
  touches: Touch[];
}

/**
 * One host or client under a fault. Whom a strike names is touched until the heal. A composite's phases name others in
 * passing (a minority that is cut only until a lock is granted): those only until the step's next record leaves them
 * out, unless their clock was moved, which lasts.
 */
export interface Touch {
  target: string;
  /** What it was put through, in the order of the records. */
  kinds: TouchKind[];
  fromNs: number;
  untilNs: number;
}

export type TouchKind =
  | 'stopped'
  | 'down'
  | 'cut off'
  | 'degraded'
  | 'heard last'
  | 'slow disk'
  | 'clock moved'
  | 'struck';

export interface FaultStory {
  step: number;
  fault: string;
  /** Absent where the plan has no such step. */
  planned?: PlanStep;
  moments: FaultMoment[];
  spans: FaultSpan[];
  /** Refused or failed strikes. */
  misses: FaultMoment[];
  /** `begun`: a composite did something, and the record ends before it struck. */
  outcome: 'struck' | 'refused' | 'failed' | 'begun' | 'never struck';
}

/** Every planned step, and every recorded one that the plan does not know, in the plan's order. */
export function faultStories(plan: Plan, history: History, endNs: number): FaultStory[] {
  const moments = new Map<number, FaultMoment[]>();
  for (const event of history.rare) {
    // A client that stopped at a step of its lock is no fault, and went on: the strike that it stood for tells of it.
    if (event.type !== 'fault' || (event.step < 0 && event.state === 'heal')) continue;
    const list = moments.get(event.step) ?? [];
    list.push({ line: event.i, atNs: event.atNs, record: event });
    moments.set(event.step, list);
  }
  const steps = new Set([...plan.steps.keys(), ...moments.keys()]);
  return [...steps]
    .sort((a, b) => (a < 0 ? 1 : b < 0 ? -1 : a - b))
    .map((step) => faultStory(step, plan.steps[step], moments.get(step) ?? [], endNs));
}

function faultStory(step: number, planned: PlanStep | undefined, moments: FaultMoment[], endNs: number): FaultStory {
  const spans = faultSpans(moments, endNs);
  const misses = moments.filter(({ record }) => record.state === 'refused' || record.state === 'failed');
  const outcome = outcomeOf(moments, misses);
  return {
    step,
    fault: moments[0]?.record.fault ?? planned?.fault ?? '?',
    ...(planned === undefined ? {} : { planned }),
    moments,
    spans,
    misses,
    outcome,
  };
}

function outcomeOf(moments: readonly FaultMoment[], misses: readonly FaultMoment[]): FaultStory['outcome'] {
  if (moments.some(({ record }) => record.state === 'strike')) return 'struck';
  const last = misses.at(-1)?.record.state;
  if (last === 'refused' || last === 'failed') return last;
  return moments.length > 0 ? 'begun' : 'never struck';
}

function faultSpans(moments: readonly FaultMoment[], endNs: number): FaultSpan[] {
  const spans: FaultSpan[] = [];
  let open: OpenSpan | undefined;
  for (const moment of moments) {
    const { state } = moment.record;
    const last = spans.at(-1);
    if (state === 'phase' || state === 'strike') {
      if (open === undefined) {
        open = new OpenSpan(moment.atNs, endNs);
        spans.push(open.span);
      }
      open.touch(moment);
    } else if (open !== undefined && (state === 'heal' || !open.struck)) {
      open.end(moment, state === 'heal' ? 'heal' : 'missed');
      open = undefined;
    } else if (open !== undefined) {
      // A heal that was tried in vain: it is still in force.
      open.span.moments.push(moment);
    } else if (state === 'heal' && last !== undefined) {
      // A strike that failed and left something in force, until now.
      last.moments.push(moment);
      last.ended = 'heal';
      last.untilNs = moment.atNs;
    }
  }
  return spans;
}

class OpenSpan {
  readonly span: FaultSpan;
  struck = false;
  private readonly passing = new Map<string, Touch>();
  private readonly lasting = new Map<string, Touch>();

  constructor(fromNs: number, endNs: number) {
    this.span = { fromNs, untilNs: endNs, ended: 'open', moments: [], touches: [] };
  }

  touch(moment: FaultMoment): void {
    const { state, targets } = moment.record;
    this.span.moments.push(moment);
    this.struck ||= state === 'strike';
    for (const [target, touch] of this.passing) {
      if (targets.includes(target)) continue;
      touch.untilNs = moment.atNs;
      this.passing.delete(target);
    }
    for (const target of targets) {
      const known = this.lasting.get(target) ?? this.passing.get(target);
      const touch = known ?? { target, kinds: [], fromNs: moment.atNs, untilNs: this.span.untilNs };
      const kind = kindOf(moment.record, target);
      // Of a composite's phases some only say what came of it.
      if (kind !== 'struck' && touch.kinds[0] === 'struck') touch.kinds.length = 0;
      if (!touch.kinds.includes(kind) && (kind !== 'struck' || touch.kinds.length === 0)) touch.kinds.push(kind);
      if (known === undefined) this.span.touches.push(touch);
      const lasts = state === 'strike' || movesClocks(moment.record);
      if (lasts) this.passing.delete(target);
      if (lasts || this.lasting.has(target)) this.lasting.set(target, touch);
      else this.passing.set(target, touch);
    }
  }

  end(moment: FaultMoment, how: 'heal' | 'missed'): void {
    this.span.moments.push(moment);
    this.span.ended = how;
    this.span.untilNs = moment.atNs;
    for (const touch of [...this.passing.values(), ...this.lasting.values()]) touch.untilNs = moment.atNs;
  }
}

/** Of several, the first of these: a primary that is cut off and then killed is down. */
const KINDS: readonly (readonly [effect: FaultEffect['kind'], kind: TouchKind])[] = [
  ['stopped', 'stopped'],
  ['slowed', 'stopped'],
  ['killed', 'down'],
  ['cut', 'cut off'],
  ['off-network', 'cut off'],
  ['degraded', 'degraded'],
  ['heard-after', 'heard last'],
  ['syncs-slowly', 'slow disk'],
  ['clock-jumped', 'clock moved'],
  ['clock-drifts', 'clock moved'],
  ['clock-strobes', 'clock moved'],
];

/** By what the record says was done, not by the fault's name: a composite does several things one after the other. */
function kindOf({ effects }: FaultRecord, target: string): TouchKind {
  const here = effects.filter(
    (effect) => effect.untilNs === undefined && (!('pairs' in effect) || namesInEffect(effect).includes(target)),
  );
  return KINDS.find(([kind]) => here.some((effect) => effect.kind === kind))?.[1] ?? 'struck';
}

function movesClocks({ effects }: FaultRecord): boolean {
  return effects.some(({ kind }) => kind === 'clock-jumped' || kind === 'clock-drifts' || kind === 'clock-strobes');
}

/** How a report calls a step; what the run did by itself (healing everything at the end) is no step of the plan. */
export function faultNumber(step: number): string {
  return step < 0 ? 'F–' : `F${step + 1}`;
}

/** A planned step in words. */
export function plannedWords(step: PlanStep): string {
  const target = typeof step.target === 'string' ? step.target : step.target.names.join(', ');
  const args = Object.entries(step.args ?? {}).map(([name, value]) => `${name}=${value}`);
  return [`${step.fault} on ${target}`, ...args].join(', ');
}

export function whenWords(step: PlanStep): string {
  if ('atMs' in step) {
    const when = `${(step.atMs / 1000).toFixed(3)} s into torture`;
    return step.aim ? `${aimWords(step.aim)} from ${when} on` : when;
  }
  const { event, count, client, step: point } = step.after;
  const what = event === 'step' ? `step ${point ?? '?'}` : event;
  return `after ${what} no. ${count} by ${client ?? 'any client'}`;
}

/** What is plotted over the time of a run: rates, latencies and clocks, in so many bins that a plot has room for. */

import { effectsOf } from '../../harness/record/facts/effects.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import { visible } from '../../harness/record/schemas/foreign-text.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Measurement } from '../../harness/vocabulary/verdict.js';
import type { ReportInput } from '../input.js';
import type { Story } from '../story/story.js';
import type { Dots, Plots } from './page-data.js';

const MOST_BINS = 240;
const LEAST_BINS = 16;
const OPERATIONS_A_BIN = 10;
/** Of fewer grants there are no quantiles worth a line. */
const LEAST_FOR_QUANTILES = 5;
/** Points of each outcome; of more, every so-manieth and the slowest of those left out. */
const MOST_POINTS = 5_000;
/** Widths of bins that a reader can count in. */
const BIN_SECONDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600];
/** A clock that was never this far off is not plotted: samples are some milliseconds apart. */
const CLOCK_OFF_MS = 20;

type Outcome = keyof Plots['perSecond'];

export function plotsOf(input: ReportInput, story: Story): Plots {
  const [fromS, untilS] = [story.fromNs / 1e9, story.untilNs / 1e9];
  const { operations: ops } = input.history;
  // Bins that hold an operation or two say nothing but that.
  const most = Math.min(MOST_BINS, Math.max(LEAST_BINS, ops.count / OPERATIONS_A_BIN));
  const binSeconds = BIN_SECONDS.find((width) => (untilS - fromS) / width <= most) ?? (untilS - fromS) / most;
  const bins = new Bins(fromS, binSeconds, Math.max(1, Math.ceil((untilS - fromS) / binSeconds)));
  const perSecond = { granted: bins.zeros(), refused: bins.zeros(), unclear: bins.zeros() };
  const grantedMs: number[][] = Array.from({ length: bins.count }, () => []);
  const points = { granted: new Points(), refused: new Points(), unclear: new Points() };
  for (let row = 0; row < ops.count; row++) {
    const outcome = outcomeOf(ops.outcome[row]!);
    if (outcome === undefined || ops.op[row] === OP.clock) continue;
    const endedNs = stamped(ops.endedNs[row]!, ops.readNs[row]!);
    const bin = bins.of(endedNs / 1e9);
    perSecond[outcome][bin]! += 1 / binSeconds;
    if (ops.op[row] !== OP.acquire) continue;
    const ms = (endedNs - stamped(ops.beganNs[row]!, ops.sentNs[row]!)) / 1e6;
    points[outcome].add(endedNs / 1e9, ms);
    if (outcome === 'granted') grantedMs[bin]!.push(ms);
  }
  const quantiles = grantedMs.map((list) => list.sort((a, b) => a - b));
  const drawn = { granted: points.granted.drawn(), refused: points.refused.drawn(), unclear: points.unclear.drawn() };
  const all = points.granted.count + points.refused.count + points.unclear.count;
  return {
    binSeconds,
    bins: bins.middles(),
    perSecond: {
      granted: perSecond.granted.map(rounded),
      refused: perSecond.refused.map(rounded),
      unclear: perSecond.unclear.map(rounded),
    },
    p50Ms: quantiles.map((list) => quantile(list, 0.5)),
    p99Ms: quantiles.map((list) => quantile(list, 0.99)),
    points: drawn,
    pointsLeftOut: all - drawn.granted.s.length - drawn.refused.s.length - drawn.unclear.s.length,
    clocks: clocksOf(input, story, bins),
    recovery: recoveryOf(input),
    losses: lossesOf(input),
  };
}

class Bins {
  constructor(
    private readonly fromS: number,
    private readonly widthS: number,
    readonly count: number,
  ) {}

  of(s: number): number {
    return Math.min(this.count - 1, Math.max(0, Math.floor((s - this.fromS) / this.widthS)));
  }

  zeros(): number[] {
    return new Array<number>(this.count).fill(0);
  }

  /** A moment in each bin that the time touches. */
  within(fromS: number, untilS: number): number[] {
    const [first, last] = [this.of(fromS), this.of(untilS)];
    const middles = this.middles().slice(first, last + 1);
    return middles.map((s) => Math.min(Math.max(s, fromS), untilS));
  }

  middles(): number[] {
    return Array.from({ length: this.count }, (_, n) => rounded(this.fromS + (n + 0.5) * this.widthS));
  }
}

/** Two columns that grow; an object for each of a million operations would be too much. */
class Points {
  private readonly s: number[] = [];
  private readonly ms: number[] = [];

  add(s: number, ms: number): void {
    this.s.push(s);
    this.ms.push(ms);
  }

  get count(): number {
    return this.s.length;
  }

  /** In the order of time. Of each stretch that is thinned out the slowest stays: outliers are what is looked for. */
  drawn(): { s: number[]; ms: number[] } {
    const every = Math.max(1, Math.ceil(this.count / MOST_POINTS));
    const kept: number[] = [];
    for (let from = 0; from < this.count; from += every) {
      let slowest = from;
      for (let n = from; n < Math.min(this.count, from + every); n++) if (this.ms[n]! > this.ms[slowest]!) slowest = n;
      kept.push(slowest);
    }
    kept.sort((a, b) => this.s[a]! - this.s[b]!);
    return { s: kept.map((n) => Math.round(this.s[n]! * 1e4) / 1e4), ms: kept.map((n) => rounded(this.ms[n]!)) };
  }
}

function outcomeOf(outcome: number): Outcome | undefined {
  if (outcome === OUTCOME.ok) return 'granted';
  if (outcome === OUTCOME.fail) return 'refused';
  return outcome === OUTCOME.info ? 'unclear' : undefined;
}

/** The client's own stamp where there is one. */
function stamped(ownNs: number, harnessNs: number): number {
  return Number.isNaN(ownNs) ? harnessNs : ownNs;
}

function rounded(value: number): number {
  return Math.round(value * 1e3) / 1e3;
}

function quantile(sorted: readonly number[], q: number): number | null {
  return sorted.length < LEAST_FOR_QUANTILES
    ? null
    : rounded(sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)]!);
}

/** Servers tell their clocks in samples; of all others the faults tell what they were given, and have read back. */
function clocksOf({ history, observations }: ReportInput, story: Story, bins: Bins): Plots['clocks'] {
  const byHost = new Map<string, (number | null)[]>();
  const note = (host: string, s: number, ms: number) => {
    const list = byHost.get(host) ?? new Array<number | null>(bins.count).fill(null);
    const bin = bins.of(s);
    if (Math.abs(ms) > Math.abs(list[bin] ?? -1)) list[bin] = Math.round(ms);
    byHost.set(host, list);
  };
  for (const [, one] of observations.rare) if (one.type === 'sample') note(one.node, one.atNs / 1e9, one.skewMs);
  const observed = new Set(byHost.keys());
  for (const { span, host: moved } of clockEffects(history)) {
    const host = story.slotOf.get(moved)?.name ?? moved;
    if (observed.has(host)) continue;
    const fromS = span.fromNs / 1e9;
    const untilS = Math.min(span.untilNs, history.endNs) / 1e9;
    const { effect } = span;
    const [offsetMs, ratePpm] =
      effect.kind === 'clock-drifts' ? [effect.gainedMs, effect.ratePpm] : [effect.offsetMs, 0];
    for (const s of bins.within(fromS, untilS)) note(host, s, offsetMs + (ratePpm * (s - fromS)) / 1e3);
  }
  return [...byHost]
    .filter(([, list]) => list.some((ms) => Math.abs(ms ?? 0) >= CLOCK_OFF_MS))
    .map(([host, ms]) => ({ host: visible(host), ms }));
}

/** Each host whose clock a fault moved, with what it did. */
function clockEffects(history: History) {
  const effects = effectsOf(history);
  const spans = [
    ...effects.spans('clock-jumped'),
    ...effects.spans('clock-drifts'),
    ...effects.spans('clock-strobes'),
  ].sort((a, b) => a.fromNs - b.fromNs);
  return spans.flatMap((span) => span.effect.who.map((host) => ({ span, host })));
}

/** After each fault's blow, and after its healing: how long until a key was granted again. */
function recoveryOf({ results }: ReportInput): Dots[] {
  const [struck, healed]: Dots[] = [dots('after the blow'), dots('after the healing')];
  for (const { fromNs, untilNs, values } of measured(results, 'recovery')) {
    if (values.afterStrikeMs !== undefined) put(struck!, fromNs, values.afterStrikeMs);
    if (values.afterHealMs !== undefined) put(healed!, untilNs, values.afterHealMs);
  }
  return [struck!, healed!].filter(({ s }) => s.length > 0).map(inOrder);
}

/** Of those that were lost: how long their clients went on. Only the worst are measured one by one. */
function lossesOf({ results }: ReportInput): Dots[] {
  const [told, never]: Dots[] = [dots('until it learned of it'), dots('never learned of it: until it released')];
  for (const { of, fromNs, values } of measured(results, 'loss-to-notice'))
    if (values.unawareMs !== undefined) put(of.includes('never told') ? never! : told!, fromNs, values.unawareMs);
  return [told!, never!].filter(({ s }) => s.length > 0).map(inOrder);
}

function measured({ checkers }: ReportInput['results'], name: string): Measurement[] {
  return checkers.flatMap(({ measurements }) => measurements ?? []).filter((one) => one.name === name);
}

function dots(label: string): Dots {
  return { label, s: [], ms: [] };
}

function put({ s, ms }: Dots, ns: number | undefined, value: number): void {
  if (ns === undefined || !Number.isFinite(ns)) return;
  s.push(Math.round(ns / 1e5) / 1e4);
  ms.push(rounded(value));
}

function inOrder({ label, s, ms }: Dots): Dots {
  const order = [...s.keys()].sort((a, b) => s[a]! - s[b]!);
  return { label, s: order.map((n) => s[n]!), ms: order.map((n) => ms[n]!) };
}

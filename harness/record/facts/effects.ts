/**
 * What faults did to hosts and processes, and when, put together from the effects that their records tell. Nothing here
 * depends on which fault it was: a fault that stops a client is a stopped client, whatever its name.
 *
 * Every effect has two pairs of bounds, because what a nemesis does takes time. It gives the order at one instant and has
 * read back at a later one that it is done, and likewise when it undoes it.
 *
 * - From `fromNs` to `untilNs` the effect was certainly in force. Whatever explains something by it needs these.
 * - Before `earliestNs` and after `latestNs` it certainly was not. Excuses, and "no fault was in force", need these.
 *
 * Example: SIGSTOP is sent at 1.000 s and read back at 1.002 s; SIGCONT is sent at 3.000 s and read back at 3.004 s. A lease
 * that ended at 3.002 s may have ended while its client ran again: that does not explain why it acted too late, but "no
 * fault was in force" would be false as well.
 */
import { isDeepStrictEqual } from 'node:util';
import type { FaultEffect, History } from '../../vocabulary/history.js';
import { type FaultEvent, faultsInForce, namesInEffect, namesInRecord } from './faults.js';
import { once } from './once.js';

/** Until a failover is through that was under way when a fault was healed. */
export const SETTLE_NS = 10e9;

export type EffectName = FaultEffect['kind'];

const ON_PROCESSES: ReadonlySet<EffectName> = new Set(['stopped', 'slowed', 'killed']);

/** One effect, and when it was in force. */
export interface EffectSpan<Effect extends FaultEffect = FaultEffect> {
  readonly effect: Effect;
  readonly earliestNs: number;
  readonly fromNs: number;
  /** Infinity where no record tells of its end, as `latestNs`. */
  readonly untilNs: number;
  readonly latestNs: number;
  /** The record that tells of it first, and the one that tells of its end. */
  readonly record: FaultEvent;
  readonly end?: FaultEvent;
}

/** Spans of one kind of effect. */
export type SpanOf<Name extends EffectName> = EffectSpan<Extract<FaultEffect, { kind: Name }>>;

/** Everything that one fault may have touched, in the longest time in which it can have. */
export interface Footprint {
  readonly names: ReadonlySet<string>;
  readonly effects: readonly FaultEffect[];
  readonly earliestNs: number;
  readonly latestNs: number;
}

export const effectsOf = once((history: History): Effects => new Effects(history));

/** The effects of all faults of a run. Get it by `effectsOf`. */
export class Effects {
  /** In the order of the records that tell of them first. */
  readonly all: readonly EffectSpan[];
  private readonly hosts = new Map<string, string>();
  private readonly processes = new Map<string, string>();
  private readonly ofKind = new Map<EffectName, EffectSpan[]>();

  constructor(private readonly history: History) {
    const steps = new Map<number, StepSpans>();
    const all: OpenSpan[] = [];
    for (const event of history.rare) {
      if (event.type === 'client-up') {
        this.hosts.set(event.client, event.host);
        if (event.process !== undefined) this.processes.set(event.client, event.process);
      }
      if (event.type !== 'fault') continue;
      // What is in no plan has no later record: a server that ended by itself stays dead.
      const step = (event.step < 0 ? undefined : steps.get(event.step)) ?? new StepSpans();
      if (event.step >= 0) steps.set(event.step, step);
      all.push(...step.add(event));
    }
    this.all = all;
    for (const span of all) this.of(span.effect.kind).push(span);
  }

  /** The host on which a client process runs; of anything else, its own name. */
  hostOf(name: string): string {
    return this.hosts.get(name) ?? name;
  }

  /** All effects of one kind. */
  spans<Name extends EffectName>(kind: Name): readonly SpanOf<Name>[] {
    return this.of(kind) as SpanOf<Name>[];
  }

  /**
   * All effects of one kind on a server or a client process, be it on the process itself or on its host. The first process in
   * a client's place has the name of the host, so what stopped or killed that one is not taken for the next one's. What was
   * done to a process was done to all of its callers.
   */
  on<Name extends Exclude<EffectName, 'cut' | 'degraded' | 'heard-after' | 'connections-reset'>>(
    kind: Name,
    name: string,
  ): readonly SpanOf<Name>[] {
    const struck = ON_PROCESSES.has(kind) ? (this.processes.get(name) ?? name) : this.hostOf(name);
    return this.spans(kind).filter(({ effect }) => namesInEffect(effect).includes(struck));
  }

  /** Everything that kept what `from` sent from arriving at `to`. Client processes and hosts alike. */
  between(from: string, to: string): readonly EffectSpan[] {
    const [sender, receiver] = [this.hostOf(from), this.hostOf(to)];
    const cut = this.spans('cut').filter(({ effect }) => effect.pairs.some(([a, b]) => a === sender && b === receiver));
    return [...cut, ...this.on('off-network', from), ...this.on('off-network', to)];
  }

  /**
   * Why `node` cannot have carried out anything that `client` sent from `fromNs` on by `untilNs`: effects that between them
   * were certainly in force for the whole time, by each of which the node was dead or stopped, or out of the client's reach.
   * Undefined where there was an instant at which none of them was.
   */
  whyNoVote(node: string, client: string, fromNs: number, untilNs: number): readonly EffectSpan[] | undefined {
    return covering([...this.down(node), ...this.between(client, node)], fromNs, untilNs);
  }

  /**
   * Why `node` did nothing for anybody between the two instants: effects by which it was certainly dead or stopped for the whole
   * time. Undefined where there was an instant at which it may have run.
   */
  whyDown(node: string, fromNs: number, untilNs: number): readonly EffectSpan[] | undefined {
    return covering(this.down(node), fromNs, untilNs);
  }

  /**
   * Why nothing that `from` sent came to `to` between the two instants: effects that between them were certainly in force for the
   * whole time, each of which kept the two apart. Undefined where there was an instant at which none of them did.
   */
  whyApart(from: string, to: string, fromNs: number, untilNs: number): readonly EffectSpan[] | undefined {
    return covering(this.between(from, to), fromNs, untilNs);
  }

  /**
   * Whom faults may have touched, and when at the most: for whatever must not be blamed on a lock. A fault that struck counts
   * as a whole, from the first thing it did to its heal; of one that did not, what it did before it gave up.
   */
  footprints(): readonly Footprint[] {
    const struck = faultsInForce(this.history);
    const steps = new Set(struck.map(({ step }) => step));
    const rest = this.all.filter(({ record: { step, mishap } }) => mishap === undefined && !steps.has(step));
    return [
      ...struck.map(({ records, fromNs, untilNs }) => ({
        names: new Set(records.flatMap(namesInRecord)),
        effects: records.flatMap(({ effects }) => effects),
        earliestNs: Math.min(fromNs, records[0]!.beganNs ?? fromNs),
        latestNs: untilNs,
      })),
      ...rest.map(({ effect, earliestNs, latestNs }) => ({
        names: new Set(namesInEffect(effect)),
        effects: [effect],
        earliestNs,
        latestNs,
      })),
    ];
  }

  /** What made it dead or stopped. */
  private down(node: string): readonly EffectSpan[] {
    return [...this.on('killed', node), ...this.on('stopped', node)];
  }

  private of(kind: EffectName): EffectSpan[] {
    const known = this.ofKind.get(kind);
    if (known) return known;
    const spans: EffectSpan[] = [];
    this.ofKind.set(kind, spans);
    return spans;
  }
}

/** Those of the spans that cover the whole time between them, in order; undefined where they leave a gap. */
function covering<Span extends EffectSpan>(
  spans: readonly Span[],
  fromNs: number,
  untilNs: number,
): readonly Span[] | undefined {
  const chosen: Span[] = [];
  let coveredNs = fromNs;
  for (;;) {
    const next = spans
      .filter((span) => span.fromNs <= coveredNs && span.untilNs >= coveredNs && !chosen.includes(span))
      .sort((a, b) => b.untilNs - a.untilNs)[0];
    if (!next) return undefined;
    chosen.push(next);
    if (next.untilNs >= untilNs) return chosen;
    coveredNs = next.untilNs;
  }
}

type OpenSpan = { -readonly [Field in keyof EffectSpan]: EffectSpan[Field] };

/** The effects of one step of the plan, from its records in order. */
class StepSpans {
  private open: OpenSpan[] = [];
  private hasStruck = false;
  private firstNs: number | undefined;

  /** Takes the next record; returns the effects that it is the first to tell of. */
  add(record: FaultEvent): OpenSpan[] {
    this.firstNs ??= record.beganNs;
    const fresh = record.effects.flatMap((effect) => this.tell(effect, record));
    if (record.state === 'strike') this.hasStruck = true;
    else if (record.state === 'heal') this.endAll(record);
    // The strike failed, and what it had done by then was undone, but for what this very record tells of.
    else if (record.step >= 0 && record.state !== 'phase' && !this.hasStruck) this.endAll(record, record.effects);
    return fresh;
  }

  private tell(effect: FaultEffect, record: FaultEvent): OpenSpan[] {
    const fromNs = effect.sinceNs ?? record.atNs;
    const known = this.open.find((span) => span.fromNs === fromNs && isSame(span.effect, effect));
    const span: OpenSpan = known ?? {
      effect,
      earliestNs: Math.min(fromNs, this.beganNs(record, fromNs)),
      fromNs,
      untilNs: Number.POSITIVE_INFINITY,
      latestNs: Number.POSITIVE_INFINITY,
      record,
    };
    if (effect.untilNs !== undefined) {
      end(span, record, effect.untilNs);
      this.open = this.open.filter((one) => one !== span);
    } else if (!known) this.open.push(span);
    return known ? [] : [span];
  }

  /** What is reported only later, as the stops of a slow process by its heal, was done at some time since the step began. */
  private beganNs(record: FaultEvent, fromNs: number): number {
    const { beganNs = fromNs } = record;
    return beganNs <= fromNs ? beganNs : (this.firstNs ?? fromNs);
  }

  private endAll(record: FaultEvent, but: readonly FaultEffect[] = []): void {
    const isLeft = ({ effect, fromNs }: OpenSpan) =>
      but.some((left) => isSame(left, effect) && (left.sinceNs ?? record.atNs) === fromNs);
    for (const span of this.open) if (!isLeft(span)) end(span, record, record.beganNs ?? record.atNs);
    this.open = this.open.filter(isLeft);
  }
}

function end(span: OpenSpan, record: FaultEvent, untilNs: number): void {
  // It was in force when that was read back; a heal that began by then did not undo it before.
  span.untilNs = Math.max(span.fromNs, untilNs);
  span.latestNs = record.atNs;
  span.end = record;
}

/** Whether they are the same but for their bounds. */
function isSame(a: FaultEffect, b: FaultEffect): boolean {
  const unbounded = { sinceNs: undefined, untilNs: undefined };
  return isDeepStrictEqual({ ...a, ...unbounded }, { ...b, ...unbounded });
}

/**
 * A run as it stands, folded from its history as it is recorded and from the run's ledger of holds: small, and flat in the
 * length of the run. Knows nothing of terminals and reads no clock: `snapshot` is given the time.
 */
import type { Ledger } from '../../harness/record/facts/ledger.js';
import type { Plan } from '../../harness/vocabulary/faults.js';
import type { HistoryEvent, Phase } from '../../harness/vocabulary/history.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { Contention, type EndedOverlap, type KeyState, type OverlapCounts } from './contention.js';

/** What is shown: plain data, times relative to the moment it was taken. */
export interface Snapshot {
  /** On the run's own clock, as in reports. */
  atMs: number;
  /** `report`: the run is judged, and its reports are written. */
  phase: 'start' | Phase | 'report';
  phaseForMs: number;
  /** From the beginning of the warm-up on, which the time limit counts from. */
  torture?: { elapsedMs: number; limitMs: number };
  operations: { perSecond: number; grants: number; refusals: number; unknown: number };
  faults: FaultView[];
  moreFaults: number;
  keys: KeyView[];
  moreKeys: { held: number; free: number };
  /** Holds by now. */
  holds: number;
  /** Absent where the workload lets several hold a key at once. */
  overlaps?: OverlapCounts;
}

export interface FaultView {
  fault: string;
  targets: string[];
  forMs: number;
  /** Until its planned end; negative: overdue. */
  leftMs?: number;
  /** It was tried to heal it, in vain. */
  stuck: boolean;
}

export interface KeyView {
  key: string;
  holders: HolderView[];
  moreHolders: number;
  waiting: number;
  contested?: 'exclusion' | 'stale';
}

export interface HolderView {
  client: string;
  forMs: number;
  /** Negative: the lease is over. Absent: no lease ends the hold. */
  leaseLeftMs?: number;
  /** Since its release was sent, where no answer has come. */
  releasingMs?: number;
}

/** More than these are only counted: a screen is small, and a snapshot is sent several times a second. */
export const MOST_SHOWN = { keys: 8, holders: 3, faults: 6, targets: 4 };

const BUCKET_NS = 100e6;
const RATE_BUCKETS = 20;

export type RunFacts = Pick<RunConfig, 'keys' | 'timeLimitMs'> & {
  plan: Plan;
  /** Whether two holds of one key at once are wrong in this workload. */
  exclusive: boolean;
};

export class RunState {
  private readonly contention: Contention;
  private readonly counts = { grants: 0, refusals: 0, unknown: 0 };
  private readonly rate = new Rate();
  private readonly inForce = new Map<number, { fault: string; targets: string[]; sinceNs: number; stuck: boolean }>();
  private readonly struck = new Set<number>();
  private phase: { name: Snapshot['phase']; sinceNs: number } = { name: 'start', sinceNs: 0 };
  private warmUpNs: number | undefined;

  constructor(
    private readonly facts: RunFacts,
    ledger: Ledger,
    onOverlap?: (overlap: EndedOverlap) => void,
  ) {
    this.contention = new Contention(ledger, facts.keys, facts.exclusive ? onOverlap : undefined);
  }

  /** The ledger has it by now. */
  event(event: HistoryEvent): void {
    if (event.type === 'ok' || event.type === 'fail' || event.type === 'info') this.completed(event);
    else if (event.type === 'fault') this.fault(event);
    else if (event.type === 'phase') {
      this.phase = { name: event.phase, sinceNs: event.atNs };
      if (event.phase === 'warm-up') this.warmUpNs = event.atNs;
    }
  }

  snapshot(nowNs: number): Snapshot {
    const ms = (sinceNs: number) => Math.max(0, nowNs - sinceNs) / 1e6;
    const states = this.contention
      .states(nowNs)
      .map((state) => (this.facts.exclusive ? state : { ...state, contested: undefined }));
    const shown = choose(states);
    const rest = states.filter((state) => !shown.includes(state));
    const faults = [...this.inForce].map(([step, fault]): FaultView => {
      const planned = this.facts.plan.steps[step];
      const leftMs = planned && planned.forMs - ms(fault.sinceNs);
      const { targets, stuck } = fault;
      return { fault: fault.fault, targets, forMs: ms(fault.sinceNs), ...(planned && { leftMs }), stuck };
    });
    return {
      atMs: nowNs / 1e6,
      phase: this.phase.name,
      phaseForMs: ms(this.phase.sinceNs),
      ...(this.warmUpNs !== undefined && {
        torture: { elapsedMs: ms(this.warmUpNs), limitMs: this.facts.timeLimitMs },
      }),
      operations: { perSecond: this.rate.perSecond(nowNs), ...this.counts },
      faults: faults.slice(0, MOST_SHOWN.faults),
      moreFaults: Math.max(0, faults.length - MOST_SHOWN.faults),
      keys: shown.map((state) => keyView(state, nowNs)),
      moreKeys: { held: rest.filter(isHeld).length, free: rest.filter((state) => !isHeld(state)).length },
      holds: states.reduce((sum, { holders }) => sum + holders.length, 0),
      ...(this.facts.exclusive && { overlaps: this.contention.overlaps(nowNs) }),
    };
  }

  private completed({ type, op, atNs }: Extract<HistoryEvent, { type: 'ok' | 'fail' | 'info' }>): void {
    this.rate.add(atNs);
    if (type === 'info') this.counts.unknown++;
    else if (op !== 'acquire') return;
    else if (type === 'ok') this.counts.grants++;
    else this.counts.refusals++;
  }

  /** A composite fault is in force from its first phase on. One that was not struck leaves nothing in force. */
  private fault(event: Extract<HistoryEvent, { type: 'fault' }>): void {
    const { step, fault, state, targets, atNs } = event;
    const known = this.inForce.get(step);
    if (state === 'heal') this.inForce.delete(step);
    else if (state === 'strike' || state === 'phase')
      this.inForce.set(step, { fault, targets, sinceNs: known?.sinceNs ?? atNs, stuck: false });
    else if (known && this.struck.has(step)) known.stuck = true;
    else this.inForce.delete(step);
    if (state === 'strike') this.struck.add(step);
  }
}

/** Contested keys before others, otherwise in the run's own order, so that lines keep their places. */
function choose(states: readonly KeyState[]): KeyState[] {
  if (states.length <= MOST_SHOWN.keys) return [...states];
  const contested = states.filter((state) => state.contested);
  const others = states.filter((state) => !state.contested);
  const chosen = new Set([...contested, ...others].slice(0, MOST_SHOWN.keys));
  return states.filter((state) => chosen.has(state));
}

function isHeld(state: KeyState): boolean {
  return state.holders.length > 0;
}

function keyView({ key, holders, waiting, contested }: KeyState, nowNs: number): KeyView {
  return {
    key,
    holders: holders.slice(0, MOST_SHOWN.holders).map((holder) => ({
      client: holder.client,
      forMs: Math.max(0, nowNs - holder.fromNs) / 1e6,
      ...(Number.isFinite(holder.leaseEndNs) && { leaseLeftMs: (holder.leaseEndNs - nowNs) / 1e6 }),
      ...(holder.releaseSentNs !== undefined && { releasingMs: Math.max(0, nowNs - holder.releaseSentNs) / 1e6 }),
    })),
    moreHolders: Math.max(0, holders.length - MOST_SHOWN.holders),
    waiting,
    ...(contested && { contested }),
  };
}

/** Events a second over the last two seconds, in tenths of a second. */
class Rate {
  private readonly buckets = new Uint32Array(RATE_BUCKETS);
  private newest = 0;

  add(atNs: number): void {
    const bucket = Math.floor(atNs / BUCKET_NS);
    this.moveTo(bucket);
    if (bucket > this.newest - RATE_BUCKETS) this.buckets[bucket % RATE_BUCKETS]!++;
  }

  perSecond(nowNs: number): number {
    this.moveTo(Math.floor(nowNs / BUCKET_NS));
    return this.buckets.reduce((sum, count) => sum + count, 0) / ((RATE_BUCKETS * BUCKET_NS) / 1e9);
  }

  private moveTo(bucket: number): void {
    if (bucket <= this.newest) return;
    const passed = Math.min(RATE_BUCKETS, bucket - this.newest);
    for (let n = 0; n < passed; n++) this.buckets[(bucket - n) % RATE_BUCKETS] = 0;
    this.newest = bucket;
  }
}

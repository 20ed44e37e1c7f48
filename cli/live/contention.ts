/**
 * How the holders of each key stand to each other while a run goes on, and which holds have overlapped.
 *
 * Promises: after any event, what it says is what `checkers/` would make of the history so far: holds are the run's ledger's
 * (`harness/record/facts/ledger.ts`), and pairs are classified by `harness/record/facts/overlaps.ts` itself. A few steps for
 * each event, and memory that does not grow with the run.
 *
 * Excludes: doubts (a stalled harness, a stepped clock) and causes. So it is preliminary: the checkers decide. Where one hold
 * overlaps more than `MOST_MET` others, those beyond are classified as soon as they end; from `MOST_COUNTED` overlaps on, no
 * more are counted.
 */
import type { Ledger } from '../../harness/record/facts/ledger.js';
import { overlapsOf } from '../../harness/record/facts/overlaps.js';
import type { Hold, OpenHold } from '../../harness/vocabulary/verdict.js';

/** An overlap of which the bounds are known. */
export interface EndedOverlap {
  class: 'exclusion' | 'stale';
  key: string;
  /** The one who had it first. */
  first: string;
  second: string;
  lengthNs: number;
}

export interface Holder {
  client: string;
  fromNs: number;
  leaseEndNs: number;
  /** Set where the release was sent and not answered: whether it still holds is not known. */
  releaseSentNs?: number;
}

/** One key as it stands. */
export interface KeyState {
  key: string;
  /** In the order in which they came. */
  holders: Holder[];
  /** Acquires that are on their way. */
  waiting: number;
  /** Set while two hold it at once: the worst that is true of any two of them. */
  contested?: 'exclusion' | 'stale';
}

export interface OverlapCounts {
  exclusion: number;
  stale: number;
  /** There were so many that they are counted no further: a lock that never excludes must not slow the run down. */
  more?: true;
}

export const MOST_COUNTED = 1_000;
const MOST_MET = 64;
/** Ended holds of each key that are kept for a grant that is recorded late. */
const RECENT = 16;
/** Of so many at once, the first ones show well enough of which class it is. */
const MOST_COMPARED = 8;

/** Two clients at once are shown as contesting a key, whatever the lock allows: the verdict is made from the files. */
const MUTEX = { kind: 'mutex' } as const;

export class Contention {
  private readonly keys: Set<string>;
  private readonly recent = new Map<string, Hold[]>();
  /** Ended holds that overlap one that is open, to be classified when that has ended too. */
  private readonly met = new Map<OpenHold, Hold[]>();
  private readonly ended = { exclusion: 0, stale: 0 };

  /** `onOverlap` hears of every overlap once both of its bounds are known. */
  constructor(
    private readonly ledger: Ledger,
    keys: readonly string[],
    private readonly onOverlap: (overlap: EndedOverlap) => void = () => {},
  ) {
    this.keys = new Set(keys);
    ledger.subscribe({
      granted: (hold) => this.granted(hold),
      ended: (hold, was) => this.settle(hold, was),
    });
  }

  /** Every key, in the order in which the run named them. */
  states(nowNs: number): KeyState[] {
    const byKey = this.unsettledByKey(nowNs);
    return [...this.keys].map((key) => stateOf(key, byKey.get(key) ?? [], this.ledger.waiting(key), nowNs));
  }

  /** Of what is known by now, overlaps that still last included. */
  overlaps(nowNs: number): OverlapCounts {
    if (this.isFull) return { ...this.ended, more: true };
    const counts = { ...this.ended };
    for (const unsettled of this.unsettledByKey(nowNs).values()) {
      for (const { hold, open } of unsettled)
        for (const other of this.met.get(open) ?? []) count(counts, overlapOf(hold, other)?.class);
      for (const overlap of overlapsAmong(unsettled)) count(counts, overlap.class);
    }
    return counts;
  }

  private get isFull(): boolean {
    return this.ended.exclusion + this.ended.stale >= MOST_COUNTED;
  }

  private unsettledByKey(nowNs: number): Map<string, Unsettled[]> {
    const byKey = new Map<string, Unsettled[]>();
    for (const one of this.ledger.unsettled(nowNs)) byKey.set(one.hold.key, [...(byKey.get(one.hold.key) ?? []), one]);
    return byKey;
  }

  private granted(open: OpenHold): void {
    this.keys.add(open.key);
    const recent = this.recent.get(open.key) ?? [];
    const met = recent.filter((other) => other.untilNs > open.fromNs && other.client !== open.client);
    this.met.set(open, met);
  }

  /** The hold's end is known: classifies it with those that ended before it, and keeps it for those that still run. */
  private settle(hold: Hold, was: OpenHold): void {
    const met = this.met.get(was) ?? [];
    this.met.delete(was);
    const recent = this.recent.get(hold.key) ?? [];
    this.recent.set(hold.key, [...recent, hold].slice(-RECENT));
    for (const other of met) this.found(hold, other);
    if (this.isFull) return;
    for (const { hold: other, open } of this.ledger.unsettled(hold.untilNs)) {
      if (other.key !== hold.key || other.client === hold.client || other.fromNs >= hold.untilNs) continue;
      const theirs = this.met.get(open) ?? [];
      if (theirs.length < MOST_MET) this.met.set(open, [...theirs, hold]);
      else this.found(other, hold);
    }
  }

  private found(a: Hold, b: Hold): void {
    const overlap = this.isFull ? undefined : overlapOf(a, b);
    if (!overlap) return;
    count(this.ended, overlap.class);
    this.onOverlap({
      class: overlap.class,
      key: overlap.first.key,
      first: overlap.first.client,
      second: overlap.second.client,
      lengthNs: overlap.untilNs - overlap.fromNs,
    });
  }
}

type Unsettled = ReturnType<Ledger['unsettled']>[number];

function stateOf(key: string, unsettled: readonly Unsettled[], waiting: number, nowNs: number): KeyState {
  const state: KeyState = { key, holders: [], waiting };
  const running = unsettled.filter(
    ({ hold, open }) => hold.endedBy !== 'client-down' && !((open.lostNs ?? nowNs + 1) <= nowNs),
  );
  for (const { hold, open } of running) {
    const { client, fromNs, leaseEndNs } = hold;
    const { releaseSentNs } = open;
    state.holders.push({ client, fromNs, leaseEndNs, ...(releaseSentNs !== undefined && { releaseSentNs }) });
  }
  const certain = running.filter(({ open }) => open.releaseSentNs === undefined);
  const classes = overlapsAmong(certain.slice(0, MOST_COMPARED)).map((overlap) => overlap.class);
  if (classes.includes('exclusion')) state.contested = 'exclusion';
  else if (classes.length > 0) state.contested = 'stale';
  return state;
}

function overlapsAmong(unsettled: readonly Unsettled[]) {
  if (unsettled.length < 2) return [];
  const byClient = new Map<string, Hold>();
  for (const { hold } of unsettled) if (!byClient.has(hold.client)) byClient.set(hold.client, hold);
  return overlapsOf([...byClient.values()], MUTEX);
}

function overlapOf(a: Hold, b: Hold) {
  if (a.client === b.client || a.untilNs <= b.fromNs || b.untilNs <= a.fromNs) return undefined;
  return overlapsOf([a, b], MUTEX)[0];
}

function count(counts: OverlapCounts, found: 'exclusion' | 'stale' | undefined): void {
  if (found) counts[found]++;
}

/**
 * What the page's script is given of a run: plain lists of numbers, made by `timeline.ts` and `plots.ts` and read by
 * `reports/browser/`. No code but the names of codes.
 *
 * Times are whole microseconds since the run's epoch. A list named `fromUs` is in order, and holds the difference from
 * the entry before it, which packs well; `opened` in `pack.ts` adds them up again. -1 stands for "none" in indexes, and
 * for "without end" in lengths.
 */
import type { RoleState } from '../story/beliefs.js';
import type { TouchKind } from '../story/faults.js';

export interface PageData {
  version: 1;
  fromUs: number;
  untilUs: number;
  leaseMs: number;
  /** The machine's wall clock at the epoch, where it is known. */
  epochWallMs: number | undefined;
  keys: string[];
  /** Why operations did not succeed, by what lists name `reason`. */
  reasons: string[];
  slots: SlotLane[];
  nodes: NodeLane[];
  /** Hosts that only a fault brings into the drawing: Sentinels, a failover manager. */
  hosts: string[];
  phases: { name: string; fromUs: number; untilUs: number }[];
  faults: FaultBand[];
  /** A node became primary. */
  promotions: { node: string; atUs: number }[];
  violations: ViolationMark[];
  plots: Plots;
}

export interface SlotLane {
  name: string;
  lives: { client: string; fromUs: number; untilUs: number; reason: string }[];
  holds: HoldList;
  tries: TryList;
}

/** Holds of one slot, in the order of their beginning. */
export interface HoldList {
  fromUs: number[];
  /** How long the acquire had taken by then. */
  waitUs: number[];
  lengthUs: number[];
  /** From the hold's beginning to the end of its lease. */
  leaseUs: number[];
  key: number[];
  /** Index into the slot's `lives`. */
  life: number[];
  id: number[];
  token: number[];
  /** Index into `HOLD_ENDS`. */
  end: number[];
  /** History line of the acquire. */
  line: number[];
  /** More than 1: so many holds in a row, drawn as one, which filled `full` percent of that time. */
  count: number[];
  full: number[];
}

/** Operations that did not succeed, in the order of their beginning. */
export interface TryList {
  fromUs: number[];
  lengthUs: number[];
  /** Index into `TRY_OPS`. */
  op: number[];
  /** Index into `TRY_OUTCOMES`. */
  outcome: number[];
  key: number[];
  life: number[];
  reason: number[];
  line: number[];
  count: number[];
}

/** Rows of keys in each node's lane. */
export const MOST_KEY_ROWS = 6;
export const HOLD_ENDS = ['release', 'client-down', 'lost', 'history-end'] as const;
export const TRY_OPS = ['acquire', 'release', 'extend', 'clock', 'read', 'write'] as const;
/** `unanswered`: the client never said how it went. */
export const TRY_OUTCOMES = ['refused', 'cannot tell', 'unanswered'] as const;

export interface NodeLane {
  name: string;
  roles: { state: RoleState; fromUs: number; untilUs: number; skewMs: number; reason: string }[];
  /** By key: whom the node believed to own it. */
  owners: OwnerList[];
  restartsUs: number[];
  evictions: { atUs: number; key: number }[];
}

export interface OwnerList {
  fromUs: number[];
  lengthUs: number[];
  /** From the entry's beginning to the key's expiry, as last seen. */
  leaseUs: number[];
  /** Index into `names`. */
  owner: number[];
  names: string[];
}

export interface FaultBand {
  /** `F1`, ... */
  number: string;
  name: string;
  targets: string[];
  fromUs: number;
  untilUs: number;
  /** No heal is in the record. */
  open: boolean;
  /** What was done, one after the other. */
  did: { atUs: number; text: string }[];
  touches: { host: string; kinds: TouchKind[]; fromUs: number; untilUs: number }[];
}

export interface ViolationMark {
  number: number;
  class: string;
  /** The class in words: here, because the list of all classes would bring the schemas' library into the page. */
  name: string;
  key: string;
  fromUs: number;
  untilUs: number;
  /** What a window that shows all of it spans. */
  windowUs: [fromUs: number, untilUs: number];
  slots: string[];
  what: string;
}

/** Series over the run; times of bins are their middles, in seconds since the epoch. */
export interface Plots {
  binSeconds: number;
  bins: number[];
  /** Operations that ended, each second, by outcome. */
  perSecond: Record<'granted' | 'refused' | 'unclear', number[]>;
  /** Of acquires that were granted: milliseconds, null where none was. */
  p50Ms: (number | null)[];
  p99Ms: (number | null)[];
  /** Acquires: when they ended, and how long they took. `leftOut`: of more points than are drawn. */
  points: Record<'granted' | 'refused' | 'unclear', { s: number[]; ms: number[] }>;
  pointsLeftOut: number;
  /** Wall clocks against the machine's, milliseconds, by host: in each bin the one farthest off. Only hosts that were off. */
  clocks: { host: string; ms: (number | null)[] }[];
  /** Time to recover at the moment of each blow and healing; how long losses went unnoticed, when they were lost. */
  recovery: Dots[];
  losses: Dots[];
}

export interface Dots {
  label: string;
  s: number[];
  ms: number[];
}

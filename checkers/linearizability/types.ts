/**
 * What is decided here, and what a decision is: can the acquires and releases of one key have happened one after another,
 * each at one instant of its interval, as a lock of this model would have answered them?
 *
 * An operation is the interval [call, return]; equal stamps count as concurrent. One with no known outcome may have taken
 * effect at any time after its call, or never. Nothing couples two keys (Herlihy and Wing's locality), so every key is
 * decided by itself.
 */
import type { Operations } from '../../harness/vocabulary/history.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';

/** The acquires and releases of one key. Columns are by row of `operations`, and hold nothing for rows of other keys. */
export interface KeyHistory {
  readonly key: string;
  readonly operations: Operations;
  /** Rows of the acquires and releases, in the order of their invokes. */
  readonly rows: Int32Array;
  readonly callNs: Float64Array;
  /** Infinity where the outcome is not known. */
  readonly returnNs: Float64Array;
  /** Of an acquire: how long its lease certainly ran from the instant of the grant; Infinity: no lease. */
  readonly leaseNs: Float64Array;
}

/** What is taken to be so where histories leave room. Published checkers differ in just these. */
export interface Reading {
  /** A release that answered "not yours" ends the hold all the same; else it is an error of the client's, and changes nothing. */
  failedReleaseEnds: boolean;
  /** A hold that was not released may be over once its lease has run. */
  leases: boolean;
  /** A try that was refused because somebody else held proves that somebody did. */
  triesInform: boolean;
}

export type WitnessKind =
  /** Two sections that were certainly held at once, or N+1 where N permits are. */
  | 'overlap'
  /** Two acquires, the later of which got the lower token. */
  | 'fence-inversion'
  /** A refused try in a time in which certainly no client held. */
  | 'try-in-free-gap'
  /** An acquire of unknown outcome whose release succeeded, and no instant for it. */
  | 'zone-in-cores'
  /** Grants that cannot all have waited for the lease before them. */
  | 'lease-chain'
  /** One client's own operations do not follow one another as they must. */
  | 'protocol'
  /** What a general search found without naming a pattern. */
  | 'search';

/** A few operations that cannot all have happened, whatever else did: cut out, they are still impossible. */
export interface Witness {
  kind: WitnessKind;
  key: string;
  /** In the order of their calls. */
  rows: number[];
  /** The time in which it cannot be, and where it is complete. */
  fromNs: number;
  untilNs: number;
  /** The proof in one sentence, with owners, times in seconds and tokens. */
  proof: string;
}

/** An order that explains the whole history: a certificate which is checked in one pass. */
export interface Linearization {
  /** Rows in the order in which they took effect; those that are not in it had none (an unknown outcome, a refusal). */
  order: Int32Array;
  /** When, by place in `order`: within the row's interval, and never before the one before. */
  pointsNs: Float64Array;
}

export interface Decision {
  verdict: 'valid' | 'invalid' | 'unknown';
  /** Which procedure decided: `cores`, `lease-greedy`, `search`, ... */
  procedure: string;
  /** The earliest by completion; never more than were asked for. */
  witnesses: Witness[];
  /** How many there are: each grant, release or refusal that cannot be is one, however many others it contradicts. */
  found: number;
  /** What was left open, and how far a search got. */
  notes: string[];
  linearization?: Linearization;
}

export interface DecideOptions {
  /** Witnesses to give at most; all are counted. */
  witnesses: number;
  /** Budget of a general search. */
  search: SearchBudget;
}

export interface SearchBudget {
  /** Configurations (state and set of operations) that may be remembered; about 100 bytes each and more for long histories. */
  configurations: number;
  /** Steps of the model that may be tried: what bounds the time, without a clock. */
  steps: number;
}

/** For histories of runs, where no fast procedure decides: nobody is kept waiting for more, and what is beyond it is told. */
export const BUDGET_OF_RUNS: SearchBudget = { configurations: 100_000, steps: 2_000_000 };

/**
 * A lock as data, for the general search and for checking certificates. `step` gives the state after the row took effect
 * with the outcome that the history tells, or undefined where the lock would not have answered so. States are not changed.
 */
export interface Model<State> {
  readonly model: LockModel;
  init(history: KeyHistory): State;
  /** An operation of unknown outcome is stepped as one that succeeded; for "never" it is left out of the order. */
  step(state: State, row: number, history: KeyHistory, reading: Reading): State | undefined;
  /** Two states with the same key are the same. */
  hash(state: State): string | number;
  /** For people: "held by c3 (acquire at line 12)". */
  describe(state: State, history: KeyHistory): string;
}

/** Decides one key. Pure; costs O(n log n) except where a general search is needed. */
export type DecideKey = (history: KeyHistory, model: LockModel, reading: Reading, options: DecideOptions) => Decision;

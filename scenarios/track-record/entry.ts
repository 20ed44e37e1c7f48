/**
 * What a track record is made of: bugs of published locks that were reported, mended and released. Each is two versions, the last that has
 * it and the first that has not. The tool is measured by both: found in the one, silent in the other.
 */

/** By which flags a lock of a kind is run, whatever bug is looked for. */
export type LockKind =
  | 'mutex'
  | 'renewing'
  | 'try'
  | 'callers'
  | 'fair'
  | 'read-write'
  | 'semaphore'
  | 'several-nodes'
  | 'replicated'
  | 'cluster';

/**
 * - `leak`: a failed or cancelled try, or a dead holder, left something behind;
 * - `try`: a wait that ends too early or too late;
 * - `token`: an answer about ownership or validity is untrue.
 */
export type BrokenProperty = 'exclusion' | 'stale' | 'liveness' | 'fairness' | 'leak' | 'try' | 'token';

export interface TrackRecordEntry {
  /** `C33`. */
  readonly id: string;
  /** As its registry calls it. */
  readonly library: string;
  readonly language: 'JavaScript' | 'Python' | 'Go' | 'Java';
  /** The last version that has it, as far as its registry has that. */
  readonly broken: string;
  /** The first that has not; `package` where that is another one. */
  readonly mended: string;
  /** Where the mended version was released, if not under the same name. */
  readonly mendedLibrary?: string;
  readonly property: BrokenProperty;
  /** What went wrong, in one sentence. */
  readonly what: string;
  /** Where it was reported or mended. */
  readonly link: string;
  /** How it is tried, or why it is not yet. */
  readonly tried: PlayedAs | { readonly notYet: string };
}

export interface PlayedAs {
  /** As `--lock` takes it, without a version: `redisson/rlock:lock`. */
  readonly lock: string;
  /** The mended version's, where that is another one's. */
  readonly mendedLock?: string;
  readonly kind: LockKind;
}

/** What the self-test is made of. */
import type { WithServerNeeds } from '../harness/vocabulary/topology.js';
import type { CauseName, ViolationClass } from '../harness/vocabulary/verdict.js';

/** By which checker, and as what, something is found. */
export interface Detection {
  checker: string;
  class: ViolationClass;
  /** Absent: any of the class. */
  kind?: string;
  /** Absent: any. Given where a sound lock may be found guilty of the same for another reason, a slow client say. */
  cause?: CauseName;
}

/** That a run ends as "cannot tell", for a reason that its statistics count under `counted`. */
export interface Untold {
  verdict: 'unknown';
  counted: string;
}

/** What a run must have come to before a mistake can show, by its record and whatever the checkers made of that. */
export type Provocation =
  /** A client still held when its lease was over. */
  | 'held-past-its-lease'
  /** And another had been granted the key by then. */
  | 'held-beside-the-next'
  /** A client died with a lock that it had extended. */
  | 'died-with-what-it-extended'
  /** A release failed, its client lived on, and a server answered again before that lease was over. */
  | 'release-failed-for-a-moment'
  /** A client was granted something while a server was down, or had begun to ask before that. */
  | 'granted-around-a-death'
  /** Nobody held a key for two leases, one that it may have been stored for yet and another, and somebody asked for it. */
  | 'left-free-for-a-lease'
  /** A server removed a key for one client while another one held it, and a third one was granted it before that one let go. */
  | 'removed-while-held';

/** How a canary is tortured so that its mistake shows. Its twin goes through the same, and must not be found as `caught` is; it must hold where that is `Untold`. */
export interface Trial {
  /** Name of the canary; its twin is `<canary>-mended`. */
  canary: string;
  /** Flags of `run` beside the lock, relative to the project's folder. */
  flags: readonly string[];
  /** How long the canary has, and its twin takes, milliseconds; in the quick self-test, too, unless `quickMs` says less. */
  limitMs: number;
  quickMs?: number;
  caught: Detection | Untold;
  /** Where it is luck: a run in which this did not happen has not let the mistake pass, and proves nothing. */
  needs?: Provocation;
  /** What happens, in one sentence. */
  story: string;
}

/** A lock that makes none of these mistakes, under faults that it must survive. */
export interface SoundRun extends WithServerNeeds {
  lock: string;
  flags: readonly string[];
  limitMs: number;
  /** Whether the quick self-test has it. */
  quick?: true;
  /** Names of the only faults under which a hunt may not accuse it either; absent: all that a hunt tries by itself. */
  hunted?: readonly string[];
  /** Why nothing may be found. */
  story: string;
}

/** What CLI and world say to each other of one schedule, and what is found in it. */
import { fingerprint } from '../../harness/record/facts/fingerprint.js';
import { BLAMES } from '../../harness/record/schemas/blame.js';
import { CLASSES } from '../../harness/record/schemas/violation-class.js';
import type { Plan } from '../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { BlameName, Results, Violation, ViolationClass } from '../../harness/vocabulary/verdict.js';
import type { OrderPlayed, OrderRequest } from './exhaustive/course.js';

/** Of a schedule's time limit: how long clients take and release before the first fault can strike. */
export const CLEAN_START_MS = 200;

/** Asks the world to play a schedule in `folder`, which must be empty. */
export interface ScheduleRequest {
  config: RunConfig;
  plan: Plan;
  folder: string;
  /** For what goes when the hunt is over. */
  workFolder: string;
  shim: string;
  /** The lock as one CommonJS module. */
  lock: string;
  /** Whether the run is to keep every message, for its report. */
  keepsMessages: boolean;
  /** Chosen step by step; absent: by the plan. */
  order?: OrderRequest;
  /** It is a run of its own, and none of a search's many. */
  run?: RunView;
}

/**
 * How a run of its own is told while it is played. It begins with the warm-up of real time, leaves a record even if it is killed,
 * ends early when it is asked to (`STOP_PLAYING`), and is judged by whoever has it played.
 */
export interface RunView {
  json: boolean;
  /** With snapshots for a live view. */
  live: boolean;
}

/** To the world: the run that is played is to end early, healed and recorded. */
export const STOP_PLAYING = 'stop playing';

/** From the world, while a run is played: a line for standard output, one for the live view, or how far virtual time has come. */
export type WorldTold =
  | { type: 'line'; line: string }
  | { type: 'snapshot'; line: string }
  | { type: 'at'; virtualMs: number };

/** One thing that was found. */
export interface Discovery {
  checker: string;
  class: ViolationClass;
  kind: string;
  cause: string;
  blame: BlameName;
  /** The cause in one sentence. */
  sentence: string;
  proof: string;
}

export interface ScheduleResult {
  /** Of every message with its virtual time: the same, bit by bit, when it is played again. */
  digest: string;
  virtualMs: number;
  verdict: 'held' | 'violated' | 'unknown';
  found: Discovery[];
  holds: number;
  /** Injections with their healing that met a hold, and the holds that they met. */
  strikes: number;
  struckHolds: number;
  /** The orders of commands that it showed (`interleavings.ts`); of one that was chosen step by step: none. */
  shown: string[];
  /** Why the verdict is unknown. */
  reasons: string[];
  /** Of one that was chosen step by step. */
  order?: OrderPlayed;
}

export type WorldAnswer =
  | { type: 'played'; result: ScheduleResult }
  /** The simulated world does not have `what`. */
  | { type: 'lacks'; message: string; what: string }
  /** `isForUsers`: the message is all that there is to say. */
  | { type: 'failed'; message: string; isForUsers: boolean };

/** What the checkers found, as a hunt tells it, checker by checker. */
export function discoveriesOf({ checkers }: Pick<Results, 'checkers'>): Discovery[] {
  return checkers.flatMap(({ checker, violations }) => violations.map((violation) => discoveryOf(checker, violation)));
}

export function discoveryOf(checker: string, { class: kind, kind: how, cause, blame, proof }: Violation): Discovery {
  return { checker, class: kind, kind: how, cause: cause.name, blame: blame!.on, sentence: cause.sentence, proof };
}

/** By whom it blames, then by class. */
export function byTelling(a: Discovery, b: Discovery): number {
  return BLAMES.indexOf(a.blame) - BLAMES.indexOf(b.blame) || CLASSES.indexOf(a.class) - CLASSES.indexOf(b.class);
}

/** Of what a run or a schedule found. */
export function fingerprintOf(found: Discovery): string {
  return fingerprint(found.blame, found.class, found.kind, found.cause);
}

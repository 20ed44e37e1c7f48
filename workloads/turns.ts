/** What the workloads are made of: a client takes its turn again and again, works under the lock, and lets it go. */
import type { Completion } from '../harness/vocabulary/history.js';
import type { LockMode } from '../harness/vocabulary/protocol.js';
import type { Random } from '../harness/vocabulary/time.js';
import type { ClientScript, Instruction, Outcome, WorkloadOptions } from '../harness/vocabulary/workload.js';
import { turnTimes } from './hold-times.js';

/** An acquire that was granted. */
export type Granted = Extract<Outcome, { id: number }>;

/** A part of a script: yields instructions as a script does, and resolves to something for the script that it is part of. */
export type ScriptPart<Result> = Generator<Instruction, Result, Outcome>;

/** A careful client ends its work when this much of what the lock promised is left: the way back takes time too. */
const VALIDITY_LEFT = 0.2;

export interface Turn {
  key: string;
  mode?: LockMode;
  waitMs?: number;
  cancelAfterMs?: number;
}

/**
 * For ever: takes what `next` says of the keys that are for this turn and, where it is granted, does `under`, which lets it go. `workMs` draws how long the work
 * of this turn takes.
 */
export function* turns(
  options: WorkloadOptions,
  random: Random,
  under: (granted: Granted, workMs: () => number, turn: Turn) => ScriptPart<void>,
  next: (keys: readonly string[]) => Turn = (keys) => ({ key: random.pick(keys) }),
): ClientScript {
  const times = turnTimes(options, random);
  const { leaseMs } = options;
  for (;;) {
    const turn = next(times.keys());
    const granted = yield { do: 'acquire', leaseMs, waitMs: times.waitMs(), ...turn };
    if (granted.type === 'ok') yield* under(granted, () => times.workMs(), turn);
    yield { do: 'idle', ms: times.pauseMs() };
  }
}

/** Works for `ms` under a grant, or, if careful, for as much of that as the lock promised. Whether it is held still. */
export function* work(options: WorkloadOptions, granted: Granted, ms: number): ScriptPart<boolean> {
  if (options.careless) {
    yield { do: 'idle', ms };
    return true;
  }
  const allowedMs = Math.min(ms, stillPromisedMs(options, granted));
  const woke = yield { do: 'idle', ms: allowedMs, untilLost: granted.id };
  return woke.type === 'woke' && !woke.lost;
}

/** For how long a careful client may work from now on, by what the lock promised when it granted or extended; 0: no longer. */
export function stillPromisedMs(
  { leaseMs, nowMs }: Pick<WorkloadOptions, 'leaseMs' | 'nowMs'>,
  { validForMs = leaseMs, endedNs }: Completion,
): number {
  // The promise runs from the answer: of one that was read late, less is left.
  const sinceMs = endedNs === undefined ? nowMs() : endedNs / 1e6;
  return Math.max(0, sinceMs + validForMs * (1 - VALIDITY_LEFT) - nowMs());
}

export function* release({ id }: Granted): ScriptPart<void> {
  yield { do: 'release', hold: id };
}

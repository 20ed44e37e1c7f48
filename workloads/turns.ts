/** What the workloads are made of: a client takes its turn again and again, works under the lock, and lets it go. */
import type { Completion } from '../harness/vocabulary/history.js';
import type { HandshakeValue, LockMode } from '../harness/vocabulary/protocol.js';
import type { Random } from '../harness/vocabulary/time.js';
import type { ClientScript, Instruction, Outcome, WorkloadOptions } from '../harness/vocabulary/workload.js';
import { type TurnTimes, turnTimes } from './hold-times.js';
import { type OpeningPart, openingPart, WAITS_AFTER_MS } from './opening.js';

/** When a client extends, in parts of the lease: what is not answered can be tried once more. */
const EXTEND_AFTER = 1 / 3;

/** How often one whose lock extends by itself shows that it runs, in parts of the lease: whether it could be told is asked later. */
const SHOWN_AFTER = 1 / 7;

/** An acquire that was granted. */
export type Granted = Extract<Outcome, { id: number }>;

/** A part of a script: yields instructions as a script does, and resolves to something for the script that it is part of. */
export type ScriptPart<Result> = Generator<Instruction, Result, Outcome>;

/** When a lease has run out that was given up, in parts of it. */
const RUN_OUT = 1.1;

/** A careful client ends its work when this much of what the lock promised is left: the way back takes time too. */
const VALIDITY_LEFT = 0.2;

export interface Turn {
  key: string;
  mode?: LockMode;
  waitMs?: number;
  cancelAfterMs?: number;
}

/**
 * For ever: takes what `next` says of the keys that are for this turn and, where it is granted, does `under`, which lets it go.
 * `workMs` draws how long the work of this turn takes, `times` how it is done; it is told of what was cut short.
 */
export function* turns(
  options: WorkloadOptions,
  random: Random,
  under: (
    granted: Granted,
    workMs: () => number,
    turn: Turn,
    times: Pick<TurnTimes, 'habit' | 'cutShort'>,
  ) => ScriptPart<void>,
  next: (keys: readonly string[], times: Pick<TurnTimes, 'cancelAfterMs'>) => Turn = (keys) => ({
    key: random.pick(keys),
  }),
): ClientScript {
  const times = turnTimes(options, random);
  const { leaseMs } = options;
  for (;;) {
    const turn = next(times.keys(), times);
    const granted = yield { do: 'acquire', leaseMs, waitMs: times.waitMs(), ...turn };
    if (granted.type === 'ok') yield* under(granted, () => times.workMs(), turn, times);
    yield { do: 'idle', ms: times.pauseMs() };
  }
}

/** What this client does of what the run opens with: holds, or waits and lets go at once what it is granted. */
export function* openRun(options: WorkloadOptions, lock: HandshakeValue): ScriptPart<void> {
  const part = openingPart(options);
  if (part?.does === 'holds') yield* holdFirst(options, lock, part);
  if (part?.does === 'waits') yield* waitForFirst(options, part);
}

function* holdFirst(options: WorkloadOptions, lock: HandshakeValue, { key, heldMs }: OpeningPart): ScriptPart<void> {
  const { leaseMs, waitMs } = options;
  const granted = yield { do: 'acquire', key, leaseMs, waitMs };
  if (granted.type !== 'ok') return;
  yield* workOn(options, granted, heldMs, lock, granted);
  yield* release(granted);
}

/** Who is granted it at once was there before the holder, and asks again. */
function* waitForFirst({ nowMs }: WorkloadOptions, part: OpeningPart): ScriptPart<void> {
  const { key, beganMs, heldMs, waitMs, waiterLeaseMs } = part;
  const untilMs = beganMs + WAITS_AFTER_MS + waitMs;
  do {
    yield { do: 'idle', ms: WAITS_AFTER_MS };
    const granted = yield { do: 'acquire', key, leaseMs: waiterLeaseMs, waitMs: untilMs - nowMs() };
    if (granted.type !== 'ok') return;
    yield* release(granted);
  } while (nowMs() < beganMs + heldMs / 2);
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

/**
 * An extension that says nothing of its validity counts from its call: the server gave the new lease at some time between that and the
 * answer, which may come most of a lease later.
 */
function countedFromCall(extended: Outcome): Outcome {
  if (extended.type !== 'ok' || extended.validForMs !== undefined || extended.beganNs === undefined) return extended;
  return { ...extended, endedNs: extended.beganNs };
}

/**
 * For an operation beside a hold: a careful client that has no answer when what the lock promised is over gives the hold up, for
 * it does not work under what it waits to hear of. Not of a lock that renews by itself: that one says itself when it is lost.
 */
export function whilePromised(
  options: Pick<WorkloadOptions, 'leaseMs' | 'careless' | 'nowMs'>,
  { id }: Granted,
  { features }: Pick<HandshakeValue, 'features'>,
  promise: Completion,
): { givesUp?: { hold: number; afterMs: number } } {
  if (options.careless || features.includes('renews')) return {};
  return { givesUp: { hold: id, afterMs: stillPromisedMs(options, promise) } };
}

/**
 * Works for `ms`, extending where the lock does not by itself; careful clients stop as soon as they know that it is lost, and
 * extend sooner, or stop, where the lock promised less than it was asked for. Work stands still while the client does; when it
 * goes on, an extension is what it does next. `promise`: what the lock said last.
 */
export function* workOn(
  options: Pick<WorkloadOptions, 'leaseMs' | 'careless' | 'nowMs'>,
  granted: Granted,
  ms: number,
  lock: Pick<HandshakeValue, 'features'>,
  promise: Completion,
): ScriptPart<boolean> {
  const { id } = granted;
  const { leaseMs, careless } = options;
  const untilLost = careless ? {} : { untilLost: id };
  const byItself = lock.features.includes('renews');
  let said = promise;
  for (let leftMs = ms; leftMs > 0; ) {
    const promisedMs = careless || byItself ? Number.POSITIVE_INFINITY : stillPromisedMs(options, said);
    if (promisedMs === 0) return false;
    const workMs = Math.min(leftMs, leaseMs * (byItself ? SHOWN_AFTER : EXTEND_AFTER), promisedMs);
    const woke = yield { do: 'idle', ms: workMs, ...untilLost, isWork: true };
    const stood = woke.type === 'woke' ? woke.leftMs : undefined;
    if (woke.type === 'woke' && woke.lost) return false;
    leftMs -= workMs - (stood ?? 0);
    if (leftMs <= 0) return true;
    if (byItself) {
      if (lock.features.includes('clock')) yield { do: 'clock', under: id };
      continue;
    }
    // Who was stopped knows of no time that has passed: its lock tells it whether it has that still.
    const beside = stood === undefined ? whilePromised(options, granted, lock, said) : {};
    const extended = countedFromCall(yield { do: 'extend', hold: id, leaseMs, ...beside });
    if (extended.type === 'ok') said = extended;
    else if (!careless) return false;
  }
  return true;
}

/**
 * The work under a hold is given up after `workedMs`, its lease runs out, and the release comes when its client holds the key again
 * for its next work, of `nextMs`.
 */
export function* outlive(
  options: WorkloadOptions,
  lock: HandshakeValue,
  first: Granted,
  workedMs: number,
  key: string,
  nextMs: number,
): ScriptPart<void> {
  const { leaseMs, waitMs } = options;
  yield { do: 'abandon', hold: first.id };
  yield { do: 'idle', ms: leaseMs * RUN_OUT - workedMs };
  const second = yield { do: 'acquire', key, leaseMs, waitMs };
  if (second.type !== 'ok') return yield* release(first);
  yield* release(first, whilePromised(options, second, lock, second));
  yield* work(options, second, nextMs);
  yield* release(second);
}

/** Asks for another lease. `promise`: what the lock said of the hold last. */
export function* extend(
  options: Pick<WorkloadOptions, 'leaseMs' | 'careless' | 'nowMs'>,
  granted: Granted,
  lock: Pick<HandshakeValue, 'features'>,
  promise: Completion,
): ScriptPart<Outcome> {
  const { leaseMs } = options;
  return countedFromCall(
    yield { do: 'extend', hold: granted.id, leaseMs, ...whilePromised(options, granted, lock, promise) },
  );
}

export function* release({ id }: Granted, beside: ReturnType<typeof whilePromised> = {}): ScriptPart<void> {
  yield { do: 'release', hold: id, ...beside };
}

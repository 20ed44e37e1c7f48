/** What clients do under a hold, by the habit that was drawn for it (`HoldHabits`). */
import type { HandshakeValue } from '../harness/vocabulary/protocol.js';
import type { Random } from '../harness/vocabulary/time.js';
import type { MinMax, WorkloadOptions } from '../harness/vocabulary/workload.js';
import type { Lasting, TurnTimes } from './hold-times.js';
import { freeKeys } from './opening.js';
import {
  extend,
  type Granted,
  outlive,
  release,
  type ScriptPart,
  type Turn,
  type turns,
  whilePromised,
  work,
  workOn,
} from './turns.js';

/** For how long another key is waited for, and held, milliseconds. */
const A_MOMENT_MS: MinMax = { min: 1, max: 30 };

export function isMutex({ model }: HandshakeValue): boolean {
  return (model?.kind ?? 'mutex') === 'mutex';
}

/** What `turns` does under each hold: works as it was drawn, and lets it go. */
export function underHabit(
  options: WorkloadOptions,
  random: Random,
  lock: HandshakeValue,
): Parameters<typeof turns>[2] {
  const { features } = lock;
  const lasting: Lasting = { renews: features.includes('renews'), extends: features.includes('extend') };
  return function* (granted, workMs, turn, times: Pick<TurnTimes, 'habit' | 'cutShort'>) {
    const drawn = times.habit(lasting);
    const ms = workMs();
    if (drawn === 'kept-on') {
      if (!(yield* keepOn(options, random, lock, granted, ms, turn))) times.cutShort(turn.key);
    } else if (drawn === 'extended') yield* extendMidway(options, lock, granted, ms);
    else if (drawn === 'beside-another') yield* workBesideAnother(options, random, lock, granted, ms, turn);
    // A lock that its owner may take again is its own until it was released as often.
    else if (drawn === 'released-late' && isMutex(lock)) return yield* releaseLate(options, lock, granted, ms, turn);
    // Of what renews by itself nothing ends, as far as its holder knows, before the lock says so.
    else if (lasting.renews && ms > A_MOMENT_MS.max) yield* workOn(options, granted, ms, lock, granted);
    else yield* work(options, granted, ms);
    yield* release(granted);
  };
}

/** For longer than the lease; in half of the cases another key is taken for a moment first. Whether it was held to the end. */
function* keepOn(
  options: WorkloadOptions,
  random: Random,
  lock: HandshakeValue,
  granted: Granted,
  ms: number,
  turn: Turn,
): ScriptPart<boolean> {
  if (random.float() < 0.5) yield* takeAnother(options, random, lock, granted, turn);
  return yield* workOn(options, granted, ms, lock, granted);
}

/** Long before it would be over: who asks for more time may have plenty left. */
function* extendMidway(options: WorkloadOptions, lock: HandshakeValue, granted: Granted, ms: number): ScriptPart<void> {
  if (!(yield* work(options, granted, ms / 2))) return;
  const extended = yield* extend(options, granted, lock, granted);
  if (extended.type === 'ok') yield* work(options, granted, ms / 2);
}

function* workBesideAnother(
  options: WorkloadOptions,
  random: Random,
  lock: HandshakeValue,
  granted: Granted,
  ms: number,
  turn: Turn,
): ScriptPart<void> {
  yield* takeAnother(options, random, lock, granted, turn);
  yield* work(options, granted, ms);
}

/** Waits for no longer than a moment: two that wait for each other's key let each other go. */
function* takeAnother(
  options: WorkloadOptions,
  random: Random,
  lock: HandshakeValue,
  first: Granted,
  { key }: Turn,
): ScriptPart<void> {
  const others = freeKeys(options).filter((other) => other !== key);
  if (others.length === 0) return;
  const momentMs = () => random.int(A_MOMENT_MS.min, A_MOMENT_MS.max);
  const { leaseMs } = options;
  const holding = () => whilePromised(options, first, lock, first);
  const second = yield { do: 'acquire', key: random.pick(others), leaseMs, waitMs: momentMs(), ...holding() };
  if (second.type !== 'ok') return;
  yield* work(options, second, momentMs());
  yield* release(second, holding());
}

/** The work is given up midway, and released late. */
function* releaseLate(
  options: WorkloadOptions,
  lock: HandshakeValue,
  first: Granted,
  ms: number,
  { key }: Turn,
): ScriptPart<void> {
  yield* work(options, first, ms / 2);
  yield* outlive(options, lock, first, ms / 2, key, ms);
}

/**
 * What a run opens with, before anything strikes: one client holds a key and another waits for it, for longer than any lease.
 *
 * A waiter that sleeps until it is woken, or takes each late grant for one that is over, is late only where nobody comes to wake
 * it and no holder's lease can be the reason; and it is told only where nothing else can be: no other client asks for the key,
 * and no fault is in force or was shortly before. So the key is left to these two, at the beginning, and if the holder is killed
 * that is all that strikes meanwhile. A lock that does nothing wrong is granted to the waiter within a lease, and both go on as
 * all others do.
 */
import type { Opening, WorkloadOptions } from '../harness/vocabulary/workload.js';

/** By then the holder has it, milliseconds after the beginning. */
export const WAITS_AFTER_MS = 100;

/** Who waits asks for little, as what counts as too long a wait begins with its own lease. */
const WAITER_LEASE_MS = 300;
/** What a lock may be late by beside a lease. */
const GRACE_MS = 2_000;
/** For commands, and for a process to die, on a busy machine. */
const MARGIN_MS = 500;
/** Until other clients ask for the key, once the wait is over. */
const AFTERWARDS_MS = 100;
/** For how long any lock is held whose holder asks for no more time, in parts of the lease: careful clients let go before it ends. */
const HELD_ANYWAY = 0.75;
/** With fewer the others would have too little to do. */
const LEAST_CLIENTS = 4;
const LEAST_KEYS = 4;

/**
 * What suits a lease. `killedAtMs`: when the holder is killed, milliseconds after the beginning; absent: it lets go, after more
 * than the waiter's lease. Undefined where nothing does: the contenders are too few, or a lease ends before the holder is killed.
 */
export function openingFor(
  { leaseMs, clients, keys }: Pick<WorkloadOptions, 'leaseMs' | 'clients' | 'keys'>,
  killedAtMs?: number,
): Opening | undefined {
  if (clients < LEAST_CLIENTS || keys.length < LEAST_KEYS) return undefined;
  const waiterLeaseMs = Math.min(WAITER_LEASE_MS, leaseMs);
  const endsMs = killedAtMs ?? waiterLeaseMs + WAITS_AFTER_MS;
  if (endsMs > leaseMs * HELD_ANYWAY) return undefined;
  const heldMs = killedAtMs === undefined ? endsMs : endsMs + MARGIN_MS;
  return { heldMs, waitMs: endsMs + leaseMs + waiterLeaseMs + GRACE_MS + MARGIN_MS, waiterLeaseMs };
}

/** When other clients may ask for the key, milliseconds after the beginning: all was over by then. */
export function openingMs({ waitMs }: Opening): number {
  return WAITS_AFTER_MS + waitMs + AFTERWARDS_MS;
}

/** What one client does of it. */
export interface OpeningPart extends Opening {
  does: 'holds' | 'waits';
  key: string;
  /** When the run's scripts began, by `nowMs`. */
  beganMs: number;
}

/** What this client does of it; undefined: nothing. */
export function openingPart(options: WorkloadOptions): OpeningPart | undefined {
  const { place } = options;
  const [opening, key] = [openingOf(options), openingKey(options)];
  if (!opening || key === undefined || !place?.isFirst || place.slot > 1) return undefined;
  return { ...opening, does: place.slot === 0 ? 'holds' : 'waits', key, beganMs: place.beganMs };
}

/** The key that is left to it while it lasts; undefined: none is, or not any more. Not one that is held for long, nor the last. */
export function openingKey(options: WorkloadOptions): string | undefined {
  const { place, keys, nowMs } = options;
  const opening = openingOf(options);
  if (!opening || !place || nowMs() >= place.beganMs + openingMs(opening)) return undefined;
  return keys.at(-2);
}

/** The keys that all may ask for now. */
export function freeKeys(options: WorkloadOptions): readonly string[] {
  const taken = openingKey(options);
  return taken === undefined ? options.keys : options.keys.filter((key) => key !== taken);
}

function openingOf({ hold }: WorkloadOptions): Opening | undefined {
  return 'briefMs' in hold ? hold.opening : undefined;
}

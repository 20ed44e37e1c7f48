/** What follows servers while a run goes on, each by loops of its own, whatever it follows them for. */
import type { Clock } from '../vocabulary/time.js';

/** A server that somebody has stopped takes connections, and never answers. */
const FIRST_LOOK_MS = 3_000;

export interface Follower {
  /** Resolves after the first attempt, whatever came of it. */
  readonly looked: Promise<void>;
}

/**
 * Resolves once every server is followed, or cannot be for the moment; disposing aborts `stop`, which ends the loops, and waits for
 * their end.
 */
export async function followed(
  followers: readonly Follower[],
  loops: readonly Promise<void>[],
  clock: Clock,
  stop: AbortController,
): Promise<AsyncDisposable> {
  const looked = new AbortController();
  const tooLong = clock.sleep(FIRST_LOOK_MS, AbortSignal.any([stop.signal, looked.signal]));
  await Promise.race([Promise.all(followers.map((one) => one.looked)), tooLong]);
  looked.abort();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(loops);
    },
  };
}

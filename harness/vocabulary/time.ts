/**
 * Time and randomness as parameters.
 *
 * Time. `...Ns` is CLOCK_MONOTONIC in integer nanoseconds since the run's epoch: every host of a run shares one kernel
 * and so one monotonic clock, which no fault touches. `...WallMs` is a wall clock (CLOCK_REALTIME) in milliseconds
 * since 1970, which faults do change. On the wire between harness and lock client, stamps are raw CLOCK_MONOTONIC
 * nanoseconds (what `process.hrtime`, Python's `time.monotonic_ns` and Go's `unix.ClockGettime` give); the harness
 * subtracts the epoch before it records them.
 */

/** Time as a parameter: real under `netns`, virtual in a simulation. Nothing above `runtimes/` reads a clock itself. */
export interface Clock {
  /** Nanoseconds since the run's epoch, monotonic. */
  nowNs(): number;
  /** The machine's own wall clock, milliseconds since 1970. */
  wallMs(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts (it never rejects; look at the signal if it matters). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Randomness as a parameter. The same seed and the same forks give the same numbers. */
export interface Random {
  /** An integer in [min, max], both included. */
  int(min: number, max: number): number;
  /** A number in [0, 1). */
  float(): number;
  /** One of `items`, which must not be empty. */
  pick<T>(items: readonly T[]): T;
  /** An independent stream that depends on this one's seed and on `label` only, not on how much was drawn. */
  fork(label: string): Random;
}

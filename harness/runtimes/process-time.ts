/**
 * Real time for the lock client process: the one place in it that touches timers and clocks.
 *
 * Stamps are raw CLOCK_MONOTONIC nanoseconds, which every process of the machine shares and no fault changes.
 */
import { monotonicNs, realClock } from './real-clock.js';

/** Raw CLOCK_MONOTONIC nanoseconds. */
export const nowNs = monotonicNs;

/** The wall clock as this process sees it (a skewed one shows here), and a sleep that a signal ends early. */
export const { wallMs, sleep } = realClock(0);

/** Calls `then` after `ms` unless the result was called first. */
export function after(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
}

/** Has ioredis reject the command when it is not settled in this time. */
export function limit(command: { setTimeout(ms: number): void }, ms: number): void {
  command.setTimeout(ms);
}

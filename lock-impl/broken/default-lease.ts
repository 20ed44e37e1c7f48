/** How `lock(lease)` of a library may be called without a lease: -1 seconds, as its documentation says, for "the usual one". */
import type { Counts } from './counted-lock.js';

export const NO_LEASE_SECONDS = -1;

/** What is to be done with the lease that the caller gave, in seconds: milliseconds, for which `usualMs` stand in. */
export type LeaseOf = (seconds: number, usualMs: number) => number;

/** The lock of a caller that gives no lease. */
export function withoutLease({ take, giveBack }: Counts, leaseOf: LeaseOf): Counts {
  return {
    take: (owner, usualMs) => take(owner, leaseOf(NO_LEASE_SECONDS, usualMs)),
    giveBack: (owner, usualMs) => giveBack(owner, leaseOf(NO_LEASE_SECONDS, usualMs)),
  };
}

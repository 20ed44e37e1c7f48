/** What an exhaustive search is bounded by, and what its clients do. */
import type { Instruction } from '../../../harness/vocabulary/workload.js';

/** What is exhausted. */
export interface OrderBound {
  /** Of each client, from the begin of `PROGRAMS` on. */
  operations: number;
  faults: number;
}

export type OrderOperation = 'acquire' | 'read' | 'write' | 'release';

/** What each client does, over and over; `release`: of what it was granted last. */
const PROGRAMS: Readonly<Record<string, readonly OrderOperation[]>> = {
  mutex: ['acquire', 'release'],
  // Whoever reads wants to write, too.
  'read-write': ['read', 'write', 'release', 'release'],
};

/** Workloads whose clients can be led so. */
export const EXHAUSTED_WORKLOADS = Object.keys(PROGRAMS);

/** What each client does, over and over. */
export function programOf(workload: string): readonly OrderOperation[] {
  return PROGRAMS[workload]!;
}

/** `hold`: what a release is of. Nobody waits: every order of tries is played anyway. */
export function instructionFor(
  operation: OrderOperation,
  { key, leaseMs, hold }: { key: string; leaseMs: number; hold: number },
): Instruction {
  if (operation === 'release') return { do: 'release', hold };
  const mode = operation === 'acquire' ? {} : { mode: operation };
  return { do: 'acquire', key, leaseMs, waitMs: 0, ...mode };
}

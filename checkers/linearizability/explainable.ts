/**
 * Whether a run's history can be explained at all, under each reading: beside its verdict, which is made of classes that a
 * lock with a lease can be held to (`mutual-exclusion`). A stale holder, say, is nothing that strict linearizability allows,
 * and nothing that a lease forbids.
 */
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { ReadingResult } from '../../harness/vocabulary/verdict.js';
import { decideReadings } from './decide-readings.js';
import { BUDGET_OF_RUNS } from './types.js';

const PROOFS = 3;

/** `between`: called after each key and reading. */
export function readingsOf({ history, model }: CheckInput, between?: () => void): ReadingResult[] {
  if (model.kind === 'latch') return [];
  // In a run with faults keys of crashed clients and split votes refuse while the lock is free: a refused try shows nothing.
  const options = {
    witnesses: PROOFS,
    search: BUDGET_OF_RUNS,
    without: ['tries-inform'] as const,
    countedByKind: PROOFS,
    ...(between && { between }),
  };
  try {
    return decideReadings(history, model, options).map(
      ({ reading, title, verdict, procedure, found, witnesses, notes }) => ({
        reading,
        title,
        verdict,
        procedure,
        found,
        proofs: witnesses.map(({ proof }) => proof),
        notes,
      }),
    );
  } catch (error) {
    // A certificate that fails its own check is a bug of ours, and told; the verdict does not stand on it.
    const notes = [(error as Error).message];
    return [
      { reading: 'all', title: 'all readings', verdict: 'unknown', procedure: 'none', found: 0, proofs: [], notes },
    ];
  }
}

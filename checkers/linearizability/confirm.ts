/**
 * A second opinion on every witness before it accuses: its rows alone, cut out of the history, must be impossible for a
 * procedure that shares nothing with the one that found them. Where leases count that is the timed oracle, else the search.
 */
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import { cutOut } from './cut-out.js';
import { modelOf } from './models/index.js';
import { search } from './search.js';
import { isTimedFeasible } from './timed-oracle.js';
import type { KeyHistory, Reading, SearchBudget } from './types.js';

/** More has too many orders for the oracle. */
const MOST_FOR_ORACLE = 10;
/** A witness has a handful of rows: what needs more than this is not one. */
const BUDGET: SearchBudget = { configurations: 50_000, steps: 500_000 };
/** Sections of a semaphore's witness that are looked at together. */
const MOST_TOGETHER = 4;

export function isImpossible(
  history: KeyHistory,
  rows: readonly number[],
  model: LockModel,
  reading: Reading,
  budget = BUDGET,
): boolean {
  const alone = cutOut(
    history,
    [...rows].sort((a, b) => a - b),
  );
  if (reading.leases && rows.length <= MOST_FOR_ORACLE) return !isTimedFeasible(alone, model, reading);
  return search(modelOf(model), alone, reading, budget).verdict === 'invalid';
}

/**
 * Whether these sections, each with its rows, were more than there are permits. Of many permits a few are looked at at a
 * time: if 21 sections held together, so did every 4 of them, and none of these fit into 3 permits. All orders of 21
 * concurrent grants would be too many to try.
 */
export function isCrowded(
  history: KeyHistory,
  sections: readonly (readonly number[])[],
  permits: number,
  reading: Reading,
): boolean {
  if (sections.length !== permits + 1) return false;
  const size = Math.min(sections.length, MOST_TOGETHER);
  for (let at = 0; at + size <= sections.length; at++) {
    const rows = sections.slice(at, at + size).flat();
    if (!isImpossible(history, rows, { kind: 'semaphore', permits: size - 1 }, reading)) return false;
  }
  return true;
}

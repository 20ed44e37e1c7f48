/**
 * What the general search says of a key, with what makes it believed: a linearization with instants, checked step by step, or
 * as few rows as could be found that are impossible by themselves.
 */

import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import { isImpossible } from './confirm.js';
import { cutOut } from './cut-out.js';
import { earliestInstants } from './instants.js';
import { modelOf } from './models/index.js';
import { search } from './search.js';
import type { KeyHistory, Linearization, Reading, SearchBudget } from './types.js';
import { BadLinearization, verify } from './verify.js';

export type Searched =
  | { verdict: 'valid'; linearization: Linearization }
  | { verdict: 'invalid'; rows: number[] }
  | { verdict: 'unknown'; notes: string[] };

export function searched(history: KeyHistory, model: LockModel, reading: Reading, budget: SearchBudget): Searched {
  const { verdict, order, note } = search(modelOf(model), history, reading, budget);
  if (verdict === 'unknown') return { verdict, notes: note ? [note] : [] };
  if (verdict === 'valid') {
    const linearization = earliestInstants(history, model, reading, order!);
    const error = verify(history, model, reading, linearization);
    if (error !== undefined) throw new BadLinearization(history, error);
    return { verdict, linearization };
  }
  const rows = fewestRows(history, model, reading, budget);
  if (isImpossible(history, rows, model, reading, budget)) return { verdict, rows };
  return { verdict: 'unknown', notes: ['a second procedure did not confirm what the search found, a bug'] };
}

/** Shrinking a witness may cost so many searches, and no more steps and rows than the first search might have. */
const MOST_SEARCHES = 300;

/**
 * Rows that are still impossible by themselves, found by leaving out as many of the others as it goes (after Zeller and
 * Hildebrandt, "Simplifying and isolating failure-inducing input", 2002).
 *
 * Whole sections are left out where with one hold less no more is refused. Where tries inform, a hold may be what explains a
 * refusal: then only tries are.
 */
function fewestRows(history: KeyHistory, model: LockModel, reading: Reading, budget: SearchBudget): number[] {
  let units = unitsOf(history, reading);
  const fixed = new Set(history.rows);
  for (const unit of units) for (const row of unit) fixed.delete(row);
  const rowsWith = (some: readonly number[][]) => [...fixed, ...some.flat()].sort((a, b) => a - b);

  let searches = MOST_SEARCHES;
  let steps = budget.steps;
  const isStillImpossible = (some: readonly number[][]) => {
    const rows = rowsWith(some);
    const result = search(modelOf(model), cutOut(history, rows), reading, budget);
    searches--;
    steps -= result.steps + rows.length;
    return result.verdict === 'invalid';
  };
  for (let size = Math.ceil(units.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < units.length && searches > 0 && steps > 0; ) {
      const fewer = [...units.slice(0, at), ...units.slice(at + size)];
      if (isStillImpossible(fewer)) units = fewer;
      else at += size;
    }
  }
  return rowsWith(units);
}

/** What may be left out together: acquires with all their releases, or tries. */
function unitsOf({ rows, operations: ops }: KeyHistory, { triesInform }: Reading): number[][] {
  const isRefused = (row: number) => ops.op[row] === OP.acquire && ops.outcome[row] === OUTCOME.fail;
  if (triesInform) return [...rows.filter(isRefused)].map((row) => [row]);
  const units = new Map<number, number[]>();
  for (const row of rows) {
    const acquire = ops.hold[row]! >= 0 ? ops.hold[row]! : row;
    const unit = units.get(acquire);
    if (unit) unit.push(row);
    else units.set(acquire, [row]);
  }
  return [...units.values()];
}

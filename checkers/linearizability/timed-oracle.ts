/**
 * A second opinion on a few operations, before an accusation: tries every order of them, with every choice of those whose
 * outcome is not known, and asks for each order that the lock allows whether there are instants for it.
 *
 * Slow and plain on purpose. It shares the rules of the locks (`models/`) with the other procedures and nothing else: no
 * sweep, no memory of configurations, no argument about which order is best.
 */

import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import { isUnknown } from './models/answers.js';
import { modelOf } from './models/index.js';
import { withLeaseEnds } from './models/leases.js';
import type { KeyHistory, Model, Reading } from './types.js';

const MOST_OPERATIONS = 10;

/** Whether any order and any instants explain the history. Throws for more than ten operations. */
export function isTimedFeasible(history: KeyHistory, model: LockModel, reading: Reading): boolean {
  if (history.rows.length > MOST_OPERATIONS) {
    throw new Error(`${history.rows.length} operations have too many orders to try; at most ${MOST_OPERATIONS} do`);
  }
  // The end of a lease that may run out is one more thing that may happen.
  const extended = reading.leases ? withLeaseEnds(history) : undefined;
  const all = extended?.history ?? history;
  const leaseEnds = new Set(all.rows.filter((row) => extended && row >= extended.givenRow.length));
  const lock = modelOf(model);
  return someOrder(lock, all, reading, [], lock.init(all), (order) => hasInstants(all, order, leaseEnds));
}

/** Whether one of the orders that begin with `order`, after which the lock is in `state`, is complete and accepted. */
function someOrder<State>(
  lock: Model<State>,
  history: KeyHistory,
  reading: Reading,
  order: readonly number[],
  state: State,
  accepts: (order: readonly number[]) => boolean,
): boolean {
  const left = history.rows.filter((row) => !order.includes(row));
  if (left.every((row) => isUnknown(history.operations, row)) && accepts(order)) return true;
  return [...left].some((row) => {
    if (!mayComeNext(history, row, order, left)) return false;
    const after = lock.step(state, row, history, reading);
    return after !== undefined && someOrder(lock, history, reading, [...order, row], after, accepts);
  });
}

/** Nothing comes after what was called when it had returned; and no release before the grant that it is about. */
function mayComeNext(
  { operations: ops, callNs, returnNs }: KeyHistory,
  row: number,
  order: readonly number[],
  left: Int32Array,
): boolean {
  if (left.some((other) => returnNs[other]! < callNs[row]!)) return false;
  const hold = ops.hold[row]!;
  const isOfKnownHold = ops.op[row] === OP.release && left.includes(hold) && ops.outcome[hold] === OUTCOME.ok;
  return !isOfKnownHold || order.includes(hold);
}

/** `at[to] ≤ at[from] + atMost`. */
interface Bound {
  from: number;
  to: number;
  atMost: number;
}

/**
 * Whether there are instants p for the rows in this order: call ≤ p ≤ return, each not before the one before, and the end of
 * a lease not before its grant + lease. Such a system of difference constraints has a solution exactly if its graph has no
 * negative cycle (Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms", §24.4: Bellman and Ford).
 */
function hasInstants(history: KeyHistory, order: readonly number[], leaseEnds: ReadonlySet<number>): boolean {
  const { operations: ops, callNs, returnNs, leaseNs } = history;
  /** Node 0 is the instant 0; node i + 1 the instant of the i-th row. */
  const zero = 0;
  const bounds: Bound[] = [];
  const notBefore = (later: number, earlier: number, byNs: number) =>
    bounds.push({ from: later, to: earlier, atMost: -byNs });
  order.forEach((row, i) => {
    const node = i + 1;
    notBefore(node, zero, callNs[row]!);
    if (returnNs[row]! !== Number.POSITIVE_INFINITY) bounds.push({ from: zero, to: node, atMost: returnNs[row]! });
    if (i > 0) notBefore(node, node - 1, 0);
    if (leaseEnds.has(row)) {
      const acquire = ops.hold[row]!;
      notBefore(node, order.indexOf(acquire) + 1, leaseNs[acquire]!);
    }
  });
  return !hasNegativeCycle(order.length + 1, bounds);
}

function hasNegativeCycle(nodes: number, bounds: readonly Bound[]): boolean {
  const distance = new Float64Array(nodes);
  for (let round = 0; round < nodes; round++) {
    let changed = false;
    for (const { from, to, atMost } of bounds) {
      if (distance[from]! + atMost >= distance[to]!) continue;
      distance[to] = distance[from]! + atMost;
      changed = true;
    }
    if (!changed) return false;
  }
  return true;
}

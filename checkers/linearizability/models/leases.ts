/**
 * Leases, for any lock: a hold that no release is known to have ended may be over once its lease has run from the instant
 * of the grant, and not before. It need not be: `leaseNs` is how long the lease *certainly* ran, shortened by every margin,
 * and a renewal may have made it longer. So a lease alone never proves that a lock was free.
 *
 * The end of a lease is written down as a release that no client called: a row of its own, whose outcome is not known.
 * A hold whose release succeeded was there until then, however long its lease (a watchdog may have renewed it).
 */

import { OP, OUTCOME } from '../../../harness/record/history-table.js';
import type { Operations } from '../../../harness/vocabulary/history.js';
import type { KeyHistory, Model } from '../types.js';

/** Whether the lease of this acquire's hold may decide anything: `released` has the holds whose release succeeded. */
function mayRunOut({ operations: ops, leaseNs }: KeyHistory, row: number, released: ReadonlySet<number>): boolean {
  const granted = ops.op[row] === OP.acquire && ops.outcome[row] !== OUTCOME.fail;
  return granted && Number.isFinite(leaseNs[row]!) && !released.has(row);
}

/** The holds that a successful release names, by their acquires. */
export function releasedHolds({ operations: ops, rows }: KeyHistory): ReadonlySet<number> {
  const released = new Set<number>();
  for (const row of rows)
    if (ops.op[row] === OP.release && ops.outcome[row] === OUTCOME.ok) released.add(ops.hold[row]!);
  return released;
}

export interface WithLeaseEnds {
  /**
   * Rows are numbered anew, so that a few of them out of a long history cost little: first those of the given history in
   * their order, then the ends of leases. `rows` has all, in the order of their calls.
   */
  history: KeyHistory;
  /** For each row but the ends of leases, which it was in the given history. */
  givenRow: Int32Array;
}

/**
 * The history with the ends of leases in it; undefined where no lease may run out. The call of such a row is when its lease
 * has run out at the earliest; it waits for the grant besides.
 */
export function withLeaseEnds(given: KeyHistory): WithLeaseEnds | undefined {
  const released = releasedHolds(given);
  const acquires = given.rows.filter((row) => mayRunOut(given, row, released));
  if (acquires.length === 0) return undefined;

  const { operations: ops, rows, callNs, returnNs, leaseNs } = given;
  const numbers = new Map<number, number>();
  for (const row of rows) numbers.set(row, numbers.size);
  const numberOf = (row: number) => numbers.get(row) ?? -1;
  const all = new Int32Array(rows.length + acquires.length);
  all.set(rows);
  all.set(acquires, rows.length);
  /** A column: what the given rows have there, and then the ends of leases, each from its acquire. */
  const column = (ofRow: (row: number) => number, ofEnd: (acquire: number) => number) => (row: number, n: number) =>
    n < rows.length ? ofRow(row) : ofEnd(row);
  const same = (values: ArrayLike<number>) => (row: number) => values[row]!;
  const operations: Operations = {
    ...ops,
    count: all.length,
    client: Int32Array.from(all, same(ops.client)),
    op: Uint8Array.from(
      all,
      column(same(ops.op), () => OP.release),
    ),
    mode: Uint8Array.from(all, same(ops.mode)),
    outcome: Uint8Array.from(
      all,
      column(same(ops.outcome), () => OUTCOME.none),
    ),
    reason: Int32Array.from(all, same(ops.reason)),
    hold: Int32Array.from(
      all,
      column((row) => numberOf(ops.hold[row]!), numberOf),
    ),
    invokeLine: Int32Array.from(all, same(ops.invokeLine)),
    token: Float64Array.from(all, same(ops.token)),
  };
  const endNs = (acquire: number) => callNs[acquire]! + leaseNs[acquire]!;
  const never = () => Number.POSITIVE_INFINITY;
  const history: KeyHistory = {
    key: given.key,
    operations,
    rows: Int32Array.from(all, (_, n) => n),
    callNs: Float64Array.from(all, column(same(callNs), endNs)),
    returnNs: Float64Array.from(all, column(same(returnNs), never)),
    leaseNs: Float64Array.from(all, column(same(leaseNs), never)),
  };
  history.rows.sort((a, b) => history.callNs[a]! - history.callNs[b]! || a - b);
  return { history, givenRow: rows };
}

export interface Leased<State> {
  readonly lock: State;
  /** The earliest instant at which the last step can have been taken. */
  readonly atNs: number;
  /** Holds whose lease may run out, and when each has run out at the earliest. */
  readonly leases: readonly { readonly acquire: number; readonly endNs: number }[];
}

/**
 * The lock with its leases, for one history that `withLeaseEnds` gave. Its rows from `ends` on are the ends of leases.
 *
 * For a given order of steps it takes every step at its earliest instant: not before its call, nor the step before, nor,
 * for the end of a lease, before the lease has run. All bounds between steps are lower bounds, so if any instants do,
 * these do, and a step that they put after its return is impossible in this order.
 */
export function leased<State>(model: Model<State>, history: KeyHistory, ends: number): Model<Leased<State>> {
  const { operations: ops, callNs, returnNs, leaseNs } = history;
  const released = releasedHolds(history);
  return {
    model: model.model,
    init: () => ({ lock: model.init(history), atNs: Number.NEGATIVE_INFINITY, leases: [] }),
    step(state, row, _history, reading) {
      const lock = model.step(state.lock, row, history, reading);
      if (lock === undefined) return undefined;
      const hold = ops.hold[row]!;
      const lease = row >= ends ? state.leases.find(({ acquire }) => acquire === hold) : undefined;
      const atNs = Math.max(state.atNs, callNs[row]!, lease?.endNs ?? Number.NEGATIVE_INFINITY);
      if (atNs > returnNs[row]!) return undefined;
      if (mayRunOut(history, row, released))
        return { lock, atNs, leases: [...state.leases, { acquire: row, endNs: atNs + leaseNs[row]! }] };
      const isEnd = ops.op[row] === OP.release && lock !== state.lock;
      return { lock, atNs, leases: isEnd ? state.leases.filter(({ acquire }) => acquire !== hold) : state.leases };
    },
    hash({ lock, atNs, leases }) {
      const byAcquire = [...leases].sort((a, b) => a.acquire - b.acquire);
      return [model.hash(lock), atNs, ...byAcquire.map(({ acquire, endNs }) => `${acquire}:${endNs}`)].join('|');
    },
    describe: ({ lock }) => model.describe(lock, history),
  };
}

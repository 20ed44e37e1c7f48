/** Instants for an order of operations that a search found: each as early as it can be. */

import { MODE, OP, OUTCOME } from '../../harness/record/history-table.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { KeyHistory, Linearization, Reading } from './types.js';

/**
 * No step comes before its call, nor before the step before it, nor, where it needs the room of a hold whose lease has to run
 * out for it, before that. All these are lower bounds, so if any instants fit the order, these do.
 */
export function earliestInstants(
  history: KeyHistory,
  model: LockModel,
  reading: Reading,
  order: Int32Array,
): Linearization {
  const { callNs } = history;
  const leases = reading.leases ? new RunningLeases(history, model, order) : undefined;
  const pointsNs = new Float64Array(order.length);
  let lastNs = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < order.length; at++) {
    const row = order[at]!;
    lastNs = Math.max(lastNs, callNs[row]!, leases?.roomNs(row) ?? Number.NEGATIVE_INFINITY);
    pointsNs[at] = lastNs;
    leases?.step(row, lastNs);
  }
  return { order, pointsNs };
}

interface Holding {
  row: number;
  overNs: number;
}

/** Who holds, and until when at least. */
class RunningLeases {
  private holding: Holding[] = [];
  /**
   * Holds that a release in the order ends, so that no lease may. A release that is answered "not yours" may come after
   * that.
   */
  private readonly released = new Set<number>();

  constructor(
    private readonly history: KeyHistory,
    private readonly model: LockModel,
    order: Int32Array,
  ) {
    const { operations: ops } = history;
    const granted = new Set<number>();
    for (const row of order) {
      if (ops.op[row] === OP.acquire) granted.add(row);
      else if (granted.has(ops.hold[row]!) && ops.outcome[row] !== OUTCOME.fail) this.released.add(ops.hold[row]!);
    }
  }

  /** When there is room for this row at the earliest; those that had to be over by then are. */
  roomNs(row: number): number {
    const { operations: ops } = this.history;
    if (ops.op[row] !== OP.acquire || ops.outcome[row] === OUTCOME.fail) return Number.NEGATIVE_INFINITY;
    let roomNs = Number.NEGATIVE_INFINITY;
    for (const over of this.inTheWay(row)) {
      roomNs = Math.max(roomNs, over.overNs);
      this.holding = this.holding.filter((one) => one !== over);
    }
    return roomNs;
  }

  step(row: number, atNs: number): void {
    const { operations: ops, leaseNs } = this.history;
    if (ops.op[row] === OP.release) this.holding = this.holding.filter((one) => one.row !== ops.hold[row]);
    else if (ops.outcome[row] !== OUTCOME.fail)
      this.holding.push({ row, overNs: this.released.has(row) ? Number.POSITIVE_INFINITY : atNs + leaseNs[row]! });
  }

  private inTheWay(row: number): Holding[] {
    const { client, mode } = this.history.operations;
    const { holding, model } = this;
    const own = ({ row: hold }: Holding) => client[hold] === client[row];
    const soonest = (allowed: number) =>
      holding.length < allowed ? [] : [...holding].sort((a, b) => a.overNs - b.overNs || 0).slice(0, 1);
    switch (model.kind) {
      case 'semaphore':
        return soonest(model.permits);
      case 'reentrant':
        return holding.every(own) ? soonest(model.depth) : holding.filter((one) => !own(one));
      case 'read-write':
        if (mode[row] !== MODE.read) return holding;
        return holding.filter((one) => mode[one.row] !== MODE.read && !own(one));
      default:
        return holding;
    }
  }
}

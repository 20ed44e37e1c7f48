/**
 * What all locks have in common: how an answer in a history becomes a step of the lock. A lock itself is only its rules:
 * whom it refuses, and what it holds after a grant and after an end.
 *
 * A hold is named by the row of the acquire that was granted. Leases are unknown here; see `leases.ts`.
 */

import { OP, OUTCOME } from '../../../harness/record/history-table.js';
import type { LockModel } from '../../../harness/vocabulary/protocol.js';
import type { KeyHistory, Model, Reading } from '../types.js';
import { deniedOwnership, refusedForHolder } from './answers.js';

export interface Rules<State> {
  free: State;
  /** Whether this acquire would have been refused because of who holds. */
  refuses(state: State, row: number, history: KeyHistory): boolean;
  /** After the grant of an acquire that is not refused; undefined where its answer cannot be right all the same. */
  grant(state: State, row: number, history: KeyHistory): State | undefined;
  /** After the end of the hold that this acquire got; undefined where it does not hold. */
  end(state: State, acquire: number): State | undefined;
  /** Who holds: rows of acquires. */
  holds(state: State): readonly number[];
  hash(state: State): string | number;
  /** What else there is to say of a state. */
  also?(state: State): string;
}

export function lockModel<State>(model: LockModel, rules: Rules<State>): Model<State> {
  return {
    model,
    init: () => rules.free,
    step: (state, row, history, reading) =>
      history.operations.op[row] === OP.acquire
        ? afterAcquire(rules, state, row, history, reading)
        : afterRelease(rules, state, row, history, reading),
    hash: rules.hash,
    describe(state, history) {
      const holders = rules.holds(state).map((row) => holder(history, row));
      const held = holders.length === 0 ? 'free' : `held by ${holders.join(' and ')}`;
      return rules.also ? `${held}, ${rules.also(state)}` : held;
    },
  };
}

function afterAcquire<State>(
  rules: Rules<State>,
  state: State,
  row: number,
  history: KeyHistory,
  reading: Reading,
): State | undefined {
  const { operations: ops } = history;
  if (ops.outcome[row] === OUTCOME.fail) {
    const hadToBeRefused = reading.triesInform && refusedForHolder(ops, row);
    return hadToBeRefused && !rules.refuses(state, row, history) ? undefined : state;
  }
  return rules.refuses(state, row, history) ? undefined : rules.grant(state, row, history);
}

/**
 * A release ends the very hold that it names, and cannot have succeeded where that is not held.
 *
 * One that was answered "not yours" is no contradiction, no matter who holds: where it does not end the hold it is an error
 * of the client's and changes nothing. c1 forgets that it released in a `finally` and releases again: the lock is none the
 * worse.
 */
function afterRelease<State>(
  rules: Rules<State>,
  state: State,
  row: number,
  { operations: ops }: KeyHistory,
  reading: Reading,
): State | undefined {
  if (ops.outcome[row] !== OUTCOME.fail) return rules.end(state, ops.hold[row]!);
  const ends = reading.failedReleaseEnds && deniedOwnership(ops, row);
  return ends ? (rules.end(state, ops.hold[row]!) ?? state) : state;
}

function holder({ operations: ops }: KeyHistory, row: number): string {
  return `${ops.clients[ops.client[row]!]} (acquire at line ${ops.invokeLine[row]})`;
}

/**
 * All states in which the lock can be, event by event: just-in-time linearization (Lowe, "Testing for linearizability",
 * 2017). Where an operation returns, only those states go on in which it has taken effect; others take effect before it as
 * far as it needs them. Where no state goes on, the history up to there has no explanation.
 *
 * Costs a few steps for each operation, unless many clients' operations or many unknown outcomes can be combined: so it has
 * a budget.
 */
import { callsAndReturns, isReturn, rowOf } from '../../../harness/record/facts/intervals.js';
import type { LockModel } from '../../../harness/vocabulary/protocol.js';
import type { KeyHistory, Reading, SearchBudget } from '../types.js';
import { Lock, type Promised, START, type State, stateKey } from './steps.js';

export type Reached =
  | { verdict: 'valid' }
  /** `row`: the operation at whose return nothing is possible. `since`: before this row no client held, whatever happened. */
  | { verdict: 'invalid'; row: number; since: number }
  | { verdict: 'unknown'; steps: number; explained: number };

interface Configuration {
  readonly state: State;
  /** Rows that have been called and must take effect yet, in order. */
  readonly pending: readonly number[];
}

export function frontierOf(
  history: KeyHistory,
  model: LockModel,
  reading: Reading,
  promised: Promised,
  budget: SearchBudget,
): Reached {
  return new Frontier(history, model, reading, promised, budget).reach();
}

class Frontier {
  private readonly lock: Lock;
  private configurations: Configuration[] = [{ state: START, pending: [] }];
  private steps = 0;

  constructor(
    private readonly history: KeyHistory,
    model: LockModel,
    reading: Reading,
    promised: Promised,
    private readonly budget: SearchBudget,
  ) {
    this.lock = new Lock(history, model, reading, promised);
  }

  reach(): Reached {
    let explained = 0;
    let since = 0;
    for (const event of eventsOf(this.history, this.lock)) {
      const row = rowOf(event);
      if (!isReturn(event)) {
        if (this.isAtRest()) since = row;
        this.called(row);
        continue;
      }
      if (!this.returned(row)) return { verdict: 'unknown', steps: this.steps, explained };
      if (this.configurations.length === 0) return { verdict: 'invalid', row, since };
      explained++;
    }
    return { verdict: 'valid' };
  }

  /** Whether it is certain that nothing is held and nothing of unknown outcome was needed. */
  private isAtRest(): boolean {
    if (this.configurations.length !== 1) return false;
    const { state, pending } = this.configurations[0]!;
    return pending.length === 0 && state.holds.length === 0 && state.used.size === 0 && state.token === START.token;
  }

  private called(row: number): void {
    if (this.lock.kindOf(row) === 'unknown') this.lock.callUnknown(row);
    else this.configurations = this.configurations.map(({ state, pending }) => ({ state, pending: [...pending, row] }));
  }

  /** False where the budget ran out. */
  private returned(row: number): boolean {
    const untilNs = this.history.returnNs[row]!;
    const met = new Set<string>();
    const open: Configuration[] = [];
    const reached: Configuration[] = [];
    const meet = (one: Configuration) => {
      const key = `${one.pending.join()}|${stateKey(one.state)}`;
      if (met.has(key)) return;
      met.add(key);
      (one.pending.includes(row) ? open : reached).push(one);
    };
    this.configurations.forEach(meet);
    while (open.length > 0) {
      if (met.size > this.budget.configurations || this.steps > this.budget.steps) return false;
      this.next(open.pop()!, untilNs, meet);
    }
    this.configurations = reached;
    return true;
  }

  private next({ state, pending }: Configuration, untilNs: number, meet: (one: Configuration) => void): void {
    const eager = pending.find((row) => this.lock.isEager(state, row, pending));
    for (const row of eager === undefined ? pending : [eager]) {
      this.steps++;
      const rest = pending.filter((other) => other !== row);
      for (const after of this.lock.step(state, row, untilNs)) meet({ state: after, pending: rest });
    }
    for (const after of this.lock.unasked(state, untilNs)) meet({ state: after, pending });
  }
}

function eventsOf(history: KeyHistory, lock: Lock): Float64Array {
  const rows = history.rows.filter((row) => lock.kindOf(row) !== 'nothing');
  return callsAndReturns(rows, (row) => lock.kindOf(row) === 'must', history);
}

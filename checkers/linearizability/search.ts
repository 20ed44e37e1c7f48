/**
 * The general search: is there any order of the operations, within their intervals, in which the lock answers as the history
 * tells? Wing and Gong's algorithm with Lowe's memory of configurations ("Testing for linearizability", 2017), for one key
 * (Horn and Kroening's partition is made before). Exact, and exponential at worst: therefore a budget, and `unknown` where
 * it ends. It knows nothing of the patterns that the fast procedures look for, and so can check what they found.
 *
 * Beside the model it stands on two facts about locks: with one hold less no more is refused, and a refused try changes
 * nothing. So some steps need no second thought (`isForced`), and some operations no place at all (`relevant.ts`).
 *
 * It excludes clients that overlap with themselves: of what one client does, only that it ends no hold before it got it is
 * taken for granted beyond the intervals.
 */
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import { Configurations } from './configurations.js';
import { isUnknown } from './models/answers.js';
import { leased, releasedHolds, withLeaseEnds } from './models/leases.js';
import { relevantRows } from './relevant.js';
import type { KeyHistory, Model, Reading, SearchBudget } from './types.js';

export interface SearchResult {
  verdict: 'valid' | 'invalid' | 'unknown';
  /**
   * When valid: rows in an order in which they can have taken effect. Rows that are missing had no effect, or say nothing
   * about the lock.
   */
  order?: Int32Array;
  /** The most operations that any order explained before it came to an end. */
  reached: number;
  /** Steps of the model that were tried. */
  steps: number;
  /** Why it is unknown. */
  note?: string;
}

export function search<State>(
  model: Model<State>,
  history: KeyHistory,
  reading: Reading,
  budget: SearchBudget,
): SearchResult {
  const extended = reading.leases ? withLeaseEnds(history) : undefined;
  if (!extended) return new Search(model, history, reading, budget, false).run();

  const { history: withEnds, givenRow } = extended;
  const timed = leased(model, withEnds, givenRow.length);
  const { order, ...result } = new Search(timed, withEnds, reading, budget, true).run();
  if (!order) return result;
  return { ...result, order: order.filter((row) => row < givenRow.length).map((row) => givenRow[row]!) };
}

const KIND = {
  /** An acquire that was granted, or may have been. */
  acquire: 0,
  /** A refused one. */
  refusal: 1,
  /** A release, known or not, or the end of a lease. */
  release: 2,
  /** A release that was answered "not yours", of a hold that another release ended. */
  idleRelease: 3,
} as const;

const NONE = -1;

class Search<State> {
  /** The operations to be placed, in the order of their calls; below each is known by its place in here. */
  private readonly rows: Int32Array;
  private readonly kind: Uint8Array;
  /** 1 where the outcome is not known: it may be left out for ever. */
  private readonly unknown: Uint8Array;
  /** Each one's number in its bit set. */
  private readonly number: Int32Array;
  /** Its place in the order of returns; after them those of unknown outcome. */
  private readonly rank: Int32Array;
  /** The acquire that certainly came before, where the intervals do not say so; or NONE. */
  private readonly follows: Int32Array;
  private readonly events: EventList;
  private readonly configurations: Configurations;

  /** The order that is being tried, and for each step the state before it and whether there was an alternative. */
  private readonly order: number[] = [];
  private readonly before: State[] = [];
  private readonly forced: boolean[] = [];
  private state: State;
  private completedLeft = 0;
  private refusalsLeft = 0;

  private steps = 0;
  private reached = NONE;
  /** Where the order that reached furthest came to an end. */
  private furthest = '';

  constructor(
    private readonly model: Model<State>,
    private readonly history: KeyHistory,
    private readonly reading: Reading,
    private readonly budget: SearchBudget,
    /** Whether the state knows the time: then no step is free, as each may move the time on. */
    private readonly timed: boolean,
  ) {
    const { operations: ops, callNs, returnNs } = history;
    this.rows = relevantRows(model, history, reading).sort((a, b) => callNs[a]! - callNs[b]! || a - b);
    this.unknown = Uint8Array.from(this.rows, (row) => Number(isUnknown(ops, row)));
    const counts = [0, 0];
    this.number = Int32Array.from(this.unknown, (unknown) => counts[unknown]!++);
    this.completedLeft = counts[0]!;
    this.configurations = new Configurations(counts[0]!, counts[1]!);
    this.kind = this.kinds();
    for (const kind of this.kind) if (kind === KIND.refusal) this.refusalsLeft++;
    this.follows = this.knownAcquires();
    const returns = Float64Array.from(this.rows, (row, n) =>
      this.unknown[n] ? Number.POSITIVE_INFINITY : returnNs[row]!,
    );
    const byReturn = Int32Array.from(this.rows, (_, n) => n).sort((a, b) => compare(returns[a]!, returns[b]!) || a - b);
    this.rank = new Int32Array(byReturn.length);
    byReturn.forEach((n, rank) => {
      this.rank[n] = rank;
    });
    const calls = Float64Array.from(this.rows, (row) => callNs[row]!);
    this.events = new EventList(calls, returns, byReturn);
    this.state = model.init(history);
  }

  run(): SearchResult {
    for (;;) {
      this.takeForced();
      if (this.completedLeft === 0) return this.result('valid');
      const isNew = this.configurations.remember(this.model.hash(this.state));
      let taken = isNew && this.takeAfter(NONE);
      while (!taken) {
        this.noteHowFar();
        const undone = this.undo();
        if (undone === NONE) return this.result('invalid');
        taken = this.takeAfter(this.rank[undone]!);
      }
      if (this.steps > this.budget.steps) return this.result('unknown');
      if (this.configurations.count > this.budget.configurations) return this.result('unknown');
    }
  }

  /** Takes all steps that need no alternative. */
  private takeForced(): void {
    for (let n = this.events.first; n !== NONE; ) {
      const after = this.isForced(n) ? this.step(n) : undefined;
      if (after !== undefined) this.put(n, after, true);
      // From the first again: what was not possible before may be so now.
      n = after !== undefined ? this.events.first : this.events.after(n);
    }
  }

  /**
   * Whether a step, if it can be taken, can be taken at once, whatever order explains the rest.
   *
   * A refusal changes nothing, so it may as well come first. An end makes the lock freer, which contradicts only the tries
   * that were refused: when none of them is left, it too may come first, and one of unknown outcome may take effect.
   */
  private isForced(n: number): boolean {
    if (this.timed) return false;
    return this.kind[n] === KIND.refusal || (this.kind[n] === KIND.release && this.refusalsLeft === 0);
  }

  /**
   * Takes the possible step of the lowest rank above this: who answered first was likely first. Among fifty who wait for a
   * lock, the order of their calls would be wrong nearly every time.
   */
  private takeAfter(rank: number): boolean {
    let [soonest, after]: [number, State | undefined] = [NONE, undefined];
    for (let n = this.events.first; n !== NONE; n = this.events.after(n)) {
      const isSooner = this.rank[n]! > rank && (soonest === NONE || this.rank[n]! < this.rank[soonest]!);
      // One that had to be taken and is still here is impossible.
      const state = isSooner && !this.isForced(n) ? this.step(n) : undefined;
      if (state !== undefined) [soonest, after] = [n, state];
    }
    if (after !== undefined) this.put(soonest, after, false);
    return after !== undefined;
  }

  /** The state after this operation; undefined where it cannot take effect now. */
  private step(n: number): State | undefined {
    const follows = this.follows[n]!;
    if (follows !== NONE && !this.configurations.has(this.number[follows]!, false)) return undefined;
    this.steps++;
    return this.model.step(this.state, this.rows[n]!, this.history, this.reading);
  }

  /** Appends it to the order. */
  private put(n: number, after: State, forced: boolean): void {
    this.order.push(n);
    this.before.push(this.state);
    this.forced.push(forced);
    this.state = after;
    this.events.lift(n, this.unknown[n] === 0);
    this.configurations.add(this.number[n]!, this.unknown[n] === 1);
    this.count(n, -1);
  }

  /** Back to before the last step that had alternatives: gives that step, or NONE. */
  private undo(): number {
    while (this.order.length > 0) {
      const n = this.order.pop()!;
      this.state = this.before.pop()!;
      this.events.unlift(n, this.unknown[n] === 0);
      this.configurations.remove(this.number[n]!, this.unknown[n] === 1);
      this.count(n, +1);
      if (!this.forced.pop()!) return n;
    }
    return NONE;
  }

  private count(n: number, by: number): void {
    if (this.unknown[n] === 0) this.completedLeft += by;
    if (this.kind[n] === KIND.refusal) this.refusalsLeft += by;
  }

  private noteHowFar(): void {
    if (this.order.length <= this.reached) return;
    this.reached = this.order.length;
    const { operations: ops } = this.history;
    const next = this.rows[this.events.firstReturned]!;
    const what = ops.op[next] === OP.acquire ? 'acquire' : 'release';
    const where = `${ops.clients[ops.client[next]!]}'s ${what} at line ${ops.invokeLine[next]}`;
    this.furthest = `${where}, the lock ${this.model.describe(this.state, this.history)}`;
  }

  private result(verdict: SearchResult['verdict']): SearchResult {
    const { steps } = this;
    const reached = Math.max(this.reached, this.order.length);
    if (verdict === 'invalid') return { verdict, reached, steps };
    if (verdict === 'valid')
      return { verdict, reached, steps, order: Int32Array.from(this.order, (n) => this.rows[n]!) };
    const spent = `${steps} steps and ${this.configurations.count} configurations`;
    const far = this.furthest ? ` and stopped before ${this.furthest}` : '';
    const note = `gave up after ${spent}: the best order explained ${reached} of ${this.rows.length} operations${far}`;
    return { verdict, reached, steps, note };
  }

  private kinds(): Uint8Array {
    const { operations: ops } = this.history;
    const succeeded = releasedHolds(this.history);
    return Uint8Array.from(this.rows, (row) => {
      const failed = ops.outcome[row] === OUTCOME.fail;
      if (ops.op[row] === OP.acquire) return failed ? KIND.refusal : KIND.acquire;
      if (!failed) return KIND.release;
      // c1's release succeeds while another of the same hold is answered "not yours": taken first, that one would end the
      // hold and leave the successful one nothing to end.
      return succeeded.has(ops.hold[row]!) ? KIND.idleRelease : KIND.release;
    });
  }

  private knownAcquires(): Int32Array {
    const { operations: ops } = this.history;
    const releases = this.rows.filter((row) => ops.op[row] === OP.release && ops.outcome[row] === OUTCOME.fail);
    const named = new Set(releases.map((row) => ops.hold[row]!));
    const place = new Map<number, number>();
    this.rows.forEach((row, n) => {
      if (named.has(row) && ops.outcome[row] === OUTCOME.ok) place.set(row, n);
    });
    const isDenied = (row: number) => ops.op[row] === OP.release && ops.outcome[row] === OUTCOME.fail;
    return Int32Array.from(this.rows, (row) => (isDenied(row) ? (place.get(ops.hold[row]!) ?? NONE) : NONE));
  }
}

/** Infinity equals itself. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

/**
 * The calls and returns that are left, in the order of time; a call stands before a return of the same instant, since equal
 * stamps count as concurrent. Operations whose return is Infinity have none here. Taking one out and putting it back, last
 * out first in, costs a few writes.
 */
class EventList {
  /** Calls are known by the operation's number, returns by that plus `count`; after them come both ends. */
  private readonly next: Int32Array;
  private readonly previous: Int32Array;
  private readonly count: number;

  /** `callNs` in ascending order; `byReturn` has the operations in the order of `returnNs`. */
  constructor(callNs: Float64Array, returnNs: Float64Array, byReturn: Int32Array) {
    this.count = callNs.length;
    this.next = new Int32Array(2 * this.count + 1);
    this.previous = new Int32Array(2 * this.count + 1);
    let last = this.end;
    const append = (event: number) => {
      this.next[last] = event;
      this.previous[event] = last;
      last = event;
    };
    let returned = 0;
    for (let n = 0; n < this.count; n++) {
      for (; returned < byReturn.length && returnNs[byReturn[returned]!]! < callNs[n]!; returned++) {
        append(this.count + byReturn[returned]!);
      }
      append(n);
    }
    for (; returned < byReturn.length && returnNs[byReturn[returned]!]! < Number.POSITIVE_INFINITY; returned++) {
      append(this.count + byReturn[returned]!);
    }
    append(this.end);
  }

  /** The first operation that was called before any that is left returned; NONE. */
  get first(): number {
    return this.after(this.end);
  }

  /** The next such operation. */
  after(n: number): number {
    const event = this.next[n]!;
    return event < this.count ? event : NONE;
  }

  /** The operation that returns first of those that are left; there must be one. */
  get firstReturned(): number {
    let event = this.next[this.end]!;
    while (event < this.count) event = this.next[event]!;
    return event - this.count;
  }

  lift(n: number, returns: boolean): void {
    if (returns) this.unlink(n + this.count);
    this.unlink(n);
  }

  unlift(n: number, returns: boolean): void {
    this.link(n);
    if (returns) this.link(n + this.count);
  }

  /** Both ends of the list: it is a ring. */
  private get end(): number {
    return 2 * this.count;
  }

  private unlink(event: number): void {
    this.next[this.previous[event]!] = this.next[event]!;
    this.previous[this.next[event]!] = this.previous[event]!;
  }

  private link(event: number): void {
    this.next[this.previous[event]!] = event;
    this.previous[this.next[event]!] = event;
  }
}

/**
 * What became of one key of one server, change by change, and what that says: who had it when, what a command did, what
 * removed what it had stored.
 */
import type { ServerClock } from './server-clock.js';
import { type Held, type HeldParts, type Origin, partOf, type StoredState, stateBy, UNKNOWN } from './state.js';
import { and, either, type Truth, truth } from './truth.js';

/** Something that may have changed a key, in the server's own order. */
export interface Change {
  /**
   * A `command`; the key had run out (`expired`), of which the line after it tells; it was `evicted`; a `sample` told more than
   * was known; or there was a `gap`: nothing was seen for a while, or the data may have been replaced.
   */
  readonly how: 'command' | 'expired' | 'evicted' | 'sample' | 'gap';
  /** Line of observations.jsonl that shows it. */
  readonly line: number;
  /** When the harness read that line; what it shows was so by then. ns since the epoch. */
  readonly atNs: number;
  /** It did not happen before this. */
  readonly ranFromNs: number;
  /** Of a command. */
  readonly by?: Origin;
  /** Of a key that may have expired while the server's clock ran ahead, at a moment of which no line tells: up to this. */
  readonly clockMs?: number;
  before: StoredState;
  after: StoredState;
  /**
   * Whether a command did what it was to do with this key: stored it, removed it, prolonged it. `no`: a condition was not met, it
   * was an error, or there was nothing to do it to.
   */
  applied: Truth;
  /** What was to be there after a command that did not apply, or of which it was not known whether it would. */
  readonly wanted?: StoredState;
  /** Whether it was a command that does nothing to what is there: SET NX and its kin. */
  readonly onlyNew?: boolean;
}

/** An answer, and the lines that show it. */
export interface Answer {
  truth: Truth;
  lines: number[];
}

/** Whether a key names this owner: as its string, or as a field, member or item. */
export function stores({ exists, held }: StoredState, owner: string): Truth {
  if (exists === 'no') return 'no';
  return held ? and(holds(held, owner), exists) : 'unknown';
}

function holds(held: Held, owner: string): Truth {
  if (held.type === 'string') return held.value === undefined ? 'unknown' : truth(held.value === owner);
  if (held.type === 'list') return held.items ? truth(held.items.some(({ value }) => value === owner)) : 'unknown';
  return partOf(held, owner).there;
}

/** Which owners a command stored, or would have. */
export function ownersBy({ held }: StoredState, line: number): string[] {
  if (held?.type === 'string') return held.by?.line === line && held.value !== undefined ? [held.value] : [];
  if (held?.type === 'list') return held.items?.filter(({ by }) => by?.line === line).map(({ value }) => value) ?? [];
  return [...(held?.parts ?? [])].filter(([, { by }]) => by?.line === line).map(([name]) => name);
}

/** Which command stored this owner there, where one did. */
export function storedBy({ held }: StoredState, owner: string): Origin | undefined {
  if (held?.type === 'string') return held.value === owner ? held.by : undefined;
  if (held?.type === 'list') return held.items?.find(({ value }) => value === owner)?.by;
  return held?.parts.get(owner)?.by;
}

/** All owners that a key is known to name, or may. */
export function ownersOf({ exists, held }: StoredState): string[] {
  if (exists === 'no' || !held) return [];
  if (held.type === 'string') return held.value === undefined ? [] : [held.value];
  if (held.type === 'list') return held.items?.map(({ value }) => value) ?? [];
  return [...held.parts].filter(([, { there }]) => there !== 'no').map(([name]) => name);
}

export function partsOf(state: StoredState): HeldParts | undefined {
  const { held } = state;
  return held && held.type !== 'string' && held.type !== 'list' ? held : undefined;
}

/** The last of the changes before a place in their list that changed the time of what is there. */
export function lastTimed(list: readonly Change[], end: number): Change | undefined {
  for (let n = end - 1; n >= 0; n--) if (list[n]!.before.expires !== list[n]!.after.expires) return list[n];
  return undefined;
}

/** A time of one state, from one change to the next; `from` and `until` bound when that was, ns since the epoch. */
export interface StateSpan {
  readonly state: StoredState;
  readonly beganNs: Bounds;
  /** Infinity: never. */
  readonly endedNs: Bounds;
  /** The change that began it; undefined: it was so before anything was seen. */
  readonly change: Change | undefined;
}

export interface Bounds {
  readonly from: number;
  readonly until: number;
}

export class KeyChanges {
  /** In the server's own order. */
  readonly list: Change[] = [];

  constructor(private readonly clock: ServerClock) {}

  /** The states that the key may have had at some time between the two instants, in order. */
  spans(fromNs: number, untilNs: number): StateSpan[] {
    const spans: StateSpan[] = [];
    for (let at = firstIndex(this.list.length, (n) => this.list[n]!.atNs >= fromNs) - 1; at < this.list.length; at++) {
      const change = this.list[at];
      const beganNs = change ? { from: change.ranFromNs, until: change.atNs } : EVER;
      if (beganNs.from > untilNs) break;
      const next = this.list[at + 1];
      const endedNs = next ? { from: next.ranFromNs, until: next.atNs } : FOREVER;
      spans.push({ state: change?.after ?? this.list[0]?.before ?? UNKNOWN, beganNs, endedNs, change });
    }
    return spans;
  }

  /** Whether it named this owner at that instant. */
  storedAt(owner: string, atNs: number): Answer {
    const truths = this.spans(atNs, atNs).map((span) => this.storesAt(span, owner, atNs));
    return { truth: truths.length > 0 ? truths.reduce(either) : 'unknown', lines: this.linesOf(owner, atNs, atNs) };
  }

  /** Whether it named this owner at some instant between the two: `no` is said only where it did at none. */
  everStored(owner: string, fromNs: number, untilNs: number): Answer {
    let truth: Truth = 'no';
    for (const span of this.spans(fromNs, untilNs)) {
      if (this.storesAt(span, owner, Math.max(fromNs, span.beganNs.from)) === 'no') continue;
      // An instant at which this was the state for certain.
      const sureNs = Math.max(fromNs, span.beganNs.until);
      const isSure = sureNs <= Math.min(untilNs, span.endedNs.from);
      if (isSure && this.storesAt(span, owner, sureNs) === 'yes') truth = 'yes';
      else if (truth === 'no') truth = 'unknown';
    }
    return { truth, lines: this.linesOf(owner, fromNs, untilNs) };
  }

  /** The first command of this line that concerned the key, and what it did. */
  ofLine(line: number): Change | undefined {
    for (let at = this.firstFrom(line); this.list[at]?.line === line; at++)
      if (this.list[at]!.how === 'command') return this.list[at];
    return undefined;
  }

  /**
   * The first change after a line by which this owner is not certainly stored any more. Its `how` and `by` say what removed it;
   * whether that is certain, `stores(change.after, owner)` says.
   */
  lossOf(owner: string, afterLine: number): Change | undefined {
    for (let at = this.firstFrom(afterLine + 1); at < this.list.length; at++) {
      const change = this.list[at]!;
      if (stores(change.before, owner) === 'yes' && stores(change.after, owner) !== 'yes') return change;
    }
    return undefined;
  }

  /** The first place in the list with this line or a later one. */
  firstFrom(line: number): number {
    return firstIndex(this.list.length, (at) => this.list[at]!.line >= line);
  }

  /** What is removed by time is removed at last. */
  private storesAt({ state }: StateSpan, owner: string, atNs: number): Truth {
    return stores(stateBy(state, this.clock.at(atNs)), owner);
  }

  private linesOf(owner: string, fromNs: number, untilNs: number): number[] {
    const spans = this.spans(fromNs, untilNs);
    const shown = spans.filter(({ state }) => stores(state, owner) !== 'no');
    return (shown.length > 0 ? shown : spans).flatMap(({ change }) => (change ? [change.line] : []));
  }
}

const EVER: Bounds = { from: Number.NEGATIVE_INFINITY, until: Number.NEGATIVE_INFINITY };
const FOREVER: Bounds = { from: Number.POSITIVE_INFINITY, until: Number.POSITIVE_INFINITY };

function firstIndex(length: number, reached: (at: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

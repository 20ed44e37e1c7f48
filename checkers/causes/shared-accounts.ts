/**
 * What became of a number that holders are counted in: since when it was there, when it was gone, and what each client had taken of
 * it and given back by when.
 *
 * Every grant of a run may be asked about, and a run may have changed its number a hundred thousand times: so it is all added up
 * once, and a question costs a search for its place.
 */
import { type Change, ownersBy } from '../../harness/record/facts/commands/changes.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { countIn } from './token-counts.js';

/** The number of holders, or of what is free for them: it rises or falls with a grant. */
export type Direction = 1 | -1;

/** How the number counts. */
export interface Count {
  readonly direction: Direction;
  /** What it stands for that there is no number: all permits are free, or nobody holds. */
  readonly absent: number;
}

/** NaN: it is none, or not known; `absent`: what it stands for that there is none. */
export function numberIn(state: Change['after'], absent = 0): number {
  if (state.exists === 'no') return absent;
  const text = state.exists === 'yes' ? countIn(state) : undefined;
  return /^-?\d+$/.test(text ?? '') ? Number(text) : Number.NaN;
}

/** What a client took and gave back in some stretch of the changes. */
export interface Account {
  readonly taken: number;
  readonly returned: number;
  /** How it gave back last, if it did. */
  readonly last?: Change;
}

const made = new WeakMap<readonly Change[], Map<Direction, Accounts>>();

/** Made once for each number of a run, of which the list has all changes. */
export function accountsOf(list: readonly Change[], count: Count): Accounts {
  const known = made.get(list) ?? new Map<Direction, Accounts>();
  made.set(list, known);
  const accounts = known.get(count.direction) ?? new Accounts(list, count);
  known.set(count.direction, accounts);
  return accounts;
}

/** A client's steps: where they stand in the list, and how many of them up to each were returns. */
interface Steps {
  readonly at: number[];
  readonly returned: number[];
}

export class Accounts {
  private readonly clients = new Map<string, Steps>();
  /** Changes of which it cannot be told whose they were, or how much they changed. */
  private readonly untold: number[] = [];
  /** What strangers gave back: where that stands in the list, and how many up to each. */
  private readonly strangers: Steps = { at: [], returned: [] };
  private readonly since: Int32Array;
  private readonly gone: Int32Array;

  constructor(
    private readonly list: readonly Change[],
    count: Count,
  ) {
    this.since = new Int32Array(list.length);
    this.gone = new Int32Array(list.length);
    let since = -1;
    for (const [at, change] of list.entries()) {
      if (change.before.exists === 'no') since = at;
      this.since[at] = since;
      this.add(at, change, count);
    }
    let gone = list.length;
    for (let at = list.length - 1; at >= 0; at--) {
      this.gone[at] = gone;
      if (list[at]!.after.exists === 'no') gone = at;
    }
  }

  /** Which change, up to this one, found no number last; -1: none did. */
  madeAt(at: number): number {
    return this.since[at]!;
  }

  /** Which change after this one left no number first; the count of changes where none did. */
  goneAfter(at: number): number {
    return this.gone[at]!;
  }

  /** By client, by who came first; undefined: it cannot be told whose all of it was. `end`: the first change that is not meant. */
  between(from: number, end: number): ReadonlyMap<string, Account> | undefined {
    if (placeOf(this.untold, from) < placeOf(this.untold, end)) return undefined;
    const accounts: { client: string; first: number; account: Account }[] = [];
    for (const [client, { at, returned }] of this.clients) {
      const [low, high] = [placeOf(at, from), placeOf(at, end)];
      if (low === high) continue;
      const [before, by] = [returned[low - 1] ?? 0, returned[high - 1]!];
      const back = by - before;
      // The last return is where their number came to be what it is at the end.
      const last = this.list[at[placeOf(returned, by)]!];
      accounts.push({ client, first: at[low]!, account: { taken: high - low - back, returned: back, last } });
    }
    accounts.sort((a, b) => a.first - b.first);
    return new Map(accounts.map(({ client, account }) => [client, account]));
  }

  /** Whether a client may have taken more in that stretch than it gave back, be it by something of which it is not known whose it was. */
  mayCount(client: string, from: number, end: number): boolean {
    const untold = this.untold.slice(placeOf(this.untold, from), placeOf(this.untold, end));
    if (untold.some((at) => (this.list[at]!.by?.client ?? client) === client)) return true;
    const { at, returned } = this.clients.get(client) ?? { at: [], returned: [] };
    const [low, high] = [placeOf(at, from), placeOf(at, end)];
    return high - low > 2 * ((returned[high - 1] ?? 0) - (returned[low - 1] ?? 0));
  }

  /** How many strangers gave back in that stretch, which nobody had been counted in for. */
  byStrangers(from: number, end: number): number {
    const { at, returned } = this.strangers;
    return (returned[placeOf(at, end) - 1] ?? 0) - (returned[placeOf(at, from) - 1] ?? 0);
  }

  /**
   * How many a client took of the numbers before a change, and did not give back to them; undefined: it may have taken more in
   * something of which it is not known what it was, and which came after `sinceNs`. What it gave back to one that had not counted it
   * takes nothing from others.
   */
  leftOf(client: string, end: number, mayHaveTaken: (untold: Change, sinceNs: number) => boolean): number | undefined {
    const untold = this.untold.slice(0, placeOf(this.untold, end));
    // A look shows what came to pass since what was known before it.
    const sinceNs = (at: number) => this.list[at - 1]?.ranFromNs ?? Number.NEGATIVE_INFINITY;
    if (untold.some((at) => mayHaveTaken(this.list[at]!, sinceNs(at)))) return undefined;
    const { at, returned } = this.clients.get(client) ?? { at: [], returned: [] };
    let [all, ofOne] = [0, 0];
    const high = placeOf(at, end);
    for (let n = 0; n < high; n++) {
      if (n > 0 && this.since[at[n]!] !== this.since[at[n - 1]!]) {
        all += Math.max(0, ofOne);
        ofOne = 0;
      }
      ofOne += returned[n]! > (returned[n - 1] ?? 0) ? -1 : 1;
    }
    return all + Math.max(0, ofOne);
  }

  private add(at: number, change: Change, count: Count): void {
    const step = countStep(change, count);
    // What time took, or may have, nobody gave back.
    if (change.how === 'expired' || (step === 0 && !isStoredOver(change))) return;
    const client = change.by?.client;
    // What a stranger gives back is nobody's, and makes nobody's count any less wrong.
    if (client === undefined && change.how === 'command' && step < 0) {
      this.strangers.at.push(at);
      this.strangers.returned.push((this.strangers.returned.at(-1) ?? 0) - step);
      return;
    }
    if (client === undefined || Math.abs(step) !== 1 || mayHaveReckonedBefore(change)) {
      this.untold.push(at);
      return;
    }
    const steps = this.clients.get(client) ?? { at: [], returned: [] };
    this.clients.set(client, steps);
    steps.at.push(at);
    steps.returned.push((steps.returned.at(-1) ?? 0) + (step < 0 ? 1 : 0));
  }
}

/**
 * Whether a client put a number over another that it may have reckoned from an earlier one, and nobody knows what it meant to count. Say
 * c2 reads that 2 are free, c3 and c4 take these, and c2 sets the number to 1: it took one, and the number rose. Had c3 alone taken one,
 * the number would have been 1 already.
 */
function mayHaveReckonedBefore({ by, before, after }: Change): boolean {
  return by !== undefined && !by.script && !COUNTS.has(by.name) && before.exists !== 'no' && after.exists !== 'no';
}

/** Whether a client so put a number over the same one. */
function isStoredOver(change: Change): boolean {
  return mayHaveReckonedBefore(change) && ownersBy(change.after, change.line).length > 0;
}

/** They change a number by what they say, whatever it is. */
const COUNTS: ReadonlySet<string> = new Set(['INCR', 'INCRBY', 'DECR', 'DECRBY']);

/** Where in rising numbers the first is that is no less. */
function placeOf(rising: readonly number[], least: number): number {
  return firstIndex(rising.length, (n) => rising[n]! >= least);
}

/** How many were counted in; below 0: out; NaN: it cannot be told. */
export function countStep({ before, after }: Change, { direction, absent }: Count): number {
  return (numberIn(after, absent) - numberIn(before, absent)) * direction;
}

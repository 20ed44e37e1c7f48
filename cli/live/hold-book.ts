/**
 * Who holds which lock, and which holds have overlapped, while a run goes on.
 *
 * Promises: after any event, what it says is what `checkers/` would make of the history so far: holds are drawn by the
 * rules of harness/record/facts/holds.ts, and pairs are classified by harness/record/facts/overlaps.ts itself. A few steps for each event, and
 * memory that does not grow with the run.
 *
 * Excludes: doubts (a stalled harness, a stepped clock), causes, stamps that cannot be true. So it is preliminary: the
 * checkers decide. Where one hold overlaps more than `MOST_MET` others, those beyond are classified as soon as they end;
 * from `MOST_COUNTED` overlaps on, no more are counted.
 */
import { overlapsOf } from '../../harness/record/facts/overlaps.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';

/** An overlap of which the bounds are known. */
export interface EndedOverlap {
  class: 'exclusion' | 'stale';
  key: string;
  /** The one who had it first. */
  first: string;
  second: string;
  lengthNs: number;
}

export interface Holder {
  client: string;
  fromNs: number;
  leaseEndNs: number;
  /** Set where the release was sent and not answered: whether it still holds is not known. */
  releaseSentNs?: number;
}

/** One key as it stands. */
export interface KeyState {
  key: string;
  /** In the order in which they came. */
  holders: Holder[];
  /** Acquires that are on their way. */
  waiting: number;
  /** Set while two hold it at once: the worst that is true of any two of them. */
  contested?: 'exclusion' | 'stale';
}

export interface OverlapCounts {
  exclusion: number;
  stale: number;
  /** There were so many that they are counted no further: a lock that never excludes must not slow the run down. */
  more?: true;
}

export const MOST_COUNTED = 1_000;
const MOST_MET = 64;
/** Ended holds kept for a grant that is recorded late. */
const RECENT = 16;
/** Of so many at once, the first ones show well enough of which class it is. */
const MOST_COMPARED = 8;

type Invoke = Extract<HistoryEvent, { type: 'invoke' }>;
type Completion = Extract<HistoryEvent, { type: 'ok' | 'fail' | 'info' }>;

/** A hold of which the end is not settled yet. */
interface Open {
  readonly hold: Hold;
  readonly book: Key;
  /** An extension on its way, or of unknown outcome, counts against the lease only. */
  extending: number;
  doubtfulLeaseEndNs: number;
  releaseSentNs?: number;
  lostNs: number;
  /** Ended holds that overlap this one, to be classified when this one has ended too. */
  met: Hold[];
}

interface Key {
  readonly name: string;
  readonly open: Set<Open>;
  recent: Hold[];
  waiting: number;
}

interface Client {
  /** By id. A client does one thing at a time; an operation is here until it is completed. */
  readonly running: Map<number, Invoke>;
  readonly holds: Map<number, Open>;
}

export class HoldBook {
  private readonly keys = new Map<string, Key>();
  private readonly clients = new Map<string, Client>();
  private readonly ended = { exclusion: 0, stale: 0 };

  /** `onOverlap` hears of every overlap once both of its bounds are known. */
  constructor(
    keys: readonly string[],
    private readonly onOverlap: (overlap: EndedOverlap) => void = () => {},
  ) {
    for (const key of keys) this.key(key);
  }

  event(event: HistoryEvent): void {
    if (event.type === 'invoke') this.invoked(event);
    else if (event.type === 'ok' || event.type === 'fail' || event.type === 'info') this.completed(event);
    else if (event.type === 'client-down') this.down(event.client, event.endNs);
    else if (event.type === 'renewed' || event.type === 'lost') {
      const open = this.clients.get(event.client)?.holds.get(event.hold);
      if (!open) return;
      if (event.type === 'renewed') renew(open, event.sentNs, event.leaseMs);
      else open.lostNs = Math.min(open.lostNs, event.clientNs);
    }
  }

  /** Every key, in the order in which the run named them. */
  states(nowNs: number): KeyState[] {
    return [...this.keys.values()].map((key) => stateOf(key, nowNs));
  }

  /** Of what is known by now, overlaps that still last included. */
  overlaps(nowNs: number): OverlapCounts {
    if (this.isFull) return { ...this.ended, more: true };
    const counts = { ...this.ended };
    for (const { open } of this.keys.values()) {
      for (const one of open) for (const other of one.met) count(counts, overlapOf(asOf(one, nowNs), other)?.class);
      if (open.size > 1) for (const overlap of overlapsAmong(open, nowNs)) count(counts, overlap.class);
    }
    return counts;
  }

  private get isFull(): boolean {
    return this.ended.exclusion + this.ended.stale >= MOST_COUNTED;
  }

  private invoked(invoke: Invoke): void {
    if (invoke.op === 'clock') return;
    const client = this.client(invoke.client);
    client.running.set(invoke.id, invoke);
    if (invoke.op === 'acquire') {
      this.key(invoke.key).waiting++;
      return;
    }
    const open = invoke.hold === undefined ? undefined : client.holds.get(invoke.hold);
    if (!open) return;
    if (invoke.op === 'release') open.releaseSentNs ??= invoke.atNs;
    else open.extending = invoke.atNs + (invoke.leaseMs ?? 0) * 1e6;
  }

  private completed(completion: Completion): void {
    const client = this.clients.get(completion.client);
    const invoke = client?.running.get(completion.id);
    if (!client || !invoke) return;
    client.running.delete(completion.id);
    if (invoke.op === 'acquire') {
      this.key(invoke.key).waiting--;
      if (completion.type === 'ok') client.holds.set(invoke.id, this.grant(invoke, completion));
      return;
    }
    const open = invoke.hold === undefined ? undefined : client.holds.get(invoke.hold);
    if (!open) return;
    if (invoke.op === 'release') {
      client.holds.delete(invoke.hold!);
      this.settle(open, Math.min(completion.beganNs ?? invoke.atNs, open.lostNs));
      return;
    }
    open.extending = Number.POSITIVE_INFINITY;
    const sentNs = completion.sentNs ?? completion.beganNs ?? invoke.atNs;
    const leaseMs = invoke.leaseMs ?? 0;
    if (completion.type === 'ok') renew(open, sentNs, leaseMs);
    if (completion.type === 'info') open.doubtfulLeaseEndNs = Math.min(open.doubtfulLeaseEndNs, sentNs + leaseMs * 1e6);
  }

  private grant(invoke: Invoke, ok: Completion): Open {
    const book = this.key(invoke.key);
    const leaseMs = invoke.leaseMs ?? 0;
    const fromNs = ok.endedNs ?? ok.atNs;
    const grantSentNs = ok.grantSentNs ?? ok.beganNs ?? invoke.atNs;
    const hold: Hold = {
      client: invoke.client,
      key: invoke.key,
      id: invoke.id,
      fromNs,
      untilNs: fromNs,
      endedBy: 'history-end',
      leaseEndNs: grantSentNs + leaseMs * 1e6,
      grantSentNs,
      leaseMs,
      evidence: [invoke.i, ok.i],
    };
    const open: Open = {
      hold,
      book,
      extending: Number.POSITIVE_INFINITY,
      doubtfulLeaseEndNs: Number.POSITIVE_INFINITY,
      lostNs: Number.POSITIVE_INFINITY,
      met: book.recent.filter((other) => other.untilNs > fromNs && other.client !== hold.client),
    };
    book.open.add(open);
    return open;
  }

  private down(name: string, endNs: number): void {
    const client = this.clients.get(name);
    if (!client) return;
    this.clients.delete(name);
    for (const invoke of client.running.values()) if (invoke.op === 'acquire') this.key(invoke.key).waiting--;
    for (const open of client.holds.values())
      this.settle(open, Math.min(open.releaseSentNs ?? endNs, open.lostNs, endNs));
  }

  /** The hold's end is known: classifies it with those that ended before it, and hands it to those that still run. */
  private settle(open: Open, untilNs: number): void {
    const { book, met } = open;
    const hold = drawn(open, untilNs);
    book.open.delete(open);
    book.recent.push(hold);
    if (book.recent.length > RECENT) book.recent.shift();
    for (const other of met) this.found(hold, other);
    if (this.isFull) return;
    for (const other of book.open) {
      if (other.hold.client === hold.client || other.hold.fromNs >= hold.untilNs) continue;
      if (other.met.length < MOST_MET) other.met.push(hold);
      else this.found(asOf(other, hold.untilNs), hold);
    }
  }

  private found(a: Hold, b: Hold): void {
    const overlap = this.isFull ? undefined : overlapOf(a, b);
    if (!overlap) return;
    count(this.ended, overlap.class);
    this.onOverlap({
      class: overlap.class,
      key: overlap.first.key,
      first: overlap.first.client,
      second: overlap.second.client,
      lengthNs: overlap.untilNs - overlap.fromNs,
    });
  }

  private key(name: string): Key {
    const known = this.keys.get(name);
    if (known) return known;
    const key: Key = { name, open: new Set(), recent: [], waiting: 0 };
    this.keys.set(name, key);
    return key;
  }

  private client(name: string): Client {
    const known = this.clients.get(name);
    if (known) return known;
    const client: Client = { running: new Map(), holds: new Map() };
    this.clients.set(name, client);
    return client;
  }
}

/** A renewal that was sent after the lease had run out does not mend the gap; later ones do not either. */
function renew(open: Open, sentNs: number, leaseMs: number): void {
  const { hold } = open;
  if (sentNs <= hold.leaseEndNs) hold.leaseEndNs = sentNs + leaseMs * 1e6;
}

/** The hold as it is if it ended at `untilNs`. */
function drawn({ hold, doubtfulLeaseEndNs, extending }: Open, untilNs: number): Hold {
  return {
    ...hold,
    untilNs: Math.max(hold.fromNs, untilNs),
    leaseEndNs: Math.min(hold.leaseEndNs, doubtfulLeaseEndNs, extending),
  };
}

/** What is proven of a running hold: until now, or until its release was sent, or it was lost. */
/** Two clients at once are shown as contesting a key, whatever the lock allows: the verdict is made from the files. */
const MUTEX = { kind: 'mutex' } as const;

function asOf(open: Open, nowNs: number): Hold {
  return drawn(open, Math.min(nowNs, open.releaseSentNs ?? nowNs, open.lostNs));
}

function stateOf(key: Key, nowNs: number): KeyState {
  const state: KeyState = { key: key.name, holders: [], waiting: key.waiting };
  const running = [...key.open].filter((open) => open.lostNs > nowNs);
  for (const open of running) {
    const { client, fromNs, leaseEndNs } = asOf(open, nowNs);
    state.holders.push({
      client,
      fromNs,
      leaseEndNs,
      ...(open.releaseSentNs !== undefined && { releaseSentNs: open.releaseSentNs }),
    });
  }
  const certain = running.filter((open) => open.releaseSentNs === undefined);
  if (certain.length < 2) return state;
  const classes = overlapsAmong(certain.slice(0, MOST_COMPARED), nowNs).map((overlap) => overlap.class);
  if (classes.includes('exclusion')) state.contested = 'exclusion';
  else if (classes.length > 0) state.contested = 'stale';
  return state;
}

function overlapsAmong(open: Iterable<Open>, nowNs: number) {
  const byClient = new Map<string, Hold>();
  for (const one of open) if (!byClient.has(one.hold.client)) byClient.set(one.hold.client, asOf(one, nowNs));
  return overlapsOf([...byClient.values()], MUTEX);
}

function overlapOf(a: Hold, b: Hold) {
  if (a.client === b.client || a.untilNs <= b.fromNs || b.untilNs <= a.fromNs) return undefined;
  return overlapsOf([a, b], MUTEX)[0];
}

function count(counts: OverlapCounts, found: 'exclusion' | 'stale' | undefined): void {
  if (found) counts[found]++;
}

/**
 * Who holds which lock while a run goes on: the one ledger that the scheduler, the faults and the live view look at. It is fed
 * every event as it is recorded.
 *
 * Promises: after each event, the holds that it has open and those that it has told as ended are what `holds.ts` makes of the
 * history so far (a property test holds the two together). A step costs as much as there are holds open, and of a hold that
 * is over nothing is kept.
 *
 * Excludes: histories that a run of this tool cannot record. A client does one thing at a time, and its stamps can be true:
 * the scheduler refuses others before they are recorded, whereas `holds.ts` also has to read what was imported.
 */
import type { HistoryEvent } from '../../vocabulary/history.js';
import type { LeaseKind, LockMode } from '../../vocabulary/protocol.js';
import type { Hold, HoldLedger, OpenHold } from '../../vocabulary/verdict.js';
import { wasGivenUp } from './given-up.js';
import { grantedMs } from './lease-kind.js';
import { type LeaseTerm, provenBounds, saidToEndNs } from './renewals.js';

type Invoke = Extract<HistoryEvent, { type: 'invoke' }>;
type Completion = Extract<HistoryEvent, { type: 'ok' | 'fail' | 'info' }>;

export interface LedgerListener {
  granted?(hold: OpenHold): void;
  /** What became of a hold, once nothing can change it any more. */
  ended?(hold: Hold, was: OpenHold): void;
}

export class Ledger implements HoldLedger {
  /** Operations on their way that a hold may begin or end with, or that may renew it; by client and id. */
  private readonly running = new Map<string, Invoke>();
  /** In the order of their grants, by client and the id of the acquire. */
  private readonly holds = new Map<string, Entry>();
  /** When clients ended that still have an operation on its way: its answer may have been on its way as well. */
  private readonly dying = new Map<string, number>();
  private readonly waitingBy = new Map<string, number>();
  private readonly listeners = new Set<LedgerListener>();
  private leaseKind: LeaseKind | undefined;

  event(event: HistoryEvent): void {
    if (event.type === 'invoke') this.invoked(event);
    else if (event.type === 'ok' || event.type === 'fail' || event.type === 'info') this.completed(event);
    else if (event.type === 'client-up') this.leaseKind ??= event.lease ?? 'timed';
    else if (event.type === 'client-down') this.down(event.client, event.endNs);
    else if (event.type === 'renewed') {
      this.entry(event.client, event.hold)?.renew({ sentNs: event.sentNs, leaseMs: event.leaseMs, rank: TOLD });
    } else if (event.type === 'lost') {
      this.entry(event.client, event.hold)?.lost(event.clientNs);
    }
  }

  /** Called from now on, after the ledger has taken the event in. Call the result to stop. */
  subscribe(listener: LedgerListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  open(client?: string): OpenHold[] {
    return [...this.holds.values()].filter((hold) => !hold.isDead && (client === undefined || hold.client === client));
  }

  find(client: string, id: number): OpenHold | undefined {
    const hold = this.entry(client, id);
    return hold?.isDead ? undefined : hold;
  }

  onGrant(listener: (hold: OpenHold) => void): () => void {
    return this.subscribe({ granted: listener });
  }

  /** How many acquires of `key` are on their way, of clients that are alive. */
  waiting(key: string): number {
    return this.waitingBy.get(key) ?? 0;
  }

  /** Every hold that may still change, also those of clients that have just ended, as each is proven at `nowNs`. */
  unsettled(nowNs: number): { hold: Hold; open: OpenHold }[] {
    return [...this.holds.values()].map((open) => ({ hold: open.at(nowNs), open }));
  }

  private invoked(invoke: Invoke): void {
    for (const hold of this.holds.values()) if (hold.client === invoke.client) hold.gaveUpNs = Number.POSITIVE_INFINITY;
    if (invoke.op !== 'acquire' && invoke.op !== 'release' && invoke.op !== 'extend') return;
    this.running.set(idOf(invoke.client, invoke.id), invoke);
    if (invoke.op === 'acquire') this.wait(invoke.key, 1);
    const hold = invoke.hold === undefined ? undefined : this.entry(invoke.client, invoke.hold);
    if (invoke.op === 'release') hold?.releasing(invoke.atNs);
    if (invoke.op === 'extend') hold?.extending(invoke);
  }

  private completed(completion: Completion): void {
    const id = idOf(completion.client, completion.id);
    const invoke = this.running.get(id);
    if (!invoke) return;
    this.running.delete(id);
    // A process that cannot tell what came of an operation is told nothing more, and killed.
    const { type, cancelledNs, reason } = completion;
    if (type === 'info' && !wasGivenUp(cancelledNs, reason) && invoke.op !== 'release')
      for (const hold of this.holds.values())
        if (hold.client === invoke.client) hold.gaveUpNs = completion.endedNs ?? Number.POSITIVE_INFINITY;
    if (invoke.op === 'acquire') this.acquired(id, invoke, completion);
    else if (invoke.hold !== undefined) {
      const hold = this.entry(invoke.client, invoke.hold);
      if (invoke.op === 'extend') hold?.extended(invoke, completion);
      else if (hold) {
        hold.released(completion, completion.beganNs ?? invoke.atNs);
        this.settle(hold);
      }
    }
    if (this.dying.has(invoke.client)) this.buryIfIdle(invoke.client);
  }

  private acquired(id: string, invoke: Invoke, completion: Completion): void {
    const endNs = this.dying.get(invoke.client);
    if (endNs === undefined) this.wait(invoke.key, -1);
    if (completion.type !== 'ok') return;
    const granted = new Entry(invoke, completion, endNs, this.leaseKind ?? 'timed');
    // An owner that takes a reentrant lock again sets the expiry of what it holds already; in another mode it may.
    for (const outer of this.holds.values())
      if (outer.client === granted.client && outer.key === granted.key) outer.takenAgain(granted);
    this.holds.set(id, granted);
    for (const listener of [...this.listeners]) listener.granted?.(granted);
  }

  private down(client: string, endNs: number): void {
    for (const invoke of this.running.values())
      if (invoke.client === client && invoke.op === 'acquire') this.wait(invoke.key, -1);
    for (const hold of this.holds.values()) if (hold.client === client) hold.downNs = endNs;
    this.dying.set(client, endNs);
    this.buryIfIdle(client);
  }

  private buryIfIdle(client: string): void {
    for (const invoke of this.running.values()) if (invoke.client === client) return;
    this.dying.delete(client);
    for (const hold of [...this.holds.values()]) if (hold.client === client) this.settle(hold);
  }

  private settle(open: Entry): void {
    if (!this.holds.delete(idOf(open.client, open.id))) return;
    const hold = open.at(Number.POSITIVE_INFINITY);
    for (const listener of [...this.listeners]) listener.ended?.(hold, open);
  }

  private entry(client: string, id: number): Entry | undefined {
    return this.holds.get(idOf(client, id));
  }

  private wait(key: string, more: number): void {
    const waiting = this.waiting(key) + more;
    if (waiting > 0) this.waitingBy.set(key, waiting);
    else this.waitingBy.delete(key);
  }
}

interface LedgerRenewal {
  sentNs: number;
  leaseMs: number;
  saidNs?: number;
  /** Of renewals sent at the same instant, in which order `holds.ts` takes them. */
  rank: number;
  known?: false;
  /** Of a grant within the hold: it renewed it only if the hold was not over by then. */
  withinNs?: number;
  /** As in `Renewal`. */
  inOtherMode?: boolean;
}

const NESTED = 0;
const EXTENDED = 1;
const TOLD = 2;

class Entry implements OpenHold {
  readonly client: string;
  readonly key: string;
  readonly id: number;
  readonly mode?: LockMode;
  readonly invokedNs: number;
  readonly grantedNs: number;
  readonly fromNs: number;
  readonly grantSentNs: number;
  readonly leaseMs: number;
  releaseSentNs?: number;
  lostNs?: number;
  /** When its client said of its last operation that it cannot tell what came of it. */
  gaveUpNs = Number.POSITIVE_INFINITY;
  private readonly told: Pick<Hold, 'token' | 'validForMs'>;
  /** For how long it was granted: `leaseMs`, or without end. */
  private readonly grantedMs: number;
  private readonly saidNs: number;
  private readonly evidence: number[];
  private readonly renewals: LedgerRenewal[] = [];
  private readonly extensions = new Map<number, LedgerRenewal>();
  private releaseBeganNs?: number;
  private releaseAnswer?: Completion['type'];

  constructor(
    invoke: Invoke,
    ok: Completion,
    /** When its client ended, if it has. */
    public downNs: number | undefined,
    leaseKind: LeaseKind,
  ) {
    const { client, key, id, mode, leaseMs = 0 } = invoke;
    this.client = client;
    this.key = key;
    this.id = id;
    if (mode !== undefined) this.mode = mode;
    this.invokedNs = invoke.atNs;
    this.grantedNs = ok.atNs;
    this.fromNs = ok.endedNs ?? ok.atNs;
    this.grantSentNs = ok.grantSentNs ?? ok.beganNs ?? invoke.atNs;
    this.leaseMs = leaseMs;
    this.grantedMs = grantedMs(leaseKind, leaseMs);
    const { token, validForMs } = ok;
    this.told = { ...(token !== undefined && { token }), ...(validForMs !== undefined && { validForMs }) };
    this.saidNs = saidToEndNs(this.term, ok.endedNs ?? this.grantSentNs, validForMs);
    this.evidence = [invoke.i, ok.i];
  }

  private get term(): LeaseTerm {
    return { sentNs: this.grantSentNs, leaseMs: this.grantedMs };
  }

  get isDead(): boolean {
    return this.downNs !== undefined;
  }

  releasing(sentNs: number): void {
    this.releaseSentNs ??= sentNs;
  }

  released({ type }: Completion, beganNs: number): void {
    this.releaseBeganNs = beganNs;
    this.releaseAnswer = type;
  }

  lost(atNs: number): void {
    this.lostNs = Math.min(atNs, this.lostNs ?? atNs);
  }

  extending({ id, atNs, leaseMs = 0 }: Invoke): void {
    this.extensions.set(id, { sentNs: atNs, leaseMs, rank: EXTENDED, known: false });
  }

  extended({ id, atNs, leaseMs = 0 }: Invoke, { type, sentNs, beganNs, endedNs, validForMs }: Completion): void {
    this.extensions.delete(id);
    if (type === 'fail') return;
    const leased = { sentNs: sentNs ?? beganNs ?? atNs, leaseMs };
    const renewal = { ...leased, saidNs: saidToEndNs(leased, endedNs ?? leased.sentNs, validForMs), rank: EXTENDED };
    this.renew(type === 'ok' ? renewal : { ...renewal, known: false });
  }

  takenAgain({ term, saidNs, fromNs, mode }: Entry): void {
    const inOtherMode = (mode === 'read') !== (this.mode === 'read');
    this.renew({ ...term, saidNs, rank: NESTED, withinNs: fromNs, inOtherMode });
  }

  /** Keeps them in the order in which they were sent, which need not be that in which they are heard of. */
  renew(renewal: LedgerRenewal): void {
    const isLater = ({ sentNs, rank }: LedgerRenewal) =>
      sentNs > renewal.sentNs || (sentNs === renewal.sentNs && rank > renewal.rank);
    const at = this.renewals.findLastIndex((other) => !isLater(other));
    this.renewals.splice(at + 1, 0, renewal);
  }

  /** The hold as it is proven at `nowNs`. */
  at(nowNs: number): Hold {
    const { client, key, id, fromNs, grantSentNs, leaseMs } = this;
    const { untilNs, endedBy } = this.end(nowNs);
    const renewals = [...this.renewals, ...this.extensions.values()]
      .filter(({ withinNs }) => withinNs === undefined || untilNs > withinNs)
      .map((renewal) => ({ ...renewal, known: renewal.known ?? true }));
    return {
      client,
      key,
      id,
      fromNs,
      endedBy,
      ...provenBounds({ ...this.term, saidNs: this.saidNs }, { fromNs, untilNs }, renewals),
      grantSentNs,
      leaseMs,
      ...(this.mode && { mode: this.mode }),
      ...this.told,
      evidence: this.evidence,
      ...(this.releaseAnswer && { released: this.releaseAnswer }),
    };
  }

  private end(nowNs: number): Pick<Hold, 'untilNs' | 'endedBy'> {
    const ends = [
      ['release', this.releaseBeganNs ?? this.releaseSentNs],
      ['lost', this.lostNs],
      ['client-down', this.downNs === undefined ? undefined : Math.min(this.downNs, this.gaveUpNs)],
    ] as const;
    const end: Pick<Hold, 'untilNs' | 'endedBy'> = { untilNs: Math.max(this.fromNs, nowNs), endedBy: 'history-end' };
    for (const [endedBy, ns] of ends) {
      if (ns === undefined) continue;
      const untilNs = Math.max(this.fromNs, ns);
      if (untilNs < end.untilNs || (untilNs === end.untilNs && end.endedBy === 'history-end'))
        Object.assign(end, { untilNs, endedBy });
    }
    return end;
  }
}

const idOf = (client: string, id: number) => `${client}/${id}`;

/**
 * What a client process says of its holds without having been asked: which of it is news, whose hold it is about, and who naps until
 * it comes. A notice with a stamp that cannot be true is not recorded: a renewal from the future would lengthen a lease, and so accuse.
 */
import { shown } from '../record/schemas/foreign-text.js';
import type { Notice } from '../vocabulary/protocol.js';
import type { OpenHold } from '../vocabulary/verdict.js';
import type { Outcome, Woke } from '../vocabulary/workload.js';
import type { ClientRun } from './client-run.js';
import { type ReleasedHold, ReleasedLast } from './given-back.js';

/** Notices of a hold that may come before the answer that grants it, and are kept until then: a few, since both come in one breath. */
const EARLY_NOTICES_MAX = 100;

/** An acquire whose answer is not recorded yet. */
interface AcquireOnItsWay {
  sentNs: number;
  /** Notices about its hold. */
  early: Notice[];
}

/** The process, as far as its notices go. */
export interface Teller {
  /** Its callers; what is about no hold is the first one's. */
  callers: readonly string[];
  /** Whether it is up, and not down: nothing else can tell anything. */
  isAlive(): boolean;
  /** Whether the answer to this request has not been read yet. */
  awaits(id: number): boolean;
  /** Takes down that a line of it cannot be true. */
  distrust(what: string): void;
}

/** Of one process. What it holds stands in the run's ledger. */
export class HoldNews {
  private readonly acquiring = new Map<number, AcquireOnItsWay>();
  /** Called when the hold with that id is lost. */
  private readonly wakers = new Map<number, () => void>();
  /** Whose the acquire with that id is, and the hold that it was granted. */
  private readonly askedBy = new Map<number, string>();
  private readonly releasedLast = new ReleasedLast();

  constructor(
    private readonly run: Pick<ClientRun, 'clock' | 'recorder' | 'ledger' | 'epochNs' | 'leaseMs'>,
    private readonly teller: Teller,
  ) {}

  /** An acquire was recorded that is about to be sent. */
  acquireSent(id: number, client: string, sentNs: number): void {
    this.acquiring.set(id, { sentNs, early: [] });
    this.askedBy.set(id, client);
  }

  /** Its answer was recorded. */
  acquireAnswered(id: number, granted: boolean): void {
    const early = this.acquiring.get(id)?.early ?? [];
    this.acquiring.delete(id);
    if (!granted) this.askedBy.delete(id);
    if (granted) for (const notice of early) this.told(notice);
  }

  /** Its release was answered, and is about to be recorded. */
  released(id: number, client: string): void {
    const hold = this.run.ledger.find(client, id);
    if (hold) this.releasedLast.add(id, hold);
    this.askedBy.delete(id);
  }

  told(notice: Notice): void {
    if (!this.teller.isAlive()) return;
    const { recorder, ledger, epochNs } = this.run;
    const atNs = notice.at - epochNs;
    const acquiring = notice.hold === undefined ? undefined : this.acquiring.get(notice.hold);
    const client = this.askedBy.get(notice.hold ?? -1) ?? this.teller.callers[0]!;
    const hold = notice.hold === undefined ? undefined : ledger.find(client, notice.hold);
    const over = notice.type === 'lost' ? this.releasedLast.find(notice.hold) : undefined;
    if (atNs < earliestNs(notice, acquiring, hold, over) || atNs > this.run.clock.nowNs()) {
      this.teller.distrust(`the stamp of a notice is not of its time: ${shown(notice)}`);
      return;
    }
    if (notice.type === 'step') {
      recorder.record({ type: 'step', client, name: shown(notice.name), clientNs: atNs, hold: notice.hold });
      return;
    }
    // What shares a chunk of output with the acquire's own answer waits for it, too: that is recorded a moment later. It is early only
    // where it stands before the answer, for we may have stood still while they piled up.
    if (acquiring && acquiring.early.push(notice) > EARLY_NOTICES_MAX && this.teller.awaits(notice.hold!)) {
      this.teller.distrust(`more than ${EARLY_NOTICES_MAX} notices of a hold before the answer that grants it`);
      return;
    }
    if (notice.type === 'renewed') {
      if (!hold) return; // it came after the release: no news
      const leaseMs = notice.leaseMs ?? this.run.leaseMs;
      recorder.record({ type: 'renewed', client, hold: notice.hold, key: hold.key, sentNs: atNs, leaseMs });
      return;
    }
    const whose = hold ?? over;
    if (!whose) return;
    const reason = notice.reason === undefined ? {} : { reason: shown(notice.reason) };
    const { key } = whose;
    recorder.record({ type: 'lost', client: whose.client, hold: notice.hold, key, clientNs: atNs, ...reason });
    this.wakers.get(notice.hold)?.();
  }

  /** Takes it for lost, by what the client itself decides. */
  abandon(id: number, client: string): Outcome {
    if (this.run.ledger.find(client, id) && !this.isLost(id, client))
      this.told({
        type: 'lost',
        hold: id,
        at: this.run.clock.nowNs() + this.run.epochNs,
        reason: 'given up by the client itself',
      });
    return { type: 'woke', lost: true };
  }

  /** Sleeps until the time is over, the hold `untilLost` is lost, or one of the signals aborts. */
  async idle(
    ms: number,
    untilLost: number | undefined,
    client: string,
    signals: readonly (AbortSignal | undefined)[],
  ): Promise<Woke> {
    const wake = new AbortController();
    const wakeUp = () => wake.abort();
    let lost = untilLost !== undefined && this.isLost(untilLost, client);
    if (untilLost !== undefined)
      this.wakers.set(untilLost, () => {
        lost = true;
        wakeUp();
      });
    for (const signal of signals) signal?.addEventListener('abort', wakeUp);
    if (lost || signals.some((signal) => signal?.aborted)) wakeUp();
    const dueNs = this.run.clock.nowNs() + ms * 1e6;
    await this.run.clock.sleep(ms, wake.signal);
    if (!wake.signal.aborted) this.sleptThroughTheEnd(untilLost, client, dueNs);
    for (const signal of signals) signal?.removeEventListener('abort', wakeUp);
    if (untilLost !== undefined) this.wakers.delete(untilLost);
    return { type: 'woke', lost };
  }

  /** Who was to wake while the lease ran, and woke after it, makes a stale holder of any lock: takes down that we were late. */
  private sleptThroughTheEnd(id: number | undefined, client: string, dueNs: number): void {
    const { clock, ledger, recorder, leaseMs } = this.run;
    const hold = id === undefined ? undefined : ledger.find(client, id);
    if (!hold) return;
    const [endNs, nowNs] = [hold.grantSentNs + leaseMs * 1e6, clock.nowNs()];
    if (dueNs > endNs || nowNs <= endNs) return;
    const ms = Math.ceil((nowNs - dueNs) / 1e6);
    recorder.record({ type: 'disturbance', disturbance: 'harness-stall', ms, beganNs: dueNs });
  }

  private isLost(id: number, client: string): boolean {
    return this.run.ledger.find(client, id)?.lostNs !== undefined;
  }
}

/** What was never taken cannot be lost: before the attempt left that was granted. Between that and the answer it can. */
function earliestNs(
  { type }: Notice,
  acquiring: Pick<AcquireOnItsWay, 'sentNs'> | undefined,
  hold: OpenHold | undefined,
  over: ReleasedHold | undefined,
): number {
  return acquiring?.sentNs ?? (type === 'lost' ? (hold ?? over)?.grantSentNs : hold?.invokedNs) ?? 0;
}

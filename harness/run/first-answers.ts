/**
 * What a lock answers before it has granted anything and while no fault has struck: whether it can work at all.
 *
 * Promises: it is told that it cannot only where every client has met a mistake in the lock's program (`bug: `) or its process ended by
 * itself, nothing was granted to anybody, and no fault was ever in force. The first grant and the first fault end the question for good: what is thrown after either
 * is an outcome like any other, and so is what is thrown to some clients only. Time-outs, refused connections and refusals are
 * no such mistakes.
 */
import { answersInWords } from '../record/facts/answers-in-words.js';
import { bugIn } from '../record/facts/bug.js';
import { shown } from '../record/schemas/foreign-text.js';
import type { HistoryEvent } from '../vocabulary/history.js';
import type { Clock } from '../vocabulary/time.js';

/** The lock cannot work; the message is one line for its author. */
export class LockBugError extends Error {
  override readonly name = 'LockBugError';

  /** `diedOn`: a host on which the lock's process ended by itself; absent: it did not. */
  constructor(
    message: string,
    readonly diedOn?: string,
  ) {
    super(message);
  }
}

/** What a wait for the first grant needs to know. */
export interface FirstGrant {
  clock: Clock;
  /** When clients began to ask. */
  beganNs: number;
  /** When all has ended, counted from then, that may rightly be in the way. */
  dueMs: number;
  longestAnswerMs: number;
  /** The lock is a program, and no module. */
  isProgram: boolean;
  interrupt: AbortSignal;
  say(line: string): void;
}

const POLL_MS = 50;

/** The first grant, or the first fault. */
export function endsFirstAnswers(event: HistoryEvent): boolean {
  if (event.type === 'fault') return event.effects.length > 0;
  return event.type === 'ok' && event.op === 'acquire';
}

export class FirstAnswers {
  /** Aborts when it is certain that the lock cannot work; the reason is a LockBugError. */
  readonly hopeless: AbortSignal;
  /** Aborts with the first grant, or the first fault. */
  readonly over: AbortSignal;
  private readonly ended = new AbortController();
  private readonly gaveUp = new AbortController();
  private readonly slotOf = new Map<string, string>();
  private readonly answered = new Set<string>();
  private readonly struck = new Set<string>();
  private readonly answers = new Map<string, number>();
  private diedOn: string | undefined;
  private readonly bugs = new Map<string, number>();

  /** `clients`: how many places there are whose clients must all have met it. */
  constructor(private readonly clients: number) {
    this.hopeless = this.gaveUp.signal;
    this.over = this.ended.signal;
  }

  event(event: HistoryEvent): void {
    if (this.over.aborted) return;
    if (event.type === 'client-up') this.slotOf.set(event.client, event.host);
    if (endsFirstAnswers(event)) {
      this.ended.abort();
      return;
    }
    if ((event.type !== 'fail' && event.type !== 'info') || event.op !== 'acquire') return;
    const slot = this.slotOf.get(event.client) ?? event.client;
    const reason = shown(event.reason ?? '');
    this.answers.set(reason, (this.answers.get(reason) ?? 0) + 1);
    this.answered.add(slot);
    const bug = bugIn(event.reason) ?? this.ownEnd(event.reason, slot);
    if (bug === undefined) return;
    this.struck.add(slot);
    this.bugs.set(bug, (this.bugs.get(bug) ?? 0) + 1);
    if (this.struck.size >= this.clients) this.gaveUp.abort(this.mistake);
  }

  /** Whether each client has had an answer. */
  get allAnswered(): boolean {
    return this.answered.size >= this.clients;
  }

  /**
   * Waits for the first grant where the warm-up has seen none: faults that strike what nobody holds show nothing. False: every client
   * was answered, all that may rightly have been in the way had ended, and nobody was granted anything.
   */
  async firstGrant({
    beganNs,
    dueMs,
    longestAnswerMs,
    isProgram,
    clock,
    interrupt,
    say,
  }: FirstGrant): Promise<boolean> {
    const waiting = AbortSignal.any([interrupt, this.over]);
    const sinceMs = () => (clock.nowNs() - beganNs) / 1e6;
    say(
      `no client has been granted the lock, and no fault is in force: ${this.inWords(isProgram)}; faults wait for it`,
    );
    // One that is stopped, by itself say, is never answered.
    while (!waiting.aborted && (sinceMs() < dueMs || (!this.allAnswered && sinceMs() < dueMs + longestAnswerMs)))
      await clock.sleep(POLL_MS, waiting);
    if (waiting.aborted) return true;
    const without = `no client was granted the lock within ${(sinceMs() / 1e3).toFixed(1)} s, and no fault was in force`;
    say(`ending the run: ${this.inWords(isProgram)}; ${without}`);
    return false;
  }

  /** What it answered so far. */
  inWords(isProgram: boolean): string {
    return this.answers.size === 0 ? 'acquire has not answered yet' : answersInWords(this.answers, isProgram);
  }

  private ownEnd(reason: string | undefined, slot: string): string | undefined {
    const [, status] = OWN_END.exec(reason ?? '') ?? [];
    if (status === undefined) return undefined;
    this.diedOn ??= slot;
    return `its process ended by itself, with exit status ${status}`;
  }

  /** What the lock's program did wrong; undefined: nothing that is known. */
  get mistake(): LockBugError | undefined {
    const [most, other, ...more] = [...this.bugs].sort(([, a], [, b]) => b - a);
    if (!most) return undefined;
    const [what] = most;
    const sum = (counts: Iterable<number>) => [...counts].reduce((all, count) => all + count, 0);
    const verb = THROWN.test(what) ? 'threw' : 'failed';
    const also = other ? `; also ${other[0]}${more.length > 0 ? ` and ${more.length} more` : ''}` : '';
    const often = `${sum(this.bugs.values())} of ${sum(this.answers.values())} acquires`;
    return new LockBugError(`your lock ${verb} in ${often}: ${what}${also}`, this.diedOn);
  }
}

/** What is recorded of an operation whose process ended by itself, and not by a signal. */
const OWN_END = /^client exited \((\d+)\)$/;
/** "TypeError: ...", or how a server's error begins. */
const THROWN = /^([\w.]*(Error|Exception)\b|[A-Z]+ )/;

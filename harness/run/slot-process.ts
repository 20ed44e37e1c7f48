/**
 * One lock client process, and what is recorded of it: every operation as invoke and completion, every notice, its end.
 *
 * An invoke is recorded before its line is sent. An operation whose outcome is not known (`info`: it timed out, threw, or its
 * process died or babbled) condemns the process: it is killed, because it cannot be known what it still holds. A stopped
 * process is late, not dead, and is not condemned for it.
 *
 * It is long because all of that is one state: what an answer or a notice means depends on what was asked, and by which caller.
 */

import type { Recorder } from '../record/recorder.js';
import { shown } from '../record/schemas/foreign-text.js';
import type { ClientTarget } from '../vocabulary/faults.js';
import type { ProtocolBreak } from '../vocabulary/history.js';
import type { Host, HostProcess } from '../vocabulary/host.js';
import type { HandshakeValue, Notice } from '../vocabulary/protocol.js';
import type { Clock } from '../vocabulary/time.js';
import type { HoldLedger } from '../vocabulary/verdict.js';
import type { Instruction, Outcome } from '../vocabulary/workload.js';
import { withoutGivingUp, withoutStaging } from './asked.js';
import { CALLERS, callerNames, comingUp } from './callers.js';
import { ClientProcess, type LineAllowance, type RequestBody } from './client-process.js';
import { ReleasedLast } from './given-back.js';
import { givingHoldUp, givingUp } from './giving-up.js';
import { inTime } from './in-time.js';
import { type HeldOp, judgeReply } from './judge-reply.js';
import type { StepStops } from './step-stops.js';

/** Notices of a hold that may come before its grant, and are kept until then: a few, since both come in one breath. */
const EARLY_NOTICES_MAX = 100;

/** What a client process needs of its run. */
export interface ClientRun {
  clock: Clock;
  recorder: Pick<Recorder, 'record'>;
  /** Has every event that was recorded. */
  ledger: HoldLedger;
  /** Raw CLOCK_MONOTONIC nanoseconds of the run's epoch. */
  epochNs: number;
  clientArgv: readonly string[];
  leaseMs: number;
  /** How many callers there are in a process; absent: one. */
  callers?: number;
  /** What an operation may take on top of the wait that it was given, before its outcome is unknown. */
  operationGraceMs: number;
  /** Where operations are to stop, beside those that say it themselves. */
  stops: StepStops;
  /** One line for people: a client that died by itself, printed garbage, ... */
  say(line: string): void;
}

type Operation = Exclude<Instruction, { do: 'idle' | 'abandon' }>;

/** An acquire whose answer is not recorded yet. */
interface AcquireOnItsWay {
  sentNs: number;
  /** Notices about its hold that came with the answer. */
  early: Notice[];
}

/** One process in a slot. What it holds stands in the run's ledger. */
export class SlotProcess implements ClientTarget {
  readonly client: ClientProcess;
  readonly slot: string;
  readonly callers: readonly string[];
  /** Its outcome is unknown or its output garbage: it was sent SIGKILL and must not be used again. */
  condemned = false;
  private ending: Promise<void> | undefined;
  /** The run is over: its exit is no event. */
  leaving = false;
  private readonly acquiring = new Map<number, AcquireOnItsWay>();
  /** Called when the hold with that id is lost. */
  private readonly wakers = new Map<number, () => void>();
  /** Whose the acquire with that id is, and the hold that it was granted. */
  private readonly askedBy = new Map<number, string>();
  private readonly releasedLast = new ReleasedLast();
  private isUp = false;
  private handshake: HandshakeValue | undefined;
  private isDown = false;
  /** Operations that wait for their answer, by id. */
  private readonly asking = new Map<number, NonNullable<ProtocolBreak['lost']>>();
  stopping: { readonly step: string } | undefined;
  private protocolBreak: ProtocolBreak | undefined;
  private readonly ended = new AbortController();

  constructor(
    readonly name: string,
    readonly host: Host,
    private readonly run: ClientRun,
    allowance: LineAllowance,
    private readonly fault: { killed(): void; resumed(): void },
  ) {
    this.slot = host.name;
    this.callers = callerNames(name, run.callers ?? 1);
    this.client = new ClientProcess({
      name,
      host,
      argv: run.clientArgv,
      clock: run.clock,
      epochNs: run.epochNs,
      allowance,
      onNotice: (notice) => this.noticed(notice),
      onGarbage: (line) => {
        this.broke(line);
        if (this.isUp) void this.condemn(`protocol: ${line}`);
      },
      onExit: (exit) => {
        this.ended.abort();
        this.down(run.clock.nowNs(), `exited by itself (${exit.signal ?? `status ${exit.code}`})`);
      },
    });
  }

  get process(): HostProcess {
    return this.client.process;
  }

  get holding(): readonly string[] {
    return this.callers.flatMap((caller) => this.run.ledger.open(caller)).map(({ key }) => key);
  }

  /** Where several operations run in it at once, it cannot be told which of them is to stop it. */
  get canStop(): boolean {
    return this.callers.length === 1 && this.has('stop-at');
  }

  private has(feature: string): boolean {
    return this.handshake?.features.includes(feature) === true;
  }

  up(value: HandshakeValue): void {
    this.isUp = true;
    this.handshake = value;
    for (const up of comingUp(this.name, this.callers, this.host, value)) this.run.recorder.record(up);
  }

  /** What the lock said of itself. Throws before the handshake. */
  get lock(): HandshakeValue {
    if (!this.handshake) throw new Error(`${this.name} has not shaken hands`);
    return this.handshake;
  }

  async kill(): Promise<void> {
    this.fault.killed();
    await this.condemn('killed by the nemesis');
  }

  resume(): void {
    this.fault.resumed();
  }

  wallMs(): Promise<number | undefined> {
    return this.client.wallMs();
  }

  /** Resolves when the process is dead: only then may another fill the slot. */
  async buried(): Promise<void> {
    await this.client.process.exited;
  }

  /** Carries out one instruction of the nth caller; an operation is recorded as invoke and completion. */
  async perform(instruction: Instruction, stopping?: AbortSignal, caller = 0): Promise<Outcome> {
    const client = this.callers[caller]!;
    if (instruction.do === 'idle') return this.idle(instruction.ms, instruction.untilLost, stopping, client);
    if (instruction.do === 'abandon') return this.abandon(instruction.hold, client);
    const { clock, recorder, epochNs } = this.run;
    const id = this.client.reserveId();
    // First: what it held is in no ledger any more.
    if (this.isDown || this.condemned) return { type: 'info', id, reason: 'client is gone' };
    const { op, key, body, limitMs } = this.describe(this.staged(instruction), client);
    const hold = 'hold' in instruction ? { hold: instruction.hold } : {};
    const { do: _, ...asked } = withoutStaging(instruction);
    const invoked = recorder.record({ type: 'invoke', client, id, op, ...asked, key });
    if (op === 'acquire') {
      this.acquiring.set(id, { sentNs: invoked.atNs, early: [] });
      this.askedBy.set(id, client);
    }
    this.asking.set(id, { id, op, key });
    if (this.canStop) this.stopping = 'stopAt' in body && body.stopAt !== undefined ? { step: body.stopAt } : undefined;
    const answer = this.client.exchange(id, { ...body, ...(this.callers.length > 1 && { caller: CALLERS[caller] }) });
    const afterMs = instruction.do === 'acquire' && this.has('cancel') ? instruction.cancelAfterMs : undefined;
    const cancelled = givingUp(
      clock,
      afterMs,
      answer,
      () => void this.client.exchange(this.client.reserveId(), { op: 'cancel', acquire: id }),
    );
    const stops = { clock, process: this.client.process, stopping };
    givingHoldUp(instruction, answer, stops, (held) => this.abandon(held, client));
    const reply = await inTime(answer, { ...stops, limitMs, graceMs: this.run.operationGraceMs });
    const readNs = clock.nowNs();
    const cancelledNs = cancelled();
    const { type, completion, broke } = judgeReply(reply, op, epochNs, invoked.atNs, readNs);
    if (broke !== undefined) this.broke(broke);
    this.asking.delete(id);
    if (this.canStop) this.stopping = undefined;
    const given = { ...completion, ...(cancelledNs !== undefined && { cancelledNs }) };
    if (op === 'release' && type === 'ok' && 'hold' in instruction) this.givenBack(instruction.hold, client);
    recorder.record({ type, client, id, op, key, ...hold, ...given }, readNs);
    if (op === 'acquire') this.acquired(id, type === 'ok');
    // Of what its caller gave up nobody has to know how it ended, and what comes of it is to be seen: unless the program is gone.
    const isLeftAlone = cancelledNs !== undefined && broke === undefined && !reply.unanswered;
    if (type === 'info' && !isLeftAlone) await this.condemn(completion.reason ?? 'outcome unknown');
    return { type, id, ...given };
  }

  /** With the step at which it is to stop, if it is to stop at one. */
  private staged(instruction: Operation): Operation {
    if (instruction.do === 'read' || instruction.do === 'write' || instruction.stopAt !== undefined) return instruction;
    const stopAt = this.canStop ? this.run.stops.next(this.slot) : undefined;
    return stopAt === undefined ? instruction : { ...instruction, stopAt };
  }

  private describe(
    instruction: Operation,
    client: string,
  ): {
    op: HeldOp | 'acquire';
    key: string;
    body: RequestBody;
    limitMs: number;
  } {
    const { do: op, ...fields } = withoutGivingUp(instruction);
    const body = { op, ...fields } as RequestBody;
    const operationGraceMs = Math.max(this.run.operationGraceMs, this.handshake?.answersWithinMs ?? 0);
    if (instruction.do === 'acquire')
      return { op, key: instruction.key, body, limitMs: instruction.waitMs + operationGraceMs };
    const key = this.run.ledger.find(client, instruction.hold)?.key;
    if (key === undefined) throw new Error(`script error: ${op} of ${instruction.hold}, which ${client} does not hold`);
    return { op, key, body, limitMs: operationGraceMs };
  }

  private async idle(
    ms: number,
    untilLost: number | undefined,
    stopping: AbortSignal | undefined,
    client: string,
  ): Promise<Outcome> {
    const wake = new AbortController();
    const wakeUp = () => wake.abort();
    let lost = untilLost !== undefined && this.isLost(untilLost, client);
    if (untilLost !== undefined)
      this.wakers.set(untilLost, () => {
        lost = true;
        wakeUp();
      });
    // Not on the promise of its exit: that would keep every nap of a long life in memory.
    const signals = [stopping, this.ended.signal];
    for (const signal of signals) signal?.addEventListener('abort', wakeUp);
    if (lost || signals.some((signal) => signal?.aborted)) wakeUp();
    await this.run.clock.sleep(ms, wake.signal);
    for (const signal of signals) signal?.removeEventListener('abort', wakeUp);
    if (untilLost !== undefined) this.wakers.delete(untilLost);
    return { type: 'woke', lost };
  }

  private abandon(id: number, client: string): Outcome {
    if (this.run.ledger.find(client, id) && !this.isLost(id, client))
      this.noticed({
        type: 'lost',
        hold: id,
        at: this.run.clock.nowNs() + this.run.epochNs,
        reason: 'given up by the client itself',
      });
    return { type: 'woke', lost: true };
  }

  private isLost(id: number, client: string): boolean {
    return this.run.ledger.find(client, id)?.lostNs !== undefined;
  }

  private noticed(notice: Notice): void {
    const { recorder, ledger, epochNs } = this.run;
    const atNs = notice.at - epochNs;
    if (this.isDown || !this.isUp) return;
    // A renewal from the future would lengthen a lease, and so accuse; one of another clock would mean nothing at all.
    const acquiring = notice.hold === undefined ? undefined : this.acquiring.get(notice.hold);
    const client = this.askedBy.get(notice.hold ?? -1) ?? this.callers[0]!;
    const hold = notice.hold === undefined ? undefined : ledger.find(client, notice.hold);
    const over = notice.type === 'lost' ? this.releasedLast.find(notice.hold) : undefined;
    // What was never taken cannot be lost: before the attempt left that was granted. Between that and the answer it can.
    const beganNs = notice.type === 'lost' ? (hold ?? over)?.grantSentNs : hold?.invokedNs;
    const earliestNs = acquiring?.sentNs ?? beganNs ?? 0;
    if (atNs < earliestNs || atNs > this.run.clock.nowNs()) {
      this.client.distrust(`the stamp of a notice is not of its time: ${shown(notice)}`);
      return;
    }
    if (notice.type === 'step') {
      recorder.record({ type: 'step', client, name: shown(notice.name), clientNs: atNs, hold: notice.hold });
      return;
    }
    // It may share a chunk of output with the acquire's own answer, which is recorded a moment later.
    if (acquiring && acquiring.early.push(notice) > EARLY_NOTICES_MAX) {
      this.client.distrust(`more than ${EARLY_NOTICES_MAX} notices of a hold before the answer that grants it`);
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

  private acquired(id: number, granted: boolean): void {
    const early = this.acquiring.get(id)?.early ?? [];
    this.acquiring.delete(id);
    if (!granted) this.askedBy.delete(id);
    if (granted) for (const notice of early) this.noticed(notice);
  }

  private givenBack(id: number, client: string): void {
    const hold = this.run.ledger.find(client, id);
    if (hold) this.releasedLast.add(id, hold);
    this.askedBy.delete(id);
  }

  /** Releases what a script that was ended early still holds. */
  async releaseAll(): Promise<void> {
    for (const [n, caller] of this.callers.entries())
      for (const { id } of this.run.ledger.open(caller))
        if (!this.client.gone && !this.condemned) await this.perform({ do: 'release', hold: id }, undefined, n);
  }

  private broke(what: string): void {
    if (this.protocolBreak) return;
    const [lost] = this.asking.values();
    this.protocolBreak = { what, ...(lost && { lost }) };
    this.run.say(`${this.name} broke the protocol: ${what}`);
  }

  /**
   * Kills the process, and resolves when it is dead, also where something else had begun to kill it. Its holds end the moment
   * before the signal, because until then it may have acted.
   */
  private condemn(reason: string): Promise<void> {
    this.condemned = true;
    this.ending ??= this.end(reason);
    return this.ending;
  }

  private async end(reason: string): Promise<void> {
    const endNs = this.run.clock.nowNs();
    this.client.process.signal('SIGKILL');
    await this.client.process.exited;
    this.down(endNs, reason);
  }

  private down(endNs: number, reason: string): void {
    if (this.isDown || this.leaving || !this.isUp) return;
    // `condemn` knows the earlier, truer instant; the exit event that its kill causes must not come first.
    if (this.condemned && reason.startsWith('exited by itself')) return;
    this.isDown = true;
    const broke = this.protocolBreak;
    for (const client of this.callers)
      this.run.recorder.record({ type: 'client-down', client, endNs, reason, ...(broke && { broke }) });
  }
}

/**
 * One lock client process, and what is recorded of it: every operation as invoke and completion, and its end (`hold-news.ts` has
 * what it says without having been asked).
 *
 * An invoke is recorded before its line is sent. An operation whose outcome is not known (`info`: it timed out, threw, or its
 * process died or babbled) condemns the process: it is killed, because it cannot be known what it still holds. A stopped
 * process is late, not dead, and is not condemned for it.
 */

import { wasGivenUp } from '../record/facts/given-up.js';
import { isOwnEnd, ownEnd } from '../record/facts/own-end.js';
import type { ClientTarget } from '../vocabulary/faults.js';
import type { ProtocolBreak } from '../vocabulary/history.js';
import type { Host, HostProcess } from '../vocabulary/host.js';
import type { HandshakeValue } from '../vocabulary/protocol.js';
import type { Instruction, Outcome } from '../vocabulary/workload.js';
import { withoutGivingUp, withoutStaging } from './asked.js';
import { CALLERS, callerNames, comingUp } from './callers.js';
import { ClientProcess, type LineAllowance, type RequestBody } from './client-process.js';
import type { ClientRun } from './client-run.js';
import { givingHoldUp, givingUp } from './giving-up.js';
import { HoldNews } from './hold-news.js';
import { inTime } from './in-time.js';
import { type HeldOp, judgeReply } from './judge-reply.js';
import { napOrStandStill } from './standing-still.js';

type Operation = Exclude<Instruction, { do: 'idle' | 'abandon' }>;

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
  private readonly news: HoldNews;
  private isUp = false;
  private handshake: HandshakeValue | undefined;
  private isDown = false;
  /** When its death was noticed, ns since the epoch. */
  goneNs: number | undefined;
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
    this.news = new HoldNews(run, {
      callers: this.callers,
      isAlive: () => this.isUp && !this.isDown,
      awaits: (id) => this.client.awaits(id),
      distrust: (what) => this.client.distrust(what),
    });
    this.client = new ClientProcess({
      name,
      host,
      argv: run.clientArgv,
      clock: run.clock,
      epochNs: run.epochNs,
      allowance,
      onNotice: (notice) => this.news.told(notice),
      onGarbage: (line) => {
        this.broke(line);
        if (this.isUp) void this.condemn(`protocol: ${line}`);
      },
      onExit: (exit) => {
        this.goneNs = run.clock.nowNs();
        this.ended.abort();
        this.down(this.goneNs, ownEnd(exit));
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
    // Not on the promise of its exit: that would keep every nap of a long life in memory.
    if (instruction.do === 'idle') {
      const { ms, untilLost, isWork } = instruction;
      const nap = (forMs: number, ...more: AbortSignal[]) =>
        this.news.idle(forMs, untilLost, client, [stopping, this.ended.signal, ...more]);
      if (!isWork) return nap(ms);
      return napOrStandStill(ms, { clock: this.run.clock, process: this.client.process, stopping }, nap);
    }
    if (instruction.do === 'abandon') return this.news.abandon(instruction.hold, client);
    const { clock, recorder, epochNs } = this.run;
    const id = this.client.reserveId();
    // First: what it held is in no ledger any more.
    if (this.isDown || this.condemned) return { type: 'info', id, reason: 'client is gone' };
    const { op, key, body, limitMs } = this.describe(this.staged(instruction), client);
    const hold = 'hold' in instruction ? { hold: instruction.hold } : {};
    const { do: _, ...asked } = withoutStaging(instruction);
    const invoked = recorder.record({ type: 'invoke', client, id, op, ...asked, key });
    if (op === 'acquire') this.news.acquireSent(id, client, invoked.atNs);
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
    givingHoldUp(instruction, answer, stops, (held) => this.news.abandon(held, client));
    const reply = await inTime(answer, { ...stops, limitMs, graceMs: this.run.operationGraceMs });
    const readNs = clock.nowNs();
    const cancelledNs = cancelled();
    const { type, completion, broke } = judgeReply(reply, op, epochNs, invoked.atNs, readNs);
    if (broke !== undefined) this.broke(broke);
    this.asking.delete(id);
    if (this.canStop) this.stopping = undefined;
    const given = { ...completion, ...(cancelledNs !== undefined && { cancelledNs }) };
    if (op === 'release' && type === 'ok' && 'hold' in instruction) this.news.released(instruction.hold, client);
    recorder.record({ type, client, id, op, key, ...hold, ...given }, readNs);
    if (op === 'acquire') this.news.acquireAnswered(id, type === 'ok');
    // Unless the program is gone.
    const isLeftAlone = wasGivenUp(cancelledNs, completion.reason) && broke === undefined && !reply.unanswered;
    if (op === 'acquire' && type === 'info' && isLeftAlone) this.run.doubts.doubtful(client, key, readNs);
    if (op === 'acquire' && type === 'ok') this.run.doubts.granted(client, key, invoked.atNs);
    if (type === 'info' && !isLeftAlone) await this.condemn(completion.reason ?? 'outcome unknown');
    return { type, id, ...given };
  }

  /** With the step at which it is to stop, if it is to stop at one. */
  private staged(instruction: Operation): Operation {
    if (instruction.do === 'read' || instruction.do === 'write' || instruction.do === 'clock') return instruction;
    if (instruction.stopAt !== undefined) return instruction;
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
    const hold = instruction.do === 'clock' ? instruction.under : instruction.hold;
    const key = this.run.ledger.find(client, hold)?.key;
    if (key === undefined) throw new Error(`script error: ${op} of ${hold}, which ${client} does not hold`);
    return { op, key, body: instruction.do === 'clock' ? { op: 'clock' } : body, limitMs: operationGraceMs };
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
    if (this.condemned && isOwnEnd(reason)) return;
    this.isDown = true;
    const broke = this.protocolBreak;
    for (const client of this.callers)
      this.run.recorder.record({ type: 'client-down', client, endNs, reason, ...(broke && { broke }) });
  }
}

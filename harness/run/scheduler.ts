/**
 * Drives the lock clients: one slot per client host, in it one process after the other, each led through the workload's
 * script one operation at a time, everything recorded.
 *
 * The rules that make a history trustworthy live here. An invoke is recorded before its line is sent. An operation whose
 * outcome is not known (`info`: it timed out, threw, or its process died or babbled) ends that client: it is killed and
 * comes back as a new process under a new name, because nobody can say what the old one still holds. A stopped client is
 * late, not dead, and is not reaped for it.
 */
import { availableParallelism } from 'node:os';
import type { Recorder } from '../record/recorder.js';
import type { ClientTarget } from '../vocabulary/faults.js';
import type { Completion } from '../vocabulary/history.js';
import type { Host, HostProcess } from '../vocabulary/host.js';
import type { HandshakeValue, LockModel, Notice } from '../vocabulary/protocol.js';
import type { Clock, Random } from '../vocabulary/time.js';
import type { Endpoint, TopologyDescription } from '../vocabulary/topology.js';
import type { ClientScript, Instruction, Outcome } from '../vocabulary/workload.js';
import {
  brief,
  ClientProcess,
  HandshakeError,
  LineAllowance,
  type Reply,
  type RequestBody,
  valueFields,
} from './client-process.js';

export interface SchedulerOptions {
  clock: Clock;
  recorder: Pick<Recorder, 'record'>;
  random: Random;
  /** Raw CLOCK_MONOTONIC nanoseconds of the run's epoch. */
  epochNs: number;
  clientArgv: readonly string[];
  topology: TopologyDescription;
  topologyName: string;
  /** What the workload takes the lock for. */
  model: LockModel;
  leaseMs: number;
  commandTimeoutMs: number;
  /** What an operation may take on top of the wait that it was given, before its outcome is unknown. */
  operationGraceMs: number;
  script(random: Random, lock: HandshakeValue): ClientScript;
  /** Features of which the lock must have one; absent: none in particular. */
  needs?: readonly string[];
  /** The server of what the lock protects, for workloads that have one. */
  resource?: Endpoint;
  /** One line for people: a client that died by itself, printed garbage, ... */
  say(line: string): void;
}

/** How a lock is probed after everything was healed. */
export interface Probe {
  /** Of each try. */
  waitMs: number;
  giveUpNs: number;
  /** Whether to read what the lock protects. */
  read?: boolean;
  /** Whom to tell that this one has it or gave up, and when to let it go. */
  together?: { arrived(): void; all: AbortSignal };
}

export interface ProbeResult {
  client: string;
  acquired: boolean;
  reason?: string;
}

const HANDSHAKE_TIMEOUT_MS = 15_000;
/** Programs that start all at once stand in each other's way until the last of them has missed its handshake. */
const STARTS_AT_ONCE = 2 * availableParallelism();
const PROGRESS_EVERY_MS = 3_000;
const STOPPED_POLL_MS = 50;
/** A client that cannot start (its Redis is down, say) tries again after this. */
const RESTART_PAUSE_MS = 200;
/** One that breaks the protocol does so again, as a rule: from time to time is enough to see whether it still does. */
const LONGEST_RESTART_PAUSE_MS = 5_000;
const GOODBYE_MS = 500;

/** The lock does not fit the topology or the workload: a set-up error, not an outcome. */
export class UnfitLockError extends Error {
  override name = 'UnfitLockError';
}

export class Scheduler {
  private readonly slots: Slot[];

  constructor(
    hosts: readonly Host[],
    private readonly options: SchedulerOptions,
  ) {
    this.slots = hosts.map((host) => new Slot(host, options));
  }

  /** Starts the first process of every slot; rejects with HandshakeError or UnfitLockError if one cannot start. */
  async start(): Promise<HandshakeValue> {
    const hands: HandshakeValue[] = [];
    const waiting = [...this.slots];
    const bringUpSome = async () => {
      for (let slot = waiting.shift(); slot; slot = waiting.shift()) hands.push(await slot.bringUp());
    };
    const done = new AbortController();
    const telling = this.tellProgress(() => `${hands.length} of ${this.slots.length} clients are up`, done.signal);
    try {
      await Promise.all(Array.from({ length: STARTS_AT_ONCE }, bringUpSome));
    } finally {
      waiting.length = 0;
      done.abort();
      await telling;
    }
    const first = hands[0]!;
    if (first.topologies && !first.topologies.includes(this.options.topologyName)) {
      throw new UnfitLockError(
        `lock "${first.lock}" makes no sense on topology ${this.options.topologyName} (it is for ${first.topologies.join(', ')})`,
      );
    }
    const { model: promised } = first;
    if (promised?.kind === 'semaphore' && promised.permits > 1 && this.options.model.kind !== 'semaphore') {
      throw new UnfitLockError(
        `lock "${first.lock}" lets ${promised.permits} clients hold at once, and this workload expects one: every run would accuse it`,
      );
    }
    const { needs } = this.options;
    if (needs && !needs.some((feature) => first.features.includes(feature)))
      throw new UnfitLockError(
        `this workload is for locks with the feature ${needs.join(' or ')}, which "${first.lock}" does not say it has`,
      );
    if (this.options.resource && !first.features.includes('resource'))
      throw new UnfitLockError(
        `this workload reads and writes what the lock protects, and the client of "${first.lock}" does not say that it can (feature "resource")`,
      );
    return first;
  }

  private async tellProgress(line: () => string, done: AbortSignal): Promise<void> {
    const { clock, say } = this.options;
    for (;;) {
      await clock.sleep(PROGRESS_EVERY_MS, done);
      if (done.aborted) return;
      say(line());
    }
  }

  /** Lets every client run its script until `finish`. */
  runScripts(): void {
    for (const slot of this.slots) slot.run();
  }

  /** Has the client in the nth slot, from 0 on, carry out one instruction, once there is one alive. For who leads by hand. */
  perform(slot: number, instruction: Instruction): Promise<Outcome> {
    return this.slots[slot]!.performByHand(instruction);
  }

  /** Ends the scripts: holds are released, running operations end. Resolves when every slot is idle. */
  async finish(): Promise<void> {
    await Promise.all(this.slots.map((slot) => slot.finish()));
  }

  /** The client processes alive now, as faults see them. */
  targets(): ClientTarget[] {
    return this.slots.flatMap((slot) => (slot.target ? [slot.target] : []));
  }

  clientByAddress(address: string): string | undefined {
    return this.slots.find((slot) => slot.host.address === address)?.target?.name;
  }

  /**
   * Tries to get and release `key` until `giveUpNs`; the answer to "can the lock be had again?". `which` picks the slot.
   */
  probe(which: number, key: string, probe: Probe): Promise<ProbeResult> {
    return this.slots[which % this.slots.length]!.probe(key, probe);
  }

  /**
   * Has so many clients, each from a slot of its own, try to hold `key` at the same time: who has it keeps it until the
   * last has it too or has given up. Resolves with an answer each. There must be at least as many slots.
   */
  async probeTogether(clients: number, key: string, probe: Probe): Promise<ProbeResult[]> {
    let waiting = clients;
    const all = new AbortController();
    const arrived = () => {
      if (--waiting === 0) all.abort();
    };
    return Promise.all(
      this.slots.slice(0, clients).map((slot) => slot.probe(key, { ...probe, together: { arrived, all: all.signal } })),
    );
  }

  /** Closes every client's standard input, waits a moment, then kills what is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.slots.map((slot) => slot.close()));
  }
}

/** One client's place: a host, and the processes that fill it one after the other. */
class Slot {
  target: SlotProcess | undefined;
  private newest: SlotProcess | undefined;
  private generation = 0;
  /** A lock that cannot reach its Redis for ten seconds is news once, not fifty times. */
  private saidStuck = false;
  private breaches = 0;
  private stopping = new AbortController();
  private scripted = false;
  private running: Promise<void> = Promise.resolve();
  /** Set while a fault keeps the slot empty. */
  private held: { resume: Promise<void>; release: () => void } | undefined;
  /** One for all its processes: a flood does not begin anew with each. */
  private readonly allowance: LineAllowance;

  private coming: Promise<SlotProcess | undefined> | undefined;
  /** Operations of a client that is led by hand. */
  private readonly byHand = new Set<Promise<Outcome>>();

  constructor(
    readonly host: Host,
    private readonly options: SchedulerOptions,
  ) {
    this.allowance = new LineAllowance(options.clock);
  }

  async bringUp(): Promise<HandshakeValue> {
    const name = this.generation === 0 ? this.host.name : `${this.host.name}.${this.generation + 1}`;
    this.generation++;
    const target = new SlotProcess(name, this.host, this.options, this.allowance, {
      killed: () => this.hold(),
      resumed: () => this.resume(),
    });
    this.newest = target;
    try {
      const value = await target.client.shakeHands(
        this.options.topology,
        {
          client: name,
          leaseMs: this.options.leaseMs,
          commandTimeoutMs: this.options.commandTimeoutMs,
          seed: this.options.random.fork(`client/${name}`).int(0, 0x7fffffff),
          ...(this.options.resource && { resource: this.options.resource }),
        },
        HANDSHAKE_TIMEOUT_MS,
      );
      target.up(value);
      this.target = target;
      this.saidStuck = false;
      return value;
    } catch (error) {
      target.client.process.signal('SIGKILL');
      throw error;
    }
  }

  run(): void {
    this.stopping = new AbortController();
    this.scripted = true;
    this.running = this.loop();
  }

  /** For whoever asks first, one process comes up: an operation, or the heal of what killed the last one. */
  private aliveByHand(): Promise<SlotProcess | undefined> {
    this.coming ??= this.alive(this.stopping.signal).finally(() => {
      this.coming = undefined;
    });
    return this.coming;
  }

  async performByHand(instruction: Instruction): Promise<Outcome> {
    const target = await this.aliveByHand();
    if (!target) throw new Error(`${this.host.name} has no client any more: the run is over`);
    const outcome = target.perform(instruction, this.stopping.signal);
    this.byHand.add(outcome);
    try {
      return await outcome;
    } finally {
      this.byHand.delete(outcome);
    }
  }

  async finish(): Promise<void> {
    this.stopping.abort();
    await this.running;
    // Who was led by hand may have been left in the middle of something, and with something in hands.
    await Promise.allSettled(this.byHand);
    if (this.target && !this.target.client.gone && !this.target.condemned) await this.target.releaseAll();
  }

  async probe(key: string, { waitMs, giveUpNs, read, together }: Probe): Promise<ProbeResult> {
    let reason = 'the lock client could not be started';
    let client = this.host.name;
    do {
      const target = await this.aliveUntil(giveUpNs);
      if (!target) break;
      client = target.name;
      const outcome = await target.perform({ do: 'acquire', key, leaseMs: this.options.leaseMs, waitMs });
      if (outcome.type === 'ok') {
        if (read) await target.perform({ do: 'read', hold: outcome.id });
        together?.arrived();
        if (together) await aborted(together.all);
        await target.perform({ do: 'release', hold: outcome.id });
        return { client, acquired: true };
      }
      reason = outcome.type === 'woke' ? 'woke' : (outcome.reason ?? outcome.type);
      if (outcome.type === 'fail') await this.options.clock.sleep(RESTART_PAUSE_MS);
    } while (this.options.clock.nowNs() < giveUpNs);
    together?.arrived();
    return { client, acquired: false, reason };
  }

  async close(): Promise<void> {
    this.stopping.abort();
    this.held?.release();
    // The newest process, also one that is still shaking hands: nothing here may wait for a client's answer.
    const target = this.newest;
    if (target && !target.client.gone) {
      target.leaving = true;
      target.client.process.stdin.end();
      const timer = new AbortController();
      await Promise.race([target.client.process.exited, this.options.clock.sleep(GOODBYE_MS, timer.signal)]);
      timer.abort();
      target.client.process.signal('SIGKILL');
      await target.client.process.exited;
    }
    await this.running;
  }

  private async loop(): Promise<void> {
    const stopping = this.stopping.signal;
    while (!stopping.aborted) {
      const target = await this.alive(stopping);
      if (target) await this.lead(target, stopping);
    }
  }

  /** Leads one process through the script until it is gone or the scripts end. */
  private async lead(target: SlotProcess, stopping: AbortSignal): Promise<void> {
    const script = this.options.script(this.options.random.fork(`script/${target.name}`), target.lock);
    let step = script.next();
    while (!step.done) {
      const instruction = step.value;
      if (stopping.aborted && instruction.do === 'acquire') return target.releaseAll();
      const outcome = await target.perform(instruction, stopping);
      if (target.client.gone || target.condemned) return;
      step = script.next(outcome);
    }
  }

  private async alive(stopping: AbortSignal): Promise<SlotProcess | undefined> {
    while (!stopping.aborted) {
      if (this.held) await Promise.race([this.held.resume, aborted(stopping)]);
      if (this.held && stopping.aborted) return undefined;
      this.held = undefined;
      if (this.target && !this.target.client.gone && !this.target.condemned) return this.target;
      await this.target?.buried();
      if (this.target?.client.brokeProtocol) {
        const pauseMs = RESTART_PAUSE_MS * 2 ** this.breaches++;
        await this.options.clock.sleep(Math.min(pauseMs, LONGEST_RESTART_PAUSE_MS), stopping);
        if (stopping.aborted) return undefined;
      }
      try {
        await this.bringUp();
      } catch (error) {
        if (!(error instanceof HandshakeError)) throw error;
        if (!this.saidStuck) this.options.say(`${this.host.name} cannot come back, trying on: ${error.message}`);
        this.saidStuck = true;
        await this.options.clock.sleep(RESTART_PAUSE_MS, stopping);
      }
    }
    return undefined;
  }

  private async aliveUntil(giveUpNs: number): Promise<SlotProcess | undefined> {
    const timeout = new AbortController();
    const done = new AbortController();
    const left = Math.max(0, giveUpNs - this.options.clock.nowNs()) / 1e6;
    void this.options.clock.sleep(left, done.signal).then(() => timeout.abort());
    try {
      return await this.alive(timeout.signal);
    } finally {
      done.abort();
    }
  }

  private resume(): void {
    this.held?.release();
    // Where no script asks for the next process, nobody would start one.
    if (!this.scripted) this.aliveByHand().catch(() => {}); // told by the operation that needs it
  }

  private hold(): void {
    let release = () => {};
    const resume = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.held = { resume, release };
  }
}

/** An operation of a client on what it holds. */
type HeldOp = Exclude<Instruction['do'], 'acquire' | 'idle' | 'abandon'>;

interface HoldState {
  key: string;
  invokedNs: number;
  granted: boolean;
  lost: AbortController;
  /** Notices that arrived before the acquire was recorded as granted. */
  early: Notice[];
}

/** One process in a slot, with the holds that the harness knows it has. */
class SlotProcess implements ClientTarget {
  readonly client: ClientProcess;
  readonly slot: string;
  /** Its outcome is unknown or its output garbage: it has been killed and must not be used again. */
  condemned = false;
  /** The run is over: its exit is no event. */
  leaving = false;
  /** By id of the acquire, from its invoke on; `granted` once it answered ok. */
  private readonly holds = new Map<number, HoldState>();
  private isUp = false;
  private hands: HandshakeValue | undefined;
  private isDown = false;
  private readonly ended = new AbortController();

  constructor(
    readonly name: string,
    readonly host: Host,
    private readonly options: SchedulerOptions,
    allowance: LineAllowance,
    private readonly fault: { killed(): void; resumed(): void },
  ) {
    this.slot = host.name;
    this.client = new ClientProcess({
      name,
      host,
      argv: options.clientArgv,
      clock: options.clock,
      epochNs: options.epochNs,
      allowance,
      onNotice: (notice) => this.noticed(notice),
      onGarbage: (line) => {
        options.say(`${name} printed something that is not protocol: ${line}`);
        if (this.isUp) void this.condemn(`protocol: ${line}`);
      },
      onExit: (exit) => {
        this.ended.abort();
        this.down(options.clock.nowNs(), `exited by itself (${exit.signal ?? `status ${exit.code}`})`);
      },
    });
  }

  get process(): HostProcess {
    return this.client.process;
  }

  get holding(): readonly string[] {
    return [...this.holds.values()].filter((hold) => hold.granted).map((hold) => hold.key);
  }

  up(value: HandshakeValue): void {
    this.isUp = true;
    this.hands = value;
    this.options.recorder.record({
      type: 'client-up',
      client: this.name,
      slot: this.slot,
      host: this.host.name,
      address: this.host.address,
      lock: value.lock,
      features: value.features,
      ...(value.model && { model: value.model }),
    });
  }

  /** What the lock said of itself. Throws before the handshake. */
  get lock(): HandshakeValue {
    if (!this.hands) throw new Error(`${this.name} has not shaken hands`);
    return this.hands;
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

  /** Carries out one instruction; an operation is recorded as invoke and completion. */
  async perform(instruction: Instruction, stopping?: AbortSignal): Promise<Outcome> {
    if (instruction.do === 'idle') return this.idle(instruction.ms, instruction.untilLost, stopping);
    if (instruction.do === 'abandon') return this.abandon(instruction.hold);
    const { clock, recorder, epochNs } = this.options;
    const id = this.client.reserveId();
    const { op, key, body, limitMs } = this.describe(instruction);
    const hold = 'hold' in instruction ? { hold: instruction.hold } : {};
    if (this.isDown || this.condemned) return { type: 'info', id, reason: 'client is gone' };
    if (op === 'acquire')
      this.holds.set(id, {
        key,
        invokedNs: clock.nowNs(),
        granted: false,
        lost: new AbortController(),
        early: [],
      });
    const { do: _, ...asked } = withoutStop(instruction);
    const invoked = recorder.record({ type: 'invoke', client: this.name, id, op, ...asked, key });
    const reply = await this.inTime(this.client.exchange(id, body), limitMs, stopping);
    const readNs = clock.nowNs();
    const { type, completion } = judgeReply(reply, op, epochNs, invoked.atNs, readNs);
    const condemned = type === 'info';
    recorder.record({ type, client: this.name, id, op, key, ...hold, ...completion }, readNs);
    if (op === 'acquire') this.settleAcquire(id, type === 'ok');
    if (instruction.do === 'release') this.holds.delete(instruction.hold);
    if (condemned) await this.condemn(completion.reason ?? 'outcome unknown');
    return { type, id, ...completion };
  }

  private describe(instruction: Exclude<Instruction, { do: 'idle' | 'abandon' }>): {
    op: HeldOp | 'acquire';
    key: string;
    body: RequestBody;
    limitMs: number;
  } {
    const { do: op, ...fields } = instruction;
    const body = { op, ...fields } as RequestBody;
    const { operationGraceMs } = this.options;
    if (instruction.do === 'acquire')
      return { op, key: instruction.key, body, limitMs: instruction.waitMs + operationGraceMs };
    const key = this.holds.get(instruction.hold)?.key;
    if (key === undefined)
      throw new Error(`script error: ${op} of ${instruction.hold}, which ${this.name} does not hold`);
    return { op, key, body, limitMs: operationGraceMs };
  }

  /**
   * Waits for the reply, but not for ever: time during which the process is stopped does not count. Once the scripts are
   * `stopping` all faults are healed, and a process that is stopped then has stopped itself.
   */
  private async inTime(reply: Promise<Reply>, limitMs: number, stopping: AbortSignal | undefined): Promise<Reply> {
    const { clock } = this.options;
    let answered = false;
    void reply.then(() => {
      answered = true;
    });
    const done = new AbortController();
    void reply.then(() => done.abort());
    for (let leftMs = limitMs; ; leftMs = this.options.operationGraceMs) {
      await clock.sleep(leftMs, done.signal);
      if (answered) return reply;
      const mayBeStopped = () => stopping !== undefined && !stopping.aborted;
      if (!mayBeStopped() || (await this.client.process.state()) !== 'stopped')
        return { type: 'info', reason: `no answer within ${limitMs} ms` };
      while (!answered && mayBeStopped() && (await this.client.process.state()) === 'stopped')
        await clock.sleep(STOPPED_POLL_MS, done.signal);
    }
  }

  private async idle(ms: number, untilLost: number | undefined, stopping: AbortSignal | undefined): Promise<Outcome> {
    const wake = new AbortController();
    const wakeUp = () => wake.abort();
    const lost = untilLost === undefined ? undefined : this.holds.get(untilLost)?.lost.signal;
    // Not on the promise of its exit: that would keep every nap of a long life in memory.
    const wakers = [stopping, lost, this.ended.signal];
    for (const signal of wakers) signal?.addEventListener('abort', wakeUp);
    if (wakers.some((signal) => signal?.aborted)) wakeUp();
    await this.options.clock.sleep(ms, wake.signal);
    for (const signal of wakers) signal?.removeEventListener('abort', wakeUp);
    return { type: 'woke', lost: lost?.aborted ?? false };
  }

  private abandon(id: number): Outcome {
    const hold = this.holds.get(id);
    if (hold && !hold.lost.signal.aborted)
      this.noticed({
        type: 'lost',
        hold: id,
        at: this.options.clock.nowNs() + this.options.epochNs,
        reason: 'given up by the client itself',
      });
    return { type: 'woke', lost: true };
  }

  private noticed(notice: Notice): void {
    const { recorder, epochNs } = this.options;
    const atNs = notice.at - epochNs;
    if (this.isDown || !this.isUp) return;
    // A renewal from the future would lengthen a lease, and so accuse; one of another clock would mean nothing at all.
    const earliestNs = (notice.hold === undefined ? undefined : this.holds.get(notice.hold)?.invokedNs) ?? 0;
    if (atNs < earliestNs || atNs > this.options.clock.nowNs()) {
      this.client.distrust(`the stamp of a notice is not of its time: ${JSON.stringify(notice)}`);
      return;
    }
    if (notice.type === 'step') {
      recorder.record({ type: 'step', client: this.name, name: brief(notice.name), clientNs: atNs, hold: notice.hold });
      return;
    }
    const hold = this.holds.get(notice.hold);
    if (!hold) return; // it came after the release: no news
    // It may share a chunk of output with the acquire's own answer, which is recorded a moment later.
    if (!hold.granted) {
      hold.early.push(notice);
      return;
    }
    const { key } = hold;
    if (notice.type === 'renewed') {
      const leaseMs = notice.leaseMs ?? this.options.leaseMs;
      recorder.record({ type: 'renewed', client: this.name, hold: notice.hold, key, sentNs: atNs, leaseMs });
    } else {
      const reason = notice.reason === undefined ? {} : { reason: brief(notice.reason) };
      recorder.record({ type: 'lost', client: this.name, hold: notice.hold, key, clientNs: atNs, ...reason });
      hold.lost.abort();
    }
  }

  private settleAcquire(id: number, granted: boolean): void {
    const hold = this.holds.get(id);
    if (!hold) return; // the process died meanwhile
    hold.granted = granted;
    if (!granted) this.holds.delete(id);
    else for (const notice of hold.early.splice(0)) this.noticed(notice);
  }

  /** Releases what a script that was ended early still holds. */
  async releaseAll(): Promise<void> {
    for (const [id, hold] of [...this.holds]) {
      if (hold.granted && !this.client.gone && !this.condemned) await this.perform({ do: 'release', hold: id });
    }
  }

  /** Kills the process; its holds end the moment before, because until then it may have acted. */
  private async condemn(reason: string): Promise<void> {
    if (this.condemned) return;
    this.condemned = true;
    const endNs = this.options.clock.nowNs();
    this.client.process.signal('SIGKILL');
    await this.client.process.exited;
    this.down(endNs, reason);
  }

  private down(endNs: number, reason: string): void {
    if (this.isDown || this.leaving || !this.isUp) return;
    // `condemn` knows the earlier, truer instant; the exit event that its kill causes must not come first.
    if (this.condemned && reason.startsWith('exited by itself')) return;
    this.isDown = true;
    this.holds.clear();
    this.options.recorder.record({ type: 'client-down', client: this.name, endNs, reason });
  }
}

/** What goes into the history; an answer that breaks the protocol is an outcome that nobody can tell. */
function judgeReply(
  reply: Reply,
  op: HeldOp | 'acquire',
  epochNs: number,
  sentNs: number,
  readNs: number,
): { type: 'ok' | 'fail' | 'info'; completion: Completion } {
  const { type, value, ...stamps } = reply;
  const began = stamps.beganNs ?? sentNs;
  const ended = stamps.endedNs ?? readNs;
  if (!(sentNs <= began && began <= ended && ended <= readNs)) {
    const reason = `protocol: stamps out of order (sent ${sentNs}, began ${began}, ended ${ended}, read ${readNs})`;
    return { type: 'info', completion: { reason } };
  }
  if (type !== 'ok') return { type, completion: stamps };
  const fields = valueFields(op, value, epochNs);
  if (!fields)
    return { type: 'info', completion: { reason: `protocol: value of ${op} is not understood: ${brief(value)}` } };
  const leaseFrom = fields.grantSentNs ?? fields.sentNs;
  if (leaseFrom !== undefined && !(began <= leaseFrom && leaseFrom <= ended)) {
    const reason = `protocol: the lease is said to run from ${leaseFrom}, outside the operation (${began} to ${ended})`;
    return { type: 'info', completion: { reason } };
  }
  return { type, completion: { ...stamps, ...fields } };
}

/** How an operation is staged is no part of what was asked of the lock. */
function withoutStop<One extends object>(instruction: One): One {
  const { stopAt: _, ...asked } = instruction as One & { stopAt?: string };
  return asked as One;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

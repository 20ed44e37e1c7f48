/**
 * One client's place: a host, and the processes that fill it one after the other, each led through the workload's script one
 * operation at a time, or by hand. A process that ended is followed by another under a new name.
 */
import type { Host } from '../vocabulary/host.js';
import type { HandshakeValue } from '../vocabulary/protocol.js';
import type { Random } from '../vocabulary/time.js';
import type { Endpoint, TopologyDescription } from '../vocabulary/topology.js';
import type { ClientScript, Instruction, Outcome } from '../vocabulary/workload.js';
import { AtWork } from './at-work.js';
import { HandshakeError, LineAllowance } from './client-process.js';
import type { ClientRun } from './client-run.js';
import type { HostsClient } from './command-senders.js';
import { SlotProcess } from './slot-process.js';

export interface SlotOptions extends ClientRun {
  random: Random;
  topology: TopologyDescription;
  commandTimeoutMs: number;
  /** How long a program may take to start; absent: as the protocol says. */
  startsWithinMs?: number;
  script(random: Random, lock: HandshakeValue, client: ScriptsClient): ClientScript;
  /** The server of what the lock protects, for workloads that have one. */
  resource?: Endpoint;
}

/** For whom a script is. */
export interface ScriptsClient {
  /** The name of its slot. */
  slot: string;
  /** No process was in the slot before it. */
  isFirst: boolean;
  /** A key that the process before it held when it died. */
  resumes?: string;
}

/** How a lock is probed after everything was healed. */
export interface Probe {
  /** Of each try before `dueNs`. */
  waitMs: number;
  /** When all that may rightly be in the way has ended. One that begins after this waits until `giveUpNs`. */
  dueNs: number;
  /** The last refusal is of a try that ended after this, and began after `dueNs`, however late that came to be. */
  giveUpNs: number;
  /** Whether to read what the lock protects. */
  read?: boolean;
  /** Whom to tell that this one has it or gave up, and when to let it go. */
  together?: { arrived(): void; all: AbortSignal };
}

export interface ProbeResult {
  client: string;
  acquired: boolean;
  /** The lock was not asked for: no client could be started for it. */
  untried?: boolean;
  reason?: string;
}

const HANDSHAKE_TIMEOUT_MS = 15_000;
/** A client that cannot start (its Redis is down, say) tries again after this. */
const RESTART_PAUSE_MS = 200;
/** One that breaks the protocol does so again, as a rule: from time to time is enough to see whether it still does. */
const LONGEST_RESTART_PAUSE_MS = 5_000;
const GOODBYE_MS = 500;

export class ClientSlot {
  target: SlotProcess | undefined;
  private newest: SlotProcess | undefined;
  /** The newest process, dead or alive. */
  hostsClient: HostsClient | undefined;
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

  private caFile: Promise<string> | undefined;
  private coming: Promise<SlotProcess | undefined> | undefined;
  private probing: Promise<unknown> = Promise.resolve();
  /** Operations of a client that is led by hand. */
  private readonly byHand = new Set<Promise<Outcome>>();

  constructor(
    readonly host: Host,
    private readonly options: SlotOptions,
  ) {
    this.allowance = new LineAllowance(options.clock);
  }

  async bringUp(): Promise<HandshakeValue> {
    const name = this.generation === 0 ? this.host.name : `${this.host.name}.${this.generation + 1}`;
    // One that could not start may not be known to be dead yet.
    const deadNs = this.newest && (this.newest.goneNs ?? this.options.clock.nowNs());
    this.generation++;
    this.hostsClient = { name, ...(deadNs !== undefined && { predecessorDeadNs: deadNs }) };
    const target = new SlotProcess(name, this.host, this.options, this.allowance, {
      killed: () => this.hold(),
      resumed: () => this.resume(),
    });
    this.newest = target;
    try {
      const value = await target.client.shakeHands(
        await this.reachable(),
        {
          client: name,
          leaseMs: this.options.leaseMs,
          ...(target.callers.length > 1 && { callers: target.callers.length }),
          commandTimeoutMs: this.options.commandTimeoutMs,
          seed: this.options.random.fork(`client/${name}`).int(0, 0x7fffffff),
          ...(this.options.resource && { resource: this.options.resource }),
        },
        this.options.startsWithinMs ?? HANDSHAKE_TIMEOUT_MS,
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

  /** Where the servers are, with what clients of any language read from a file. */
  private async reachable(): Promise<TopologyDescription> {
    const { topology } = this.options;
    if (!topology.tls) return topology;
    this.caFile ??= this.host.writeFile('ca.crt', topology.tls.ca);
    return { ...topology, tls: { ...topology.tls, caFile: await this.caFile } };
  }

  run(): void {
    this.stopping = new AbortController();
    this.scripted = true;
    this.running = this.loop();
  }

  /** One process comes up, whether an operation asks first or the heal of what killed the last one. */
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
    // A client that is led by hand may have been left in the middle of an operation, and with a hold.
    await Promise.allSettled(this.byHand);
    if (this.target && !this.target.client.gone && !this.target.condemned) await this.target.releaseAll();
  }

  /** Whether the client that would be asked may hold the key without knowing it. */
  mayHold(key: string): boolean {
    const client = this.target?.callers[0];
    return client !== undefined && this.options.doubts.mayHold(client, key);
  }

  /** One after the other, whoever asks. */
  probe(key: string, probe: Probe): Promise<ProbeResult> {
    const result = this.probing.then(() => this.probeNow(key, probe));
    this.probing = result.catch(() => {});
    return result;
  }

  private async probeNow(key: string, { waitMs, dueNs, giveUpNs, read, together }: Probe): Promise<ProbeResult> {
    const { clock, leaseMs } = this.options;
    let reason = 'the lock client could not be started';
    let client = this.host.name;
    let untried = true;
    let beganNs: number;
    do {
      const target = await this.aliveUntil(giveUpNs);
      if (!target) break;
      client = target.name;
      untried = false;
      beganNs = clock.nowNs();
      const leftMs = beganNs < dueNs ? 0 : (giveUpNs - beganNs) / 1e6;
      const outcome = await target.perform({
        do: 'acquire',
        key,
        leaseMs,
        waitMs: Math.max(waitMs, Math.round(leftMs)),
      });
      if (outcome.type === 'ok') {
        if (read) await target.perform({ do: 'read', hold: outcome.id });
        together?.arrived();
        if (together) await aborted(together.all);
        await target.perform({ do: 'release', hold: outcome.id });
        return { client, acquired: true };
      }
      reason = outcome.type === 'woke' ? 'woke' : (outcome.reason ?? outcome.type);
      if (outcome.type === 'fail') await clock.sleep(RESTART_PAUSE_MS);
    } while (beganNs < dueNs || clock.nowNs() < giveUpNs);
    together?.arrived();
    return { client, acquired: false, reason, ...(untried && { untried }) };
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
    let left: readonly (string | undefined)[] = [];
    while (!stopping.aborted) {
      const target = await this.alive(stopping);
      if (target) left = await this.lead(target, stopping, left);
    }
  }

  /**
   * Leads one process, each of its callers through a script of its own, until it is gone or the scripts end. `left`: which keys
   * the callers before them were at work under when they ended; resolves with those of these.
   */
  private async lead(
    target: SlotProcess,
    stopping: AbortSignal,
    left: readonly (string | undefined)[],
  ): Promise<(string | undefined)[]> {
    const leading = target.callers.map((caller, n) => this.leadCaller(target, caller, n, stopping, left[n]));
    const unfinished = await Promise.all(leading);
    if (stopping.aborted && !target.client.gone && !target.condemned) await target.releaseAll();
    return unfinished;
  }

  private async leadCaller(
    target: SlotProcess,
    caller: string,
    n: number,
    stopping: AbortSignal,
    resumes: string | undefined,
  ): Promise<string | undefined> {
    const { random } = this.options;
    const client = { slot: this.host.name, isFirst: this.generation === 1, ...(resumes !== undefined && { resumes }) };
    const script = this.options.script(random.fork(`script/${caller}`), target.lock, client);
    const atWork = new AtWork();
    let step = script.next();
    while (!step.done) {
      const instruction = step.value;
      if (stopping.aborted && instruction.do === 'acquire') break;
      atWork.does(instruction);
      const outcome = await target.perform(instruction, stopping, n);
      atWork.did(instruction, outcome);
      if (target.client.gone || target.condemned) break;
      step = script.next(outcome);
    }
    return atWork.key;
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
        if (!this.saidStuck && !stopping.aborted)
          this.options.say(`${this.host.name} cannot come back, trying on: ${error.message}`);
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
    // Where no script asks for the next process, none would be started.
    if (!this.scripted) this.aliveByHand().catch(() => {}); // reported by the operation that needs it
  }

  private hold(): void {
    let release = () => {};
    const resume = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.held = { resume, release };
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

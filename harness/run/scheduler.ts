/**
 * Drives the lock clients: one slot (`client-slot.ts`) per client host, in it one process (`slot-process.ts`) after the other.
 * Starts them, refuses locks that do not fit the run, lets scripts run, and probes.
 */
import { availableParallelism } from 'node:os';
import type { ClientTarget } from '../vocabulary/faults.js';
import type { Host } from '../vocabulary/host.js';
import type { HandshakeValue, LockModel } from '../vocabulary/protocol.js';
import type { Instruction, Outcome } from '../vocabulary/workload.js';
import { AcquireDoubts } from './acquire-doubts.js';
import { ClientSlot, type Probe, type ProbeResult, type SlotOptions } from './client-slot.js';
import type { HostsClient } from './command-senders.js';
import { StepStops } from './step-stops.js';

export interface SchedulerOptions extends Omit<SlotOptions, 'stops' | 'doubts'> {
  topologyName: string;
  /** What the workload takes the lock for; absent: for whatever it says. */
  model?: LockModel;
  /** Features of which the lock must have one; absent: none in particular. */
  needs?: readonly string[];
}

/** Programs that start all at once stand in each other's way until the last of them has missed its handshake. */
const STARTS_AT_ONCE = 2 * availableParallelism();
const PROGRESS_EVERY_MS = 3_000;

/** The lock does not fit the topology or the workload: a set-up error, not an outcome. */
export class UnfitLockError extends Error {
  override name = 'UnfitLockError';
}

/** Models that ask more than exclusion: a lock that does not say them is wrong by them from the first grant on. */
const ONLY_OF_THEIRS: ReadonlySet<string> = new Set(['fair', 'semaphore', 'latch']);

export class Scheduler {
  /** At which steps operations are to stop their process. */
  readonly stops: StepStops;
  /** What the lock says of itself; absent: no client has been started. */
  lock: HandshakeValue | undefined;
  private readonly slots: ClientSlot[];
  private readonly doubts = new AcquireDoubts();

  constructor(
    hosts: readonly Host[],
    private readonly options: SchedulerOptions,
  ) {
    this.stops = new StepStops(options.random.fork('stops'));
    this.slots = hosts.map((host) => new ClientSlot(host, { ...options, stops: this.stops, doubts: this.doubts }));
  }

  /** Starts the first process of every slot; rejects with HandshakeError or UnfitLockError if one cannot start. */
  async start(): Promise<HandshakeValue> {
    const handshakes: HandshakeValue[] = [];
    const waiting = [...this.slots];
    const bringUpSome = async () => {
      for (let slot = waiting.shift(); slot; slot = waiting.shift()) handshakes.push(await slot.bringUp());
    };
    const done = new AbortController();
    const telling = this.tellProgress(() => `${handshakes.length} of ${this.slots.length} clients are up`, done.signal);
    try {
      await Promise.all(Array.from({ length: STARTS_AT_ONCE }, bringUpSome));
    } finally {
      waiting.length = 0;
      done.abort();
      await telling;
    }
    const first = handshakes[0]!;
    if (first.topologies && !first.topologies.includes(this.options.topologyName)) {
      throw new UnfitLockError(
        `lock "${first.lock}" makes no sense on topology ${this.options.topologyName} (it is for ${first.topologies.join(', ')})`,
      );
    }
    const { model: promised } = first;
    const { model: expected = promised } = this.options;
    if (promised?.kind === 'semaphore' && promised.permits > 1 && expected?.kind !== 'semaphore') {
      throw new UnfitLockError(
        `lock "${first.lock}" lets ${promised.permits} clients hold at once, and this workload expects one: every run would accuse it`,
      );
    }
    if (promised?.kind === 'latch' && expected?.kind !== 'latch')
      throw new UnfitLockError(`"${first.lock}" is a latch, which excludes no client: it is for --workload latch`);
    if (expected && ONLY_OF_THEIRS.has(expected.kind) && promised?.kind !== expected.kind) {
      throw new UnfitLockError(
        `this workload is for locks whose model is "${expected.kind}", and "${first.lock}" says ${promised ? `"${promised.kind}"` : 'none'}: if it promises that, its definition has model: { kind: '${expected.kind}', … }`,
      );
    }
    const { needs, callers = 1 } = this.options;
    if (callers > 1 && !first.features.includes('callers'))
      throw new UnfitLockError(
        `several callers in each process are for locks with the feature callers, which "${first.lock}" does not say it has`,
      );
    if (needs && !needs.some((feature) => first.features.includes(feature)))
      throw new UnfitLockError(
        `this workload is for locks with the feature ${needs.join(' or ')}, which "${first.lock}" does not say it has`,
      );
    if (this.options.resource && !first.features.includes('resource'))
      throw new UnfitLockError(
        `this workload reads and writes what the lock protects, and the client of "${first.lock}" does not say that it can (feature "resource")`,
      );
    this.lock = first;
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

  /** Has the client in the nth slot, from 0 on, carry out one instruction, once there is one alive. For plays. */
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

  clientAt(address: string): HostsClient | undefined {
    return this.slots.find((slot) => slot.host.address === address)?.hostsClient;
  }

  /**
   * Tries to get and release `key` until `giveUpNs`; the answer to "can it be acquired again?". `which` picks the slot, but for one
   * that may hold the key without knowing it. Where all may, two must get it: one of them does not hold it.
   */
  async probe(which: number, key: string, probe: Probe): Promise<ProbeResult> {
    const fromThere = this.slots.map((_, n) => this.slots[(which + n) % this.slots.length]!);
    const sure = fromThere.find((slot) => !slot.mayHold(key));
    const first = await (sure ?? fromThere[0]!).probe(key, probe);
    const other = fromThere[1];
    return sure || !other || !first.acquired ? first : other.probe(key, probe);
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

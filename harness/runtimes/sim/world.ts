/**
 * One simulated run's world: its time, its network, and whose turn it is. Everything that happens, happens in the turn of the
 * harness or of one lock client; what is asked of the world's clocks, timers and randomness (`globals.ts`) is asked by them.
 *
 * There is at most one world at a time in a Node process.
 */
import { createHash } from 'node:crypto';
import type { Random } from '../../vocabulary/time.js';
import { createRandom } from '../random.js';
import { type Draws, drawsFor } from './draws.js';
import { machinesOwn } from './machines-own.js';
import { SimNetwork } from './network.js';
import { type Appointment, Timeline } from './timeline.js';

/** Who runs in this Node process: the harness, or a lock client. */
export interface Actor {
  readonly name: string;
  /** Of the host that it is on. */
  readonly address: string;
  readonly random: Random;
  /** How much later than asked its nth timer fires, nanoseconds. */
  lateNs(): number;
  /** Its wall clock is ahead of the machine's by this. */
  aheadMs(): number;
  /**
   * What it takes for now: the world's time, but for the rest of a turn in the midst of which it was stopped. What it reads of the
   * world it reads at the beginning of a turn, so that rest is already known, and happens when it goes on.
   */
  nowNs(): number;
  /** It is about to read a clock, to send, or to set a timer: here it can be stopped. */
  moment(): void;
  /** It does something that others can notice: now, or when it goes on. */
  acts(act: () => void): void;
  /** Runs it in its turn: later while it is stopped, never once it is dead. */
  turn(run: () => void): void;
  /** A connection that it made: it goes with the actor. */
  opened(connection: { close(): void }): void;
  /** It threw what nobody caught. */
  crash(error: unknown): void;
}

/** Of chance while a deployment gets ready: the same for all, so that it need get ready once only (`warm-servers.ts`). */
const START_SEED = 0;
/** How much happens between two looks at what came from outside of the world. */
const BATCH = 64;

/** What the simulated run needs that is not in the world: it would wait for it for ever, or not be the same twice. */
export class OutsideOfTheWorldError extends Error {
  override name = 'OutsideOfTheWorldError';

  /** `lacks`: what the world does not have, where it is that. */
  constructor(
    message: string,
    readonly lacks?: string,
  ) {
    super(message);
  }
}

/** A timer that runs. */
interface Running {
  readonly actor: Actor;
  readonly atNs: number;
}

export class SimWorld {
  readonly timeline = new Timeline();
  readonly network: SimNetwork;
  readonly harness: Actor;
  private now: Actor;
  /** Whose turn has come in what happens now. */
  private hasTurn: Actor | undefined;
  private isReady = false;
  private timers: Set<Running> | undefined;
  private readonly hash = createHash('sha256');
  private fail: (error: unknown) => void = () => {};

  constructor(readonly seed: number) {
    this.network = new SimNetwork(
      this.timeline,
      (what) => this.draws(what),
      (from, to, bytes) => this.trace(from, to, bytes),
      (hear) => void this.forHarness(this.timeline.nowNs, hear),
    );
    const [before, after] = [START_SEED, seed].map((one) => createRandom(one).fork('harness'));
    const chance = () => (this.isReady ? after! : before!);
    this.harness = {
      name: 'harness',
      address: '',
      get random() {
        return chance();
      },
      lateNs: () => 0,
      aheadMs: () => 0,
      nowNs: () => this.timeline.nowNs,
      moment: () => {},
      acts: (act) => act(),
      turn: (run) => this.inTurnOf(this.harness, run),
      opened: () => {},
      crash: (error) => this.fail(error),
    };
    this.now = this.harness;
  }

  /** Whose turn it is. */
  get actor(): Actor {
    return this.now;
  }

  draws(what: string): Draws {
    const [before, after] = [drawsFor(START_SEED, what), drawsFor(this.seed, what)];
    return (n) => (this.isReady ? after : before)(n);
  }

  /** The deployment is ready: until now chance was the same in every world, from now on it is this one's. */
  ready(): void {
    this.isReady = true;
  }

  /**
   * What follows by promises and ticks is in its turn, too, until the next thing happens: so in one happening nobody else can have
   * one, or what follows would be taken for that one's.
   */
  inTurnOf(actor: Actor, run: () => void): void {
    if (this.hasTurn !== undefined && this.hasTurn !== actor)
      throw new Error(`a turn of ${actor.name} in the midst of one of ${this.hasTurn.name}`);
    this.hasTurn = actor;
    this.now = actor;
    run();
  }

  /** Has it happen at that time, in the harness's turn. */
  forHarness(atNs: number, happen: () => void): Appointment {
    return this.timeline.at(atNs, () => this.inTurnOf(this.harness, happen));
  }

  /** Something is wanted that the world does not have: the run ends. */
  refuse(error: OutsideOfTheWorldError): void {
    this.fail(error);
  }

  /** From now on it is known which timers run. */
  watchTimers(): void {
    this.timers ??= new Set();
  }

  /** A timer was set; call the result when it fires or is cleared. */
  timerRuns(actor: Actor, atNs: number): () => void {
    const { timers } = this;
    if (!timers) return () => {};
    const running = { actor, atNs };
    timers.add(running);
    return () => timers.delete(running);
  }

  /** In how many milliseconds the next watched timer of one of these is due; undefined where none is. */
  nextTimerMs(actors: ReadonlySet<string>): number | undefined {
    const due = [...(this.timers ?? [])].filter(({ actor }) => actors.has(actor.name)).map(({ atNs }) => atNs);
    return due.length === 0 ? undefined : Math.max(0, Math.min(...due) - this.timeline.nowNs) / 1e6;
  }

  /** Part of what must be the same when the run is repeated. */
  trace(from: string, to: string, bytes: Buffer | string): void {
    this.hash.update(`${this.timeline.nowNs} ${from} ${to} `).update(bytes).update('\n');
  }

  /** Of every message with its time; ends the trace. */
  digest(): string {
    return this.hash.digest('hex');
  }

  /**
   * Begins something in the harness's turn, and lets what is to happen happen until it has ended. What happens, happens in
   * turns of the real event loop, one each: so promises and ticks are through before time goes on. `look` is called now and then,
   * and what it throws ends the run.
   */
  run<Result>(begin: () => Promise<Result>, look: () => void = () => {}): Promise<Result> {
    return new Promise((resolve, reject) => {
      let over = false;
      const end = (settle: () => void) => {
        over = true;
        settle();
      };
      this.fail = (error) => end(() => reject(error));
      const one = () => {
        if (over) return;
        this.hasTurn = undefined;
        try {
          if (this.timeline.next()) return;
          this.fail(new OutsideOfTheWorldError('nothing is left to happen, and the run has not ended'));
        } catch (error) {
          this.now.crash(error);
        }
      };
      const batch = () => {
        if (over) return;
        try {
          look();
        } catch (error) {
          this.fail(error);
          return;
        }
        for (let left = BATCH; left > 0; left--) machinesOwn.setImmediate(one);
        machinesOwn.setImmediate(batch);
      };
      this.inTurnOf(this.harness, () => {
        begin().then(
          (result) => end(() => resolve(result)),
          (error) => end(() => reject(error)),
        );
      });
      machinesOwn.setImmediate(batch);
    });
  }
}

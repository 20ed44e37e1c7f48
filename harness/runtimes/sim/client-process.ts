/**
 * A lock client, or another program in JavaScript, as a process on a simulated host: its code runs in this Node process, in turns
 * that can be held back (SIGSTOP) or never come (SIGKILL).
 *
 * What it reads of the world, it reads at the beginning of a turn, but for clocks. So it can be stopped in the midst of one, as by a
 * garbage collection (`stopWithin`), although its code cannot be: from there on its clocks show when it goes on, and what it does in the
 * rest of the turn is done then, or never, if it is killed before.
 */
import { PassThrough, Writable } from 'node:stream';
import type { HostProcess, ProcessExit, StopWithin } from '../../vocabulary/host.js';
import type { Random } from '../../vocabulary/time.js';
import { LineSplitter } from '../lines.js';
import { createRandom } from '../random.js';
import type { OwnProcess } from './own-process.js';
import type { Actor, SimWorld } from './world.js';

/** A connection to a program. */
export interface AcceptedConnection {
  send(text: string): void;
  close(): void;
}

/** What a program has of its process. */
export interface ProgramPorts extends OwnProcess {
  /** Prints a line. */
  print(line: string): void;
  /** Stops the process, as SIGSTOP does; resolves when it is continued. */
  stopHere(): Promise<void>;
  /** Has each connection to a port of its host given to `serve`, whose result takes what comes on it. */
  listen(port: number, serve: (connection: AcceptedConnection) => (text: string) => void): void;
}

/** A program that lives in the world; the result is given every line of its standard input. */
export type SimProgram = (ports: ProgramPorts) => (line: string) => void;

const PIPE_NS = 20_000;
/** A timer of Node's fires up to so much late on a machine that is not busy. */
const LATEST_TIMER_NS = 900_000;
/**
 * How long Node takes to load a client. Until then servers are looked at at least once (`run/observer.ts`): one that came up at
 * once would send before that, and whether a command were its own or its dead predecessor's could not be told.
 */
const START_NS = { shortest: 150_000_000, more: 100_000_000 };
/** As in `netns`: the second of its process namespace. */
const OWN_PID = 2;

/** A stop that was asked for. */
interface Asked {
  left: number;
  forMs: number;
  stopped(does: boolean): void;
  over(): void;
}

interface Owner {
  name: string;
  address: string;
  aheadMs(): number;
}

export class SimClientProcess implements HostProcess, Actor {
  readonly stdin: Writable;
  readonly stdout = new PassThrough();
  readonly exited: Promise<ProcessExit>;
  readonly random: Random;
  private isDead = false;
  /** By a signal. */
  private isStopped = false;
  private asked: Asked | undefined;
  /** It was stopped in the midst of a turn, and goes on then. */
  private within: { untilNs: number; asked: Asked } | undefined;
  private tell: (exit: ProcessExit) => void = () => {};
  /** Turns that come when it is continued. */
  private heldBack: (() => void)[] = [];
  private readonly connections: { close(): void }[] = [];
  private readonly lateness: (n: number) => number;
  private timers = 0;

  constructor(
    private readonly owner: Owner,
    readonly pid: number,
    program: SimProgram,
    private readonly world: SimWorld,
    private readonly log: (line: string) => void,
  ) {
    this.random = createRandom(world.seed).fork(`process ${owner.name} ${pid}`);
    this.lateness = world.draws(`timers of ${owner.name} ${pid}`);
    this.exited = new Promise((resolve) => {
      this.tell = resolve;
    });
    const lines = new LineSplitter();
    let heard: ((line: string) => void) | undefined;
    /** What came while it was loaded. */
    const early: string[] = [];
    const soon = (run: () => void) => this.soon(() => this.turn(run));
    const startNs = START_NS.shortest + world.draws(`start of ${owner.name} ${pid}`)(0) * START_NS.more;
    world.timeline.at(world.timeline.nowNs + Math.round(startNs), () =>
      this.turn(() => {
        heard = program(this.ports());
        for (const line of early) heard(line);
      }),
    );
    this.stdin = new Writable({
      write: (bytes: Buffer, _encoding, done) => {
        for (const line of lines.push(bytes.toString('utf8'))) {
          world.trace('harness', owner.name, line);
          soon(() => (heard ? heard(line) : early.push(line)));
        }
        done();
      },
      // A client ends with its standard input.
      final: (done) => {
        soon(() => this.end({ code: 0, signal: null }));
        done();
      },
    });
  }

  get name(): string {
    return this.owner.name;
  }

  get address(): string {
    return this.owner.address;
  }

  lateNs(): number {
    return this.lateness(this.timers++) * LATEST_TIMER_NS;
  }

  aheadMs(): number {
    return this.owner.aheadMs();
  }

  nowNs(): number {
    return Math.max(this.world.timeline.nowNs, this.within?.untilNs ?? 0);
  }

  moment(): void {
    const { asked } = this;
    if (!asked || this.isHeld || this.isDead || --asked.left > 0) return;
    this.asked = undefined;
    const { nowNs } = this.world.timeline;
    const untilNs = nowNs + Math.round(asked.forMs * 1e6);
    this.within = { untilNs, asked };
    asked.stopped(true);
    this.world.timeline.at(untilNs, () => this.endWithin());
  }

  acts(act: () => void): void {
    if (this.isDead) return;
    if (this.isHeld) this.heldBack.push(act);
    else act();
  }

  turn(run: () => void): void {
    if (this.isDead) return;
    if (this.isHeld) this.heldBack.push(run);
    else this.world.inTurnOf(this, run);
  }

  opened(connection: { close(): void }): void {
    this.connections.push(connection);
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isDead) return;
    if (signal === 'SIGSTOP') this.isStopped = true;
    else if (signal === 'SIGCONT') this.goOn();
    else this.end({ code: null, signal });
  }

  async state(): Promise<'running' | 'stopped' | 'dead'> {
    return this.isDead ? 'dead' : this.isHeld ? 'stopped' : 'running';
  }

  stopWithin(nth: number, forMs: number): StopWithin {
    // Whoever asked for it hears of it in the harness's turn.
    const soon = (hear: () => void) => this.world.forHarness(this.world.timeline.nowNs, hear);
    let isTold = false;
    let tellOver = () => {};
    const over = new Promise<void>((resolve) => {
      tellOver = () => void soon(resolve);
    });
    let cancel = () => {};
    const stopped = new Promise<boolean>((resolve) => {
      const tell = (does: boolean) => {
        if (isTold) return;
        isTold = true;
        soon(() => resolve(does));
      };
      const asked: Asked = { left: nth, forMs, stopped: tell, over: tellOver };
      cancel = () => {
        if (this.asked === asked) this.asked = undefined;
        tell(false);
      };
      this.forget();
      if (this.isDead) this.give(asked);
      else this.asked = asked;
    });
    return { stopped, over, cancel };
  }

  /** What its code threw and nobody caught. */
  crash(error: unknown): void {
    this.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    this.acts(() => this.end({ code: 1, signal: null }));
  }

  private ports(): ProgramPorts {
    return {
      pid: OWN_PID,
      hostname: this.owner.name,
      exit: (code) => this.acts(() => this.end({ code, signal: null })),
      print: (line) => {
        this.moment();
        this.acts(() => this.prints(line));
      },
      stopHere: () =>
        new Promise((resolve) => {
          this.isStopped = true;
          this.heldBack.push(resolve);
        }),
      listen: (port, serve) => this.listen(port, serve),
    };
  }

  private prints(line: string): void {
    this.world.trace(this.owner.name, 'harness', line);
    this.soon(() => this.world.inTurnOf(this.world.harness, () => this.stdout.write(`${line}\n`)));
  }

  private listen(port: number, serve: (connection: AcceptedConnection) => (text: string) => void): void {
    const at = { host: this.name, address: this.address, port };
    const close = this.world.network.listen(at, (_from, plug) => {
      const hear = serve({ send: (text) => plug.send(Buffer.from(text)), close: () => plug.close() });
      this.opened(plug);
      return {
        opened() {},
        refused() {},
        received: (bytes) => this.turn(() => hear(bytes.toString('utf8'))),
        finished: () => this.turn(() => plug.close()),
      };
    });
    this.opened({ close });
  }

  private soon(happen: () => void): void {
    this.world.timeline.at(this.world.timeline.nowNs + PIPE_NS, happen);
  }

  private get isHeld(): boolean {
    return this.isStopped || this.within !== undefined;
  }

  private goOn(): void {
    this.isStopped = false;
    if (!this.isHeld) this.catchUp();
  }

  private endWithin(): void {
    const { within } = this;
    if (!within) return;
    this.within = undefined;
    within.asked.over();
    if (!this.isHeld) this.catchUp();
  }

  /** One by one, each with all that follows from it: one of them may stop the process again. */
  private catchUp(): void {
    const { timeline } = this.world;
    for (const run of this.heldBack.splice(0)) timeline.at(timeline.nowNs, () => this.turn(run));
  }

  /** Nobody stops it any more for who asked last. */
  private forget(): void {
    const { asked } = this;
    this.asked = undefined;
    if (asked) this.give(asked);
  }

  /** Up. */
  private give(asked: Asked): void {
    asked.stopped(false);
    asked.over();
  }

  private end(exit: ProcessExit): void {
    if (this.isDead) return;
    this.isDead = true;
    this.heldBack = [];
    this.forget();
    this.within?.asked.over();
    this.within = undefined;
    for (const connection of this.connections) connection.close();
    this.world.forHarness(this.world.timeline.nowNs + PIPE_NS, () => this.tell(exit));
  }
}

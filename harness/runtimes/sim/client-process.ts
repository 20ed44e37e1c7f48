/**
 * A lock client, or another program in JavaScript, as a process on a simulated host: its code runs in this Node process, in turns that can be held back (SIGSTOP)
 * or never come (SIGKILL). What it reads, it reads at the beginning of a turn: a stop in the middle of one is the same as a stop
 * before the next.
 */
import { PassThrough, Writable } from 'node:stream';
import type { HostProcess, ProcessExit } from '../../vocabulary/host.js';
import type { Random } from '../../vocabulary/time.js';
import { LineSplitter } from '../lines.js';
import { createRandom } from '../random.js';
import type { OwnProcess } from './modules.js';
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
  private life: 'running' | 'stopped' | 'dead' = 'running';
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

  turn(run: () => void): void {
    if (this.life === 'stopped') this.heldBack.push(run);
    else if (this.life === 'running') this.world.inTurnOf(this, run);
  }

  opened(connection: { close(): void }): void {
    this.connections.push(connection);
  }

  signal(signal: NodeJS.Signals): void {
    if (this.life === 'dead') return;
    if (signal === 'SIGSTOP') this.life = 'stopped';
    else if (signal === 'SIGCONT') this.goOn();
    else this.end({ code: null, signal });
  }

  async state(): Promise<'running' | 'stopped' | 'dead'> {
    return this.life;
  }

  /** What its code threw and nobody caught. */
  crash(error: unknown): void {
    this.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    this.end({ code: 1, signal: null });
  }

  private ports(): ProgramPorts {
    return {
      pid: OWN_PID,
      hostname: this.owner.name,
      exit: (code) => this.end({ code, signal: null }),
      print: (line) => {
        if (this.life === 'dead') return;
        this.world.trace(this.owner.name, 'harness', line);
        this.soon(() => this.world.inTurnOf(this.world.harness, () => this.stdout.write(`${line}\n`)));
      },
      stopHere: () =>
        new Promise((resolve) => {
          this.life = 'stopped';
          this.heldBack.push(resolve);
        }),
      listen: (port, serve) => this.listen(port, serve),
    };
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

  private goOn(): void {
    if (this.life !== 'stopped') return;
    this.life = 'running';
    // One by one, each with all that follows from it: one of them may stop the process again.
    for (const run of this.heldBack.splice(0)) this.world.timeline.at(this.world.timeline.nowNs, () => this.turn(run));
  }

  private end(exit: ProcessExit): void {
    if (this.life === 'dead') return;
    this.life = 'dead';
    this.heldBack = [];
    for (const connection of this.connections) connection.close();
    this.world.forHarness(this.world.timeline.nowNs + PIPE_NS, () => this.tell(exit));
  }
}

/** A server program on a simulated host, as the harness sees any process: it can be stopped, continued and killed. */
import { Duplex, PassThrough } from 'node:stream';
import type { ClockSkew, HostProcess, ProcessExit } from '../../vocabulary/host.js';
import type { DiskNews } from './disk-news.js';
import type { Heard, Said } from './shim-channel.js';
import type { Appointment } from './timeline.js';
import type { ServerChannel } from './warm-servers.js';
import { ANY_ADDRESS, type Plug, type WireEnd } from './wire.js';
import type { SimWorld } from './world.js';

/** Connections that come from outside have numbers from here on. */
const FIRST_ACCEPTED = 2 ** 31;
/** A timer of the kernel's fires a little late. */
const LATEST_TIMER_NS = 60_000;
/** What the harness says to a server by its unix socket takes this long: no fault reaches that, and no seed. */
const UNIX_NS = 5_000;

interface Owner {
  name: string;
  address: string;
}

export class SimServerProcess implements HostProcess {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly exited: Promise<ProcessExit>;
  private life: 'running' | 'stopped' | 'dead' = 'running';
  private end: (exit: ProcessExit) => void = () => {};
  private inbox: Heard[] = [];
  private due: Appointment | undefined;
  private timer: Appointment | undefined;
  private timers = 0;
  private accepted = FIRST_ACCEPTED;
  private readonly plugs = new Map<number, Plug>();
  private readonly unixListeners = new Map<string, number>();
  private readonly closers: (() => void)[] = [];
  private readonly lateness;

  constructor(
    private readonly owner: Owner,
    /** As the run counts its processes. */
    readonly pid: number,
    private readonly channel: ServerChannel,
    private readonly world: SimWorld,
    /** Hears what it says of its files. */
    private readonly disk: (news: DiskNews) => void,
  ) {
    this.lateness = world.draws(`timers of ${owner.name} ${pid}`);
    this.exited = new Promise((resolve) => {
      this.end = resolve;
    });
    // It reached its first wait in no time.
    this.did(channel.first());
  }

  signal(signal: NodeJS.Signals): void {
    if (this.life === 'dead') return;
    if (signal === 'SIGSTOP') this.life = 'stopped';
    else if (signal === 'SIGCONT') this.goOn();
    else this.die({ code: null, signal });
  }

  async state(): Promise<'running' | 'stopped' | 'dead'> {
    return this.life;
  }

  setClock({ offsetMs, ratePpm }: ClockSkew): void {
    const [offsetNs, ratePpb] = [Math.round(offsetMs * 1e6), Math.round(ratePpm * 1e3)];
    this.hear({ kind: 'clock', offsetNs, ratePpb, baseNs: this.world.timeline.nowNs });
  }

  setSyncTime(syncMs: number): void {
    this.hear({ kind: 'disk', syncNs: Math.round(syncMs * 1e6) });
  }

  /** Its deployment is ready; its randomness is this world's from now on. */
  ready(seed: number): void {
    if (this.life === 'dead') return;
    this.channel.ready();
    this.hear({ kind: 'seed', value: seed });
  }

  /** A connection by a unix socket of its: not through the network. Undefined where it does not listen there. */
  dial(path: string): Duplex | undefined {
    const listener = this.unixListeners.get(path);
    if (listener === undefined || this.life === 'dead') return undefined;
    const connection = this.accepted++;
    const { timeline } = this.world;
    const soon = (happen: () => void) => this.world.forHarness(timeline.nowNs + UNIX_NS, happen);
    const stream: Duplex = new Duplex({
      read() {},
      write: (bytes: Buffer, _encoding, done) => {
        soon(() => this.hear({ kind: 'data', id: connection, bytes }));
        done();
      },
      destroy: (error, done) => {
        soon(() => this.hear({ kind: 'ended', id: connection }));
        done(error);
      },
    });
    this.plugs.set(connection, {
      send: (bytes) => soon(() => stream.push(bytes)),
      close: () => soon(() => stream.destroy()),
    });
    soon(() => this.hear({ kind: 'accepted', id: listener, connection, address: '0.0.0.0', port: 0 }));
    return stream;
  }

  private goOn(): void {
    if (this.life !== 'stopped') return;
    this.life = 'running';
    this.wake();
  }

  private die(exit: ProcessExit): void {
    if (this.life === 'dead') return;
    this.life = 'dead';
    this.channel.kill();
    this.due?.cancel();
    this.timer?.cancel();
    // The kernel closes what it had open.
    for (const close of this.closers) close();
    for (const plug of this.plugs.values()) plug.close();
    this.world.forHarness(this.world.timeline.nowNs, () => this.end(exit));
  }

  private hear(heard: Heard): void {
    if (this.life === 'dead') return;
    this.inbox.push(heard);
    if (this.life === 'running') this.wake();
  }

  private wake(): void {
    const { timeline } = this.world;
    this.due ??= timeline.at(timeline.nowNs, () => {
      this.due = undefined;
      this.step();
    });
  }

  private step(): void {
    if (this.life !== 'running') return;
    this.did(this.channel.step(this.world.timeline.nowNs, this.inbox.splice(0)));
  }

  private did(said: Said[] | undefined): void {
    if (!said) {
      this.die(this.channel.exit);
      return;
    }
    for (const one of said) this.carryOut(one);
    this.timer?.cancel();
    const { untilNs } = this.channel;
    if (untilNs === undefined) return;
    const lateNs = this.lateness(this.timers++) * LATEST_TIMER_NS;
    this.timer = this.world.timeline.at(untilNs + lateNs, () => this.step());
  }

  private carryOut(said: Said): void {
    switch (said.kind) {
      case 'listen':
        this.listen(said.id, said.name);
        break;
      case 'connect':
        this.connect(said);
        break;
      case 'send':
        this.plugs.get(said.id)?.send(said.bytes);
        break;
      case 'close':
        this.plugs.get(said.id)?.close();
        this.plugs.delete(said.id);
        break;
      default:
        this.disk(said);
    }
  }

  private listen(id: number, name: string): void {
    const [address, port] = name.split(':');
    if (port === undefined) {
      this.unixListeners.set(name, id);
      return;
    }
    if (address !== this.owner.address && address !== ANY_ADDRESS) return; // loopback: nobody else is on this host
    const place = { host: this.owner.name, address: address!, port: Number(port) };
    const unlisten = this.world.network.listen(place, (from, plug) => {
      const connection = this.accepted++;
      this.plugs.set(connection, plug);
      this.hear({ kind: 'accepted', id, connection, address: from.address, port: from.port });
      return this.endOf(connection);
    });
    this.closers.push(unlisten);
  }

  private connect({ id, address, port, ownPort }: Extract<Said, { kind: 'connect' }>): void {
    const from = { host: this.owner.name, address: this.owner.address, port: ownPort };
    this.plugs.set(id, this.world.network.dial(from, { address, port }, this.endOf(id)));
  }

  private endOf(id: number): WireEnd {
    return {
      opened: () => this.hear({ kind: 'connected', id }),
      refused: () => this.hear({ kind: 'failed', id }),
      received: (bytes) => this.hear({ kind: 'data', id, bytes }),
      finished: (kind) => this.hear({ kind, id }),
    };
  }
}

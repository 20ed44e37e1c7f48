/** `net.Socket` of the world: what ioredis, and what else connects to an address, needs of one. */
import { Duplex } from 'node:stream';
import { refuse } from './current-world.js';
import type { NetworkPlace, Plug } from './wire.js';
import type { Actor, SimWorld } from './world.js';

/** The first port that a process on a host is given. */
const FIRST_PORT = 40_000;

const ports = new WeakMap<SimWorld, Map<string, number>>();

export class SimSocket extends Duplex {
  connecting = false;
  remoteAddress: string | undefined;
  remotePort: number | undefined;
  localAddress: string | undefined;
  localPort: number | undefined;
  bytesRead = 0;
  bytesWritten = 0;
  timeout = 0;
  private readonly actor: Actor;
  private plug: Plug | undefined;
  private waiting: (() => void)[] = [];
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly world: SimWorld) {
    super({ allowHalfOpen: false });
    this.actor = world.actor;
  }

  get pending(): boolean {
    return !this.plug || this.connecting;
  }

  get readyState(): string {
    return this.connecting ? 'opening' : this.plug && !this.destroyed ? 'open' : 'closed';
  }

  /** As `net.connect`: an object with host and port, or port and host; then maybe a listener. */
  connect(...args: unknown[]): this {
    const listener = args.at(-1);
    if (typeof listener === 'function') this.once('connect', listener as () => void);
    const [first, second] = args;
    const asked = typeof first === 'object' && first !== null ? first : { port: first, host: second };
    const { host, port, path } = asked as { host?: unknown; port?: unknown; path?: unknown };
    const address = typeof host === 'string' ? host : '127.0.0.1';
    if (path !== undefined || !/^\d+\.\d+\.\d+\.\d+$/.test(address)) {
      return refuse(path === undefined ? `the host name ${address}` : `the unix socket ${String(path)}`);
    }
    this.connecting = true;
    this.remoteAddress = address;
    this.remotePort = Number(port);
    this.localAddress = this.actor.address;
    this.localPort = this.nextPort();
    const from = { host: this.actor.name, address: this.actor.address, port: this.localPort };
    this.actor.acts(() => this.dial(from, address));
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const write = () => {
      this.bytesWritten += chunk.length;
      this.touch();
      this.actor.moment();
      this.actor.acts(() => this.plug?.send(chunk));
      done();
    };
    if (this.connecting || !this.plug) this.waiting.push(write);
    else write();
  }

  override _final(done: () => void): void {
    this.actor.acts(() => this.plug?.close());
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.idle);
    this.connecting = false;
    this.actor.acts(() => this.plug?.close());
    // As a real socket's: after what is running now.
    process.nextTick(() => done(error));
  }

  private dial(from: NetworkPlace, address: string): void {
    // It was given up before it was begun.
    if (this.destroyed) return;
    const inTurn = (run: () => void) => () =>
      this.actor.turn(() => {
        if (!this.destroyed) run();
      });
    this.plug = this.world.network.dial(
      from,
      { address, port: this.remotePort! },
      {
        opened: inTurn(() => this.opened()),
        refused: inTurn(() => {
          const error = systemError('connect', 'ECONNREFUSED', `${address}:${this.remotePort}`);
          this.destroy(Object.assign(error, { address, port: this.remotePort }));
        }),
        received: (bytes) =>
          inTurn(() => {
            this.bytesRead += bytes.length;
            this.touch();
            this.push(bytes);
          })(),
        finished: (how) =>
          inTurn(() => {
            if (how === 'reset') this.destroy(systemError('read', 'ECONNRESET'));
            else {
              this.push(null);
              // One that nobody reads from would not notice.
              if (this.readableFlowing === null) this.resume();
            }
          })(),
      },
    );
    this.actor.opened(this.plug);
  }

  setTimeout(ms: number, listener?: () => void): this {
    this.timeout = ms;
    if (listener) this.once('timeout', listener);
    this.touch();
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  /** As `net.Socket` has it: less than a second leaves the system's delay, which is longer than any run. */
  setKeepAlive(enable = false, initialDelayMs = 0): this {
    const everyMs = Math.floor(initialDelayMs / 1_000) * 1_000;
    if (enable && everyMs > 0) this.plug?.keepAlive?.(everyMs);
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  address(): object {
    return { address: this.localAddress, port: this.localPort, family: 'IPv4' };
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  private opened(): void {
    this.connecting = false;
    this.touch();
    this.emit('connect');
    this.emit('ready');
    for (const write of this.waiting.splice(0)) write();
  }

  private touch(): void {
    clearTimeout(this.idle);
    this.idle = undefined;
    if (this.timeout > 0 && !this.destroyed) this.idle = setTimeout(() => this.emit('timeout'), this.timeout);
  }

  private nextPort(): number {
    const given = ports.get(this.world) ?? new Map<string, number>();
    ports.set(this.world, given);
    const port = given.get(this.actor.address) ?? FIRST_PORT;
    given.set(this.actor.address, port + 1);
    return port;
  }
}

function systemError(syscall: string, code: string, where = ''): Error {
  return Object.assign(new Error([syscall, code, where].join(' ').trim()), { code, syscall });
}

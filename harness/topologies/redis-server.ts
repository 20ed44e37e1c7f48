/**
 * One redis-server process on a host of its own: started, killed, started again with its data or without.
 *
 * The harness talks to it through a unix socket that no network fault reaches, so that what a fault did can be read
 * back, and so that the observer keeps watching a node that everybody else has lost.
 */
import { Redis } from 'ioredis';
import { DISK_RECORD } from '../runtimes/power-cut.js';
import type { FileAfterPowerCut, Host, PowerCut, ProcessExit } from '../vocabulary/host.js';
import type { Clock } from '../vocabulary/time.js';
import type { MonitoredCommand, Monitoring, RedisBinary, ServerNode } from '../vocabulary/topology.js';
import { dialConnector } from './dial-connector.js';
import { obituaryOf } from './last-words.js';
import { mendLog } from './mend-log.js';
import { monitor } from './monitor.js';
import { DeploymentError } from './ready.js';
import { fieldsOf } from './reply-fields.js';
import { clockMsIn, versionIn } from './server-info.js';
import { ServerProcess } from './server-process.js';
import { noTlsIn, type ServerTls, TLS_CONFIG, writeTlsFiles } from './server-tls.js';
import { withTexts } from './text-of-bytes.js';
import { unforgiving } from './unforgiving.js';

export interface RedisServerOptions {
  kind: 'redis' | 'sentinel';
  host: Host;
  port: number;
  /** Lines of the configuration file, without port, bind, dir and unixsocket. */
  config: readonly string[];
  redis: RedisBinary;
  clock: Clock;
  /** Asked of everybody who connects; the harness gives it, too. */
  password?: string;
  /** It speaks TLS and nothing else; absent: in plain text. */
  tls?: ServerTls;
  /** It publishes evictions: its monitor sees them, in their place among the commands. */
  evicts?: boolean;
  /** A Cluster node shows what it has as a replica only on connections that asked for it (READONLY). */
  clusterNode?: boolean;
  /** When it is started again it listens only once it is watched, if it can be told so late on which port. */
  listensLate?: boolean;
  /** What must be set after every start because the server does not keep it. */
  afterStart?: (server: RedisServer) => Promise<void>;
}

const SOCKET = 'redis.sock';
const DATA = ['dump.rdb', 'appendonlydir', 'appendonly.aof'];
const COMMAND_TIMEOUT_MS = 1_000;
const START_TIMEOUT_MS = 10_000;
/** An observer that runs comes back to a server within some 10 ms; one that does not must not keep the server from its clients. */
const WATCHED_WITHIN_MS = 2_000;
/** A Cluster node's second port, which is the first one and this by default. */
const CLUSTER_BUS = 10_000;

export const REDIS_PORT = 6379;
export const SENTINEL_PORT = 26379;

export class RedisServer implements ServerNode {
  readonly name: string;
  readonly kind: 'redis' | 'sentinel';
  readonly host: Host;
  readonly port: number;
  /** Hears of every end of the running server that the harness did not bring about. */
  onOwnEnd: (exit: ProcessExit) => void = () => {};
  private current: ServerProcess | undefined;
  /** The promise, not the client: commands that are given together share one connection. */
  private admin: Promise<Redis> | undefined;
  private configured: Promise<unknown> | undefined;
  private disk: Promise<unknown> = Promise.resolve();
  /** Whether it can be told on which port to listen when it runs; undefined: it was not asked yet. */
  private takesPort: boolean | undefined;
  /** Who follows it lets clients in. */
  private isWatched = false;
  /** A process that does not listen for clients yet, and what is called when it is watched. */
  private unheard: { process: ServerProcess; nowWatched(): void; isGivenUp: boolean } | undefined;
  /** The process that wrote nothing that could still be lost: its disk has lost power, or was wiped, since it died. */
  private settled: ServerProcess | undefined;

  constructor(private readonly options: RedisServerOptions) {
    this.name = options.host.name;
    this.kind = options.kind;
    this.host = options.host;
    this.port = options.port;
  }

  get process(): ServerProcess {
    if (!this.current) throw new Error(`${this.name} has not been started`);
    return this.current;
  }

  async start(): Promise<void> {
    // Written once: Redis and Sentinel rewrite the file themselves when roles change, and read it back after a restart.
    this.configured ??= this.configure();
    await this.configured;
    this.dropAdmin();
    this.unheard = undefined;
    const mode = this.kind === 'sentinel' ? ['--sentinel'] : [];
    // Clients ask again every few milliseconds: the first of them would be granted what nobody has seen.
    const late = this.isWatched && this.takesPort === true;
    const argv = [this.options.redis.path, 'redis.conf', ...mode, ...(late ? this.withoutPort() : [])];
    const started = new ServerProcess(
      this.host.spawn([...(this.options.redis.loader ?? []), ...argv], {
        env: this.options.redis.env,
        logStdout: true,
        disk: true,
      }),
    );
    this.current = started;
    const watched = late ? this.watched(started) : undefined;
    try {
      await this.answering(started);
      void started.exited.then((exit) => {
        if (!started.wasEnded) this.onOwnEnd(exit);
      });
      await this.options.afterStart?.(this);
      if (this.options.listensLate) this.takesPort ??= await this.canTakePort();
      await watched;
      await this.listen();
    } catch (error) {
      this.giveUp();
      throw error;
    }
  }

  private async configure(): Promise<void> {
    const { tls } = this.options;
    await this.host.writeFile('redis.conf', `${this.configLines().join('\n')}\n`);
    if (tls) await writeTlsFiles(this.host, tls);
  }

  /** The directive that says where it listens for clients. */
  private get portName(): string {
    return this.options.tls ? 'tls-port' : 'port';
  }

  /** The port comes later; what it tells other servers of itself is as it will be. */
  private withoutPort(): string[] {
    const { port, portName } = this;
    const announced = this.options.tls ? '--cluster-announce-tls-port' : '--cluster-announce-port';
    const asNode = this.options.clusterNode ? ['--cluster-port', port + CLUSTER_BUS, announced, port] : [];
    return [`--${portName}`, 0, '--replica-announce-port', port, ...asNode].map(String);
  }

  /** Resolves when somebody watches this process, or has not in time. */
  private async watched(process: ServerProcess): Promise<void> {
    const waited = new AbortController();
    this.unheard = { process, nowWatched: () => waited.abort(), isGivenUp: false };
    void process.exited.then(() => waited.abort());
    await this.options.clock.sleep(WATCHED_WITHIN_MS, waited.signal);
  }

  /** Older servers cannot, nor those whose CONFIG was taken away. */
  private canTakePort(): Promise<boolean> {
    return this.command('CONFIG', 'SET', this.portName, this.port).then(
      (answer) => answer === 'OK',
      () => false,
    );
  }

  /** Lets clients connect to the process that runs, if they cannot yet. */
  private async listen(): Promise<void> {
    const { unheard } = this;
    if (!unheard) return;
    await this.until(unheard.process, 'it did not listen for clients', async () => {
      await this.command('CONFIG', 'SET', this.portName, this.port);
      return true;
    });
    this.unheard = undefined;
  }

  /** The start failed: whoever asks the process next lets its clients in, should it run after all. */
  private giveUp(): void {
    if (this.unheard) this.unheard.isGivenUp = true;
  }

  obituary(exit: ProcessExit): Promise<string> {
    return obituaryOf(this.host, exit);
  }

  forget(): Promise<void> {
    return this.onDisk(async () => {
      if ((await this.process.state()) !== 'dead') throw new Error(`${this.name} must be dead before it can forget`);
      const result = await this.host.exec(['rm', '-rf', ...DATA, DISK_RECORD]);
      if (result.exitCode !== 0) throw new Error(`${this.name}: ${result.stderr}`);
      this.settled = this.process;
    });
  }

  async diskTrouble(): Promise<string | undefined> {
    return this.settled === this.process ? undefined : this.host.diskTrouble(this.process.pid);
  }

  losePower(cut: PowerCut): Promise<FileAfterPowerCut[]> {
    return this.onDisk(async () => {
      if (this.settled === this.process) return [];
      const files = await this.host.losePower(cut);
      this.settled = this.process;
      return files;
    });
  }

  mendLog(): Promise<string> {
    return this.onDisk(() => mendLog(this.host, this.options.redis));
  }

  /** Kills the server for good, and removes its socket: a copy of a run's folder would stumble over it. */
  async stop(): Promise<void> {
    this.dropAdmin();
    this.current?.signal('SIGKILL');
    await this.current?.exited;
    await this.host.exec(['rm', '-rf', SOCKET, DISK_RECORD]);
  }

  async fields(...argv: (string | number)[]): Promise<ReadonlyMap<string, string>[]> {
    return fieldsOf(await this.command(...argv));
  }

  async command(...argv: (string | number)[]): Promise<unknown> {
    this.admin ??= this.connect();
    const admin = this.admin;
    const [name, ...args] = argv;
    try {
      return withTexts(await (await admin).callBuffer(String(name), ...args));
    } catch (error) {
      // A server that was stopped or killed leaves a dead connection behind; the next command opens another.
      if (!(error instanceof Error && error.name === 'ReplyError') && this.admin === admin) this.dropAdmin();
      throw error;
    }
  }

  async ping(): Promise<void> {
    const answer = await this.command('PING');
    if (answer !== 'PONG') throw new Error(`${this.name} answers PING with ${String(answer)}`);
    if (!this.unheard) return;
    if (!this.unheard.isGivenUp) throw new Error(`${this.name} does not listen for clients yet`);
    await this.listen();
  }

  async clockMs(): Promise<number | undefined> {
    return clockMsIn(await this.command('INFO', 'server'));
  }

  async version(): Promise<string> {
    return versionIn(await this.command('INFO', 'server'));
  }

  async monitor(onCommand: (command: MonitoredCommand) => void): Promise<Monitoring> {
    const { password, evicts } = this.options;
    const stream = await this.host.dial(SOCKET);
    const process = this.current;
    const monitoring = await monitor(stream, onCommand, { password, evictions: evicts });
    if (!this.options.listensLate) return monitoring;
    return {
      ...monitoring,
      letClientsIn: () => {
        this.isWatched = true;
        if (this.unheard?.process === process) this.unheard?.nowWatched();
      },
    };
  }

  async subscribe(channel: string, onMessage: (message: string) => void): Promise<Monitoring> {
    const redis = await this.connect();
    const closed = new Promise<string>((done) => redis.once('close', () => done('the connection was closed')));
    redis.on('message', (_channel, message: string) => onMessage(message));
    try {
      await redis.subscribe(channel);
    } catch (error) {
      redis.disconnect();
      throw error;
    }
    return { closed, close: () => redis.disconnect() };
  }

  /** What two faults do to its disk is done one after the other. */
  private onDisk<T>(task: () => Promise<T>): Promise<T> {
    const done = this.disk.then(task);
    this.disk = done.catch(() => {});
    return done;
  }

  private async connect(): Promise<Redis> {
    const dial = () => this.host.dial(SOCKET);
    const { password, clusterNode = false } = this.options;
    const redis = new Redis({
      ...unforgiving(COMMAND_TIMEOUT_MS),
      ...(password && { password }),
      readOnly: clusterNode,
      Connector: dialConnector(dial),
    });
    redis.on('error', () => {}); // reported by the command that meets it
    await redis.connect();
    return redis;
  }

  private configLines(): string[] {
    return [
      `${this.portName} ${this.port}`,
      `bind ${this.host.address} 127.0.0.1`,
      'protected-mode no',
      'daemonize no',
      'dir .',
      `unixsocket ${SOCKET}`,
      'unixsocketperm 700',
      ...(this.options.password ? [`requirepass ${this.options.password}`] : []),
      ...(this.options.tls ? TLS_CONFIG : []),
      ...this.options.config,
    ];
  }

  /** A server that loads its data answers -LOADING: not ready yet. */
  private answering(process: ServerProcess): Promise<void> {
    return this.until(process, 'no PONG', async () => (await this.command('PING')) === 'PONG');
  }

  /** Asks again and again; rejects where the process ends first, or the time is over. */
  private async until(process: ServerProcess, what: string, ask: () => Promise<boolean>): Promise<void> {
    const { clock } = this.options;
    const giveUpNs = clock.nowNs() + START_TIMEOUT_MS * 1e6;
    for (;;) {
      try {
        if (await ask()) return;
      } catch (error) {
        if ((await process.state()) === 'dead') {
          const words = await this.obituary(await process.exited);
          const why = (this.options.tls && noTlsIn(words)) ?? 'redis-server ended at once';
          throw new DeploymentError(`${this.name}: ${why}: ${words}`);
        }
        if (clock.nowNs() > giveUpNs) {
          throw new DeploymentError(
            `${this.name}: ${what} within ${START_TIMEOUT_MS} ms (${(error as Error).message})`,
          );
        }
      }
      await clock.sleep(5);
    }
  }

  private dropAdmin(): void {
    // That it never came up is reported to its caller.
    this.admin?.then((redis) => redis.disconnect()).catch(() => {});
    this.admin = undefined;
  }
}

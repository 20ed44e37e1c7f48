/**
 * One redis-server process on a host of its own: started, killed, started again with its data or without.
 *
 * The harness talks to it through a unix socket that no network fault reaches, so that what a fault did can be read
 * back, and so that the observer keeps watching a node that everybody else has lost.
 */
import type { Duplex } from 'node:stream';
import { Redis, type RedisOptions } from 'ioredis';
import { DISK_RECORD } from '../runtimes/power-cut.js';
import type { FileAfterPowerCut, Host, PowerCut, ProcessExit } from '../vocabulary/host.js';
import type { Clock } from '../vocabulary/time.js';
import type {
  MonitoredCommand,
  Monitoring,
  Persistence,
  RedisBinary,
  ServerNode,
  Setting,
  TopologyContext,
  TopologyOptions,
} from '../vocabulary/topology.js';
import { obituaryOf } from './last-words.js';
import { mendLog } from './mend-log.js';
import { monitor } from './monitor.js';
import { DeploymentError } from './ready.js';
import { clockMsIn, versionIn } from './server-info.js';
import { ServerProcess } from './server-process.js';
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
  /** It publishes evictions: its monitor sees them, in their place among the commands. */
  evicts?: boolean;
  /** A Cluster node shows what it has as a replica only on connections that asked for it (READONLY). */
  clusterNode?: boolean;
  /** What must be set after every start because the server does not keep it. */
  afterStart?: (server: RedisServer) => Promise<void>;
}

const SOCKET = 'redis.sock';
const DATA = ['dump.rdb', 'appendonlydir', 'appendonly.aof'];
const COMMAND_TIMEOUT_MS = 1_000;
const START_TIMEOUT_MS = 10_000;

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
    this.configured ??= this.host.writeFile('redis.conf', `${this.configLines().join('\n')}\n`);
    await this.configured;
    this.dropAdmin();
    const mode = this.kind === 'sentinel' ? ['--sentinel'] : [];
    const started = new ServerProcess(
      this.host.spawn([...(this.options.redis.loader ?? []), this.options.redis.path, 'redis.conf', ...mode], {
        env: this.options.redis.env,
        logStdout: true,
        disk: true,
      }),
    );
    this.current = started;
    await this.answering(started);
    void started.exited.then((exit) => {
      if (!started.wasEnded) this.onOwnEnd(exit);
    });
    await this.options.afterStart?.(this);
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

  async command(...argv: (string | number)[]): Promise<unknown> {
    this.admin ??= this.connect();
    const admin = this.admin;
    const [name, ...args] = argv;
    try {
      return await (await admin).call(String(name), ...args);
    } catch (error) {
      // A server that was stopped or killed leaves a dead connection behind; the next command opens another.
      if (!(error instanceof Error && error.name === 'ReplyError') && this.admin === admin) this.dropAdmin();
      throw error;
    }
  }

  async ping(): Promise<void> {
    const answer = await this.command('PING');
    if (answer !== 'PONG') throw new Error(`${this.name} answers PING with ${String(answer)}`);
  }

  async clockMs(): Promise<number | undefined> {
    return clockMsIn(await this.command('INFO', 'server'));
  }

  async version(): Promise<string> {
    return versionIn(await this.command('INFO', 'server'));
  }

  async monitor(onCommand: (command: MonitoredCommand) => void): Promise<Monitoring> {
    const { password, evicts } = this.options;
    return monitor(await this.host.dial(SOCKET), onCommand, { password, evictions: evicts });
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
      `port ${this.port}`,
      `bind ${this.host.address} 127.0.0.1`,
      'protected-mode no',
      'daemonize no',
      'dir .',
      `unixsocket ${SOCKET}`,
      'unixsocketperm 700',
      ...(this.options.password ? [`requirepass ${this.options.password}`] : []),
      ...this.options.config,
    ];
  }

  private async answering(process: ServerProcess): Promise<void> {
    const { clock } = this.options;
    const giveUpNs = clock.nowNs() + START_TIMEOUT_MS * 1e6;
    for (;;) {
      try {
        // A server that loads its data answers -LOADING: not ready yet.
        if ((await this.command('PING')) === 'PONG') return;
      } catch (error) {
        if ((await process.state()) === 'dead') {
          throw new DeploymentError(
            `${this.name}: redis-server ended at once: ${await this.obituary(await process.exited)}`,
          );
        }
        if (clock.nowNs() > giveUpNs) {
          throw new DeploymentError(
            `${this.name}: no PONG within ${START_TIMEOUT_MS} ms (${(error as Error).message})`,
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

/** What ioredis sets on every stream, and only those of a network have. */
const WITHOUT_EFFECT = { setNoDelay() {}, setKeepAlive() {} };

function dialConnector(dial: () => Promise<Duplex>): NonNullable<RedisOptions['Connector']> {
  return class {
    private stream: Duplex | undefined;
    check() {
      return true;
    }
    disconnect() {
      this.stream?.destroy();
    }
    async connect() {
      const stream = await dial();
      this.stream = stream;
      return 'setNoDelay' in stream ? stream : Object.assign(stream, WITHOUT_EFFECT);
    }
  } as unknown as NonNullable<RedisOptions['Connector']>;
}

/** A data node of any topology, with everything that `TopologyOptions` says of it; `config` is the topology's own. */
export function dataNode(
  host: Host,
  options: TopologyOptions,
  context: Pick<TopologyContext, 'redis' | 'clock'>,
  config: readonly string[] = [],
  more: Pick<RedisServerOptions, 'clusterNode'> = {},
): RedisServer {
  return new RedisServer({
    ...more,
    kind: 'redis',
    host,
    port: REDIS_PORT,
    config: [...dataConfig(options), ...config, ...userConfig(options.redisConf)],
    redis: context.redis,
    clock: context.clock,
    evicts: options.maxmemoryPolicy !== undefined,
    ...passwordOf(options),
  });
}

/** What every data node is started with beyond the server's defaults, for people. */
export function dataSettings(options: TopologyOptions): Setting[] {
  const { persistence, minReplicasToWrite, maxmemoryPolicy, password, redisConf } = options;
  const setting = (name: string, value: string, why: string): Setting => ({ where: 'redis', name, value, why });
  return [
    setting('persistence', persistence, '--persistence'),
    ...(minReplicasToWrite > 0
      ? [setting('min-replicas-to-write', String(minReplicasToWrite), '--min-replicas-to-write')]
      : []),
    ...(maxmemoryPolicy
      ? [
          setting('maxmemory-policy', maxmemoryPolicy, '--maxmemory-policy'),
          setting('notify-keyspace-events', EVICTED_EVENTS, 'so that an eviction is seen when it happens'),
        ]
      : []),
    ...(password ? [setting('requirepass', '(set)', '--auth')] : []),
    ...redisConf.map(([name, value]) => setting(name, value, '--redis-conf')),
  ];
}

export function passwordOf(options: TopologyOptions): { password?: string } {
  return options.password ? { password: options.password } : {};
}

/** Published on `__keyevent@0__:evicted`. */
const EVICTED_EVENTS = 'Ee';

function dataConfig(options: TopologyOptions): string[] {
  const { minReplicasToWrite, maxmemoryPolicy, password } = options;
  return [
    ...persistenceConfig(options.persistence),
    ...(minReplicasToWrite > 0 ? [`min-replicas-to-write ${minReplicasToWrite}`] : []),
    ...(maxmemoryPolicy ? [`maxmemory-policy ${maxmemoryPolicy}`, `notify-keyspace-events ${EVICTED_EVENTS}`] : []),
    // A node may be the replica of any other one day.
    ...(password ? [`masterauth ${password}`] : []),
  ];
}

/** The persistence part of a configuration file. */
function persistenceConfig(persistence: Persistence): string[] {
  switch (persistence) {
    case 'none':
      return ['save ""', 'appendonly no'];
    case 'rdb':
      return ['save 3600 1', 'save 300 100', 'save 60 10000', 'appendonly no'];
    case 'aof-everysec':
      return ['save ""', 'appendonly yes', 'appendfsync everysec'];
    case 'aof-always':
      return ['save ""', 'appendonly yes', 'appendfsync always'];
  }
}

/** The user's own directives; Redis takes the last of two that contradict each other. */
function userConfig(redisConf: readonly (readonly [string, string])[]): string[] {
  return redisConf.map(([key, value]) => `${key} ${value}`);
}

/**
 * One server of a service that is not Redis, on a host of its own: started, killed, started again with its data. What such
 * servers have in common; what is a service's own, its driver adds.
 *
 * Faults that need what only Redis has are refused beforehand (capability `redis`): here it rejects.
 */
import type { FileAfterPowerCut, Host, ProcessExit, SpawnOptions } from '../vocabulary/host.js';
import type { Clock } from '../vocabulary/time.js';
import type {
  Monitoring,
  OtherService,
  RedisBinary,
  ServerNode,
  ServerRole,
  ServiceNews,
} from '../vocabulary/topology.js';
import { obituaryOf } from './last-words.js';
import { DeploymentError } from './ready.js';
import { ServerProcess } from './server-process.js';

export interface ServiceServerOptions {
  host: Host;
  binary: RedisBinary;
  clock: Clock;
}

const POLL_MS = 20;
const FOLLOW_EVERY_MS = 10;

export abstract class ServiceServer implements ServerNode {
  readonly name: string;
  readonly host: Host;
  abstract readonly kind: OtherService;
  abstract readonly port: number;
  /** Hears of every end of the running server that the harness did not bring about. */
  onOwnEnd: (exit: ProcessExit) => void = () => {};
  /** How long it may take to answer once it was started. */
  protected readonly startTimeoutMs: number = 15_000;
  private current: ServerProcess | undefined;

  constructor(protected readonly options: ServiceServerOptions) {
    this.name = options.host.name;
    this.host = options.host;
  }

  /** Arguments of the program, after its path. */
  protected abstract flags(): readonly string[];
  /** Removes everything that it has on its disk. */
  protected abstract wipe(): Promise<void>;
  /** Makes ready what it needs to be started. */
  protected async prepare(): Promise<void> {}
  /** argv that starts it. */
  protected argv(): readonly string[] {
    const { binary } = this.options;
    return [...(binary.loader ?? []), binary.path, ...this.flags()];
  }
  protected spawnOptions(): SpawnOptions {
    return { env: this.options.binary.env, logStdout: true };
  }

  abstract ping(): Promise<void>;
  abstract clockMs(): Promise<number | undefined>;
  abstract version(): Promise<string>;
  abstract roleNow(): Promise<ServerRole>;
  abstract follow(keys: readonly string[], heard: (news: ServiceNews) => void): Promise<Monitoring>;

  /** What is done to it now, where it is being built anew. */
  underWay: Promise<void> | undefined;

  async undisturbed(): Promise<void> {
    await this.underWay;
  }

  get process(): ServerProcess {
    if (!this.current) throw new Error(`${this.name} has not been started`);
    return this.current;
  }

  /** Resolves when it answers, be it that it knows no leader yet. */
  async start(): Promise<void> {
    await this.prepare();
    const started = new ServerProcess(this.host.spawn(this.argv(), this.spawnOptions()));
    this.current = started;
    await this.answering(started);
    void started.exited.then((exit) => {
      if (!started.wasEnded) this.onOwnEnd(exit);
    });
  }

  obituary(exit: ProcessExit): Promise<string> {
    return obituaryOf(this.host, exit);
  }

  async forget(): Promise<void> {
    if ((await this.process.state()) !== 'dead') throw new Error(`${this.name} must be dead before it can forget`);
    await this.wipe();
  }

  async stop(): Promise<void> {
    this.current?.signal('SIGKILL');
    await this.current?.exited;
  }

  async diskTrouble(): Promise<string> {
    return 'what it has synced is not recorded';
  }

  losePower(): Promise<FileAfterPowerCut[]> {
    return this.onlyRedis('a power cut');
  }

  mendLog(): Promise<string> {
    return this.onlyRedis('mending a log');
  }

  command(..._argv: (string | number)[]): Promise<unknown> {
    return this.onlyRedis('a Redis command');
  }

  fields(): Promise<ReadonlyMap<string, string>[]> {
    return this.onlyRedis('a Redis command');
  }

  monitor(): Promise<Monitoring> {
    return this.onlyRedis('MONITOR');
  }

  subscribe(): Promise<Monitoring> {
    return this.onlyRedis('SUBSCRIBE');
  }

  /** Follows by asking again and again: `look` tells what is new; where it fails, nothing is followed any more. */
  protected async followByAsking(look: () => Promise<void>, close: () => void): Promise<Monitoring> {
    await look();
    const stop = new AbortController();
    const closed = (async () => {
      while (!stop.signal.aborted) {
        await this.options.clock.sleep(FOLLOW_EVERY_MS, stop.signal);
        try {
          await look();
        } catch (error) {
          return (error as Error).message;
        }
      }
      return 'closed';
    })().finally(close);
    return { closed, close: () => stop.abort() };
  }

  private async onlyRedis(what: string): Promise<never> {
    throw new Error(`${this.name} is no Redis: ${what} is not for it`);
  }

  private async answering(process: ServerProcess): Promise<void> {
    const { clock } = this.options;
    const giveUpNs = clock.nowNs() + this.startTimeoutMs * 1e6;
    for (;;) {
      try {
        await this.ping();
        return;
      } catch (error) {
        if ((await process.state()) === 'dead')
          throw new DeploymentError(`${this.name} ended at once: ${await this.obituary(await process.exited)}`);
        if (clock.nowNs() > giveUpNs)
          throw new DeploymentError(
            `${this.name}: no answer within ${this.startTimeoutMs} ms (${(error as Error).message})`,
          );
      }
      await clock.sleep(POLL_MS);
    }
  }
}

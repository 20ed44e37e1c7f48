/**
 * One etcd member on a host of its own: started, killed, started again with its data. The harness asks it through a unix
 * socket that no network fault reaches.
 */
import type { FileAfterPowerCut, Host, ProcessExit } from '../../vocabulary/host.js';
import type { Clock } from '../../vocabulary/time.js';
import type { Monitoring, RedisBinary, ServerNode } from '../../vocabulary/topology.js';
import { obituaryOf } from '../last-words.js';
import { DeploymentError } from '../ready.js';
import { ServerProcess } from '../server-process.js';
import { type MemberStatus, memberStatus } from './gateway.js';

export interface EtcdServerOptions {
  host: Host;
  /** Every host of the cluster, this one too. */
  members: readonly Host[];
  binary: RedisBinary;
  clock: Clock;
}

export const CLIENT_PORT = 2379;
const PEER_PORT = 2380;
/** etcd takes the address for the name of the file, port and all. */
const SOCKET = 'admin:0';
const DATA = 'data';
const ANSWER_TIMEOUT_MS = 1_000;
const START_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

export class EtcdServer implements ServerNode {
  readonly name: string;
  readonly kind = 'etcd';
  readonly host: Host;
  readonly port = CLIENT_PORT;
  /** Hears of every end of the running server that the harness did not bring about. */
  onOwnEnd: (exit: ProcessExit) => void = () => {};
  private current: ServerProcess | undefined;

  constructor(private readonly options: EtcdServerOptions) {
    this.name = options.host.name;
    this.host = options.host;
  }

  get process(): ServerProcess {
    if (!this.current) throw new Error(`${this.name} has not been started`);
    return this.current;
  }

  /** Resolves when it answers, be it that it knows no leader yet. */
  async start(): Promise<void> {
    const { binary } = this.options;
    const argv = [...(binary.loader ?? []), binary.path, ...this.flags()];
    // One that was killed leaves its socket behind, and the next would not start beside it.
    await this.host.exec(['rm', '-f', SOCKET]);
    const started = new ServerProcess(this.host.spawn(argv, { env: binary.env, logStdout: true }));
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
    const result = await this.host.exec(['rm', '-rf', DATA]);
    if (result.exitCode !== 0) throw new Error(`${this.name}: ${result.stderr}`);
  }

  async stop(): Promise<void> {
    this.current?.signal('SIGKILL');
    await this.current?.exited;
    await this.host.exec(['rm', '-rf', SOCKET]);
  }

  /** Through the channel that no fault cuts. Rejects where it does not answer. */
  status(): Promise<MemberStatus> {
    return memberStatus(() => this.host.dial(SOCKET), ANSWER_TIMEOUT_MS);
  }

  async ping(): Promise<void> {
    await this.status();
  }

  async clockMs(): Promise<undefined> {
    return undefined;
  }

  async version(): Promise<string> {
    return (await this.status()).version;
  }

  async diskTrouble(): Promise<string> {
    return 'what etcd has synced is not recorded';
  }

  losePower(): Promise<FileAfterPowerCut[]> {
    return this.onlyRedis('a power cut');
  }

  mendLog(): Promise<string> {
    return this.onlyRedis('mending a log');
  }

  command(): Promise<unknown> {
    return this.onlyRedis('a Redis command');
  }

  monitor(): Promise<Monitoring> {
    return this.onlyRedis('MONITOR');
  }

  subscribe(): Promise<Monitoring> {
    return this.onlyRedis('SUBSCRIBE');
  }

  private async onlyRedis(what: string): Promise<never> {
    throw new Error(`${this.name} is an etcd member: ${what} is not for it`);
  }

  private flags(): string[] {
    const client = `http://${this.host.address}:${CLIENT_PORT}`;
    const peer = peerUrl(this.host);
    const members = this.options.members.map((host) => `${host.name}=${peerUrl(host)}`);
    return [
      ...['--logger', 'zap', '--log-outputs', 'stderr'],
      ...['--name', this.name, '--data-dir', DATA],
      ...['--listen-client-urls', `${client},unix://${SOCKET}`, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster', members.join(','), '--initial-cluster-state', 'new'],
    ];
  }

  private async answering(process: ServerProcess): Promise<void> {
    const { clock } = this.options;
    const giveUpNs = clock.nowNs() + START_TIMEOUT_MS * 1e6;
    for (;;) {
      try {
        await this.ping();
        return;
      } catch (error) {
        if ((await process.state()) === 'dead')
          throw new DeploymentError(`${this.name}: etcd ended at once: ${await this.obituary(await process.exited)}`);
        if (clock.nowNs() > giveUpNs)
          throw new DeploymentError(
            `${this.name}: no answer within ${START_TIMEOUT_MS} ms (${(error as Error).message})`,
          );
      }
      await clock.sleep(POLL_MS);
    }
  }
}

function peerUrl(host: Host): string {
  return `http://${host.address}:${PEER_PORT}`;
}

/** One etcd member. The harness asks it through a unix socket that no network fault reaches. */
import type { Host } from '../../vocabulary/host.js';
import type { Monitoring, ServerRole, ServiceNews } from '../../vocabulary/topology.js';
import { ServiceServer, type ServiceServerOptions } from '../service-server.js';
import { type MemberStatus, memberStatus, watchKeys } from './gateway.js';

export interface EtcdServerOptions extends ServiceServerOptions {
  /** Every host of the cluster, this one too. */
  members: readonly Host[];
}

const CLIENT_PORT = 2379;
const PEER_PORT = 2380;
/** etcd takes the address for the name of the file, port and all. */
const SOCKET = 'admin:0';
const DATA = 'data';
const ANSWER_TIMEOUT_MS = 1_000;

export class EtcdServer extends ServiceServer {
  readonly kind = 'etcd';
  readonly port = CLIENT_PORT;

  constructor(protected override readonly options: EtcdServerOptions) {
    super(options);
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

  async roleNow(): Promise<ServerRole> {
    const { leaderId, memberId, raftTerm } = await this.status();
    const role = leaderId === memberId ? 'primary' : leaderId === '0' ? 'unknown' : 'replica';
    return { role, term: raftTerm, runId: String(this.process.pid) };
  }

  async follow(keys: readonly string[], heard: (news: ServiceNews) => void): Promise<Monitoring> {
    return watchKeys(() => this.host.dial(SOCKET), keys, heard, ANSWER_TIMEOUT_MS);
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.host.exec(['rm', '-rf', SOCKET]);
  }

  /** One that was killed leaves its socket behind, and the next would not start beside it. */
  protected override async prepare(): Promise<void> {
    await this.host.exec(['rm', '-f', SOCKET]);
  }

  protected async wipe(): Promise<void> {
    const result = await this.host.exec(['rm', '-rf', DATA]);
    if (result.exitCode !== 0) throw new Error(`${this.name}: ${result.stderr}`);
  }

  protected flags(): string[] {
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
}

function peerUrl(host: Host): string {
  return `http://${host.address}:${PEER_PORT}`;
}

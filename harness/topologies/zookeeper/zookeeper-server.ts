/**
 * One ZooKeeper server. The harness asks it over its host's own loopback, which no network fault reaches: a program of ours on the
 * host leads from a unix socket there.
 */
import { join } from 'node:path';
import type { Host, HostProcess } from '../../vocabulary/host.js';
import type { Monitoring, ServerRole, ServiceNews } from '../../vocabulary/topology.js';
import { ServiceServer, type ServiceServerOptions } from '../service-server.js';
import { type ServerState, serverState } from './four-letters.js';
import type { LockRecord } from './lock-record.js';
import { LogTail } from './log-tail.js';

export interface ZooServerOptions extends ServiceServerOptions {
  /** Every host of the deployment, this one too. */
  members: readonly Host[];
  /** All of them have one. */
  record: LockRecord;
}

const ZOOKEEPER_PORT = 2181;
const PEER_PORT = 2888;
const ELECTION_PORT = 3888;
const DATA = 'data';
/** Where it keeps what it has, in the form of now. */
const VERSIONED = 'data/version-2';
const SETTINGS = 'zoo.cfg';
const SOCKET = 'admin.sock';
const ANSWER_TIMEOUT_MS = 1_000;
/** Its unit of time, and after how many servers part that hear nothing of each other. */
export const TICK_MS = 250;
export const SYNC_LIMIT_TICKS = 6;
const LONGEST_SESSION_MS = 3_600_000;

/** One connection after another, each led to the server. */
const LEAD = `
const net = require('node:net');
net.createServer({ allowHalfOpen: true }, (from) => {
  const to = net.connect(${ZOOKEEPER_PORT}, '127.0.0.1');
  const end = () => { from.destroy(); to.destroy(); };
  for (const one of [from, to]) { one.on('error', end); one.on('close', end); }
  from.pipe(to);
  to.pipe(from);
}).listen(process.argv[1]);
`;

export class ZooServer extends ServiceServer {
  readonly kind = 'zookeeper';
  readonly port = ZOOKEEPER_PORT;
  /** Half a second on a quiet machine; Java is slow where many share the cores. */
  protected override readonly startTimeoutMs = 60_000;
  private lead: HostProcess | undefined;

  constructor(protected override readonly options: ZooServerOptions) {
    super(options);
  }

  /** Through the channel that no fault cuts. Rejects where it does not answer. */
  async state(): Promise<ServerState> {
    return serverState(await this.host.dial(SOCKET), ANSWER_TIMEOUT_MS);
  }

  async ping(): Promise<void> {
    await this.state();
  }

  async clockMs(): Promise<undefined> {
    return undefined;
  }

  async version(): Promise<string> {
    const { serving } = await this.state();
    if (!serving) throw new Error(`${this.name} serves nobody at the moment`);
    return serving.version;
  }

  async roleNow(): Promise<ServerRole> {
    const { serving } = await this.state();
    const role = serving === undefined ? 'unknown' : serving.mode === 'follower' ? 'replica' : 'primary';
    return { role, term: await this.epoch(), runId: String(this.process.pid) };
  }

  /** The newest leader's that it has agreed to. */
  async epoch(): Promise<number> {
    const told = await this.host.readFile(join(VERSIONED, 'currentEpoch'));
    // One that is alone has none.
    return told ? Number(told.data.toString()) : 0;
  }

  follow(keys: readonly string[], heard: (news: ServiceNews) => void): Promise<Monitoring> {
    const { record } = this.options;
    const tail = new LogTail(this.host, VERSIONED);
    record.listen(this.name, keys, heard);
    return this.followByAsking(
      async () => record.take(this.name, await tail.news()),
      () => {},
    );
  }

  override async stop(): Promise<void> {
    await super.stop();
    this.lead?.signal('SIGKILL');
    await this.lead?.exited;
    this.lead = undefined;
  }

  protected override async prepare(): Promise<void> {
    const { members } = this.options;
    const number = members.indexOf(this.host) + 1;
    await this.host.exec(['mkdir', '-p', DATA]);
    await this.host.writeFile(join(DATA, 'myid'), String(number));
    await this.host.writeFile(SETTINGS, settingsFor(members));
    if (this.lead) return;
    await this.host.exec(['rm', '-f', SOCKET]);
    this.lead = this.host.spawn([process.execPath, '-e', LEAD, SOCKET], { logStdout: true });
  }

  protected async wipe(): Promise<void> {
    const result = await this.host.exec(['rm', '-rf', DATA]);
    if (result.exitCode !== 0) throw new Error(`${this.name}: ${result.stderr}`);
  }

  protected flags(): string[] {
    return [
      // As much as a run's locks need, started as fast as can be.
      ...['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'],
      ...['-Djava.net.preferIPv4Stack=true', '-Dzookeeper.preAllocSize=1024'],
      ...['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-Dorg.slf4j.simpleLogger.showDateTime=true'],
      ...['org.apache.zookeeper.server.quorum.QuorumPeerMain', `./${SETTINGS}`],
    ];
  }
}

function settingsFor(members: readonly Host[]): string {
  const peers = members.map((host, n) => `server.${n + 1}=${host.address}:${PEER_PORT}:${ELECTION_PORT}`);
  return [
    `dataDir=./${DATA}`,
    `clientPort=${ZOOKEEPER_PORT}`,
    `tickTime=${TICK_MS}`,
    // Followers that start beside a busy machine's other work may take their time.
    'initLimit=40',
    `syncLimit=${SYNC_LIMIT_TICKS}`,
    `maxSessionTimeout=${LONGEST_SESSION_MS}`,
    'maxClientCnxns=0',
    'admin.enableServer=false',
    '4lw.commands.whitelist=srvr',
    ...(members.length > 1 ? peers : []),
    '',
  ].join('\n');
}

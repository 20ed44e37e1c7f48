/**
 * The `sim` runtime: hosts that exist in this Node process only, in virtual time. Servers are the unmodified programs, each
 * under `harness/native/sim-shim.c`; lock clients are JavaScript that runs here (`client-process.ts`). Everything above it is as
 * in the other runtimes.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type {
  ClockSkew,
  ExecResult,
  FileAfterPowerCut,
  Host,
  HostProcess,
  OwnDisk,
  OwnNetwork,
  PowerCut,
  Runtime,
  SpawnOptions,
} from '../../vocabulary/host.js';
import type { Clock } from '../../vocabulary/time.js';
import { listHostFolder, readHostFile } from '../host-files.js';
import { DISK_RECORD } from '../power-cut.js';
import { realClock } from '../real-clock.js';
import { SimClientProcess, type SimProgram } from './client-process.js';
import { SimDisk } from './disk.js';
import { SimServerProcess } from './server-process.js';
import type { ServerChannel, WarmServers } from './warm-servers.js';
import type { NetworkPlace } from './wire.js';
import { OutsideOfTheWorldError, type SimWorld } from './world.js';

export interface SimOptions {
  world: SimWorld;
  /** The run's folder: hosts get `hosts/<name>/` and `logs/<name>.log` below it. */
  folder: string;
  /** The compiled shim. */
  shim: string;
  servers: WarmServers;
  /** Programs that live in the world, by their argv; what is none of them is a server. */
  program(argv: readonly string[]): SimProgram | undefined;
}

/** They know files alone: a log is mended by them (`topologies/mend-log.ts`). */
const OF_FILES = new Set(['ln', 'sh']);
const NO_SKEW: ClockSkew = { offsetMs: 0, ratePpm: 0 };
const address = (index: number) => `10.77.${index >> 8}.${index & 255}`;
const SPARE_ADDRESS = '10.77.255.1';
const FIRST_PID = 100;

export class SimRuntime implements Runtime {
  readonly name = 'sim';
  readonly exactStamps = true;
  readonly spareAddress = SPARE_ADDRESS;
  readonly unavailable = {};
  readonly ownNetwork: OwnNetwork;
  /** Its clocks are the world's. */
  readonly clock: Clock;
  private readonly hosts: SimHost[] = [];

  constructor(private readonly options: SimOptions) {
    this.clock = realClock(options.world.timeline.nowNs);
    this.ownNetwork = options.world.network;
    mkdirSync(join(options.folder, 'logs'), { recursive: true });
  }

  async createHosts(names: readonly string[]): Promise<Host[]> {
    const made = names.map((name, n) => new SimHost(name, address(this.hosts.length + 2 + n), this.options));
    this.hosts.push(...made);
    return made;
  }

  /** The deployment is ready: what happens from now on is this schedule's. */
  ready(): void {
    this.options.world.ready();
    for (const host of this.hosts) host.ready();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** Ends every process, at once. */
  close(): void {
    for (const host of this.hosts) host.close();
  }
}

class SimHost implements Host {
  readonly folder: string;
  /** Nobody is root. */
  readonly asNobody = [];
  private readonly log: string;
  readonly ownDisk: OwnDisk;
  private readonly disk: SimDisk;
  private readonly processes: (SimServerProcess | SimClientProcess)[] = [];
  private skew = { ...NO_SKEW, sinceNs: 0 };
  private isReady = false;
  private isClosed = false;

  constructor(
    readonly name: string,
    readonly address: string,
    private readonly options: SimOptions,
  ) {
    this.folder = join(options.folder, 'hosts', name);
    mkdirSync(this.folder, { recursive: true });
    this.disk = new SimDisk(this.folder);
    this.ownDisk = this.diskOfItsOwn();
    this.log = join(options.folder, 'logs', `${name}.log`);
    options.world.network.hosts.set(address, name);
  }

  /** Does in no time what the few programs do that a run asks a host for. */
  async exec(argv: readonly string[]): Promise<ExecResult> {
    const [program, ...args] = argv;
    const done = (stdout = ''): ExecResult => ({ exitCode: 0, stdout, stderr: '' });
    if (program === 'rm') {
      for (const file of args.filter((arg) => !arg.startsWith('-')))
        rmSync(join(this.folder, file), { recursive: true, force: true });
      // Elsewhere a file, that goes with what it is a record of.
      if (args.includes(DISK_RECORD)) this.disk.forget();
      return done();
    }
    if (argv.join(' ') === 'cat /proc/net/tcp') return done(this.connections());
    if (program === 'tail') return done(readFileSync(join(this.folder, args.at(-1)!), 'utf8').slice(-Number(args[1])));
    if (OF_FILES.has(program!)) return this.onFiles(argv);
    throw new OutsideOfTheWorldError(`a simulated host does not have the program ${program}`);
  }

  private onFiles([program, ...args]: readonly string[]): ExecResult {
    const env = { PATH: process.env.PATH, TZ: 'UTC' };
    const { status, stdout, stderr, error } = spawnSync(program!, args, { cwd: this.folder, env, encoding: 'utf8' });
    if (error) throw error;
    return { exitCode: status ?? 1, stdout, stderr };
  }

  spawn(argv: readonly string[], options: SpawnOptions = {}): HostProcess {
    const { world } = this.options;
    const pid = FIRST_PID + this.processes.length;
    const program = this.options.program(argv);
    const process = program
      ? new SimClientProcess(this, pid, program, world, (line) => appendFileSync(this.log, `${line}\n`))
      : new SimServerProcess(this, pid, this.startServer(argv, pid, options), world, this.disk.begin());
    if (process instanceof SimServerProcess) process.setClock(this.skew);
    if (process instanceof SimServerProcess && this.disk.syncMs > 0) process.setSyncTime(this.disk.syncMs);
    this.processes.push(process);
    return process;
  }

  private diskOfItsOwn(): OwnDisk {
    const { disk, processes } = this;
    return {
      get syncMs() {
        return disk.syncMs;
      },
      get syncs() {
        return disk.syncs;
      },
      setSyncTime(syncMs) {
        disk.syncMs = syncMs;
        for (const process of processes) if (process instanceof SimServerProcess) process.setSyncTime(syncMs);
      },
    };
  }

  async writeFile(name: string, data: string): Promise<string> {
    const path = join(this.folder, name);
    writeFileSync(path, data);
    return path;
  }

  async readFile(path: string, piece?: { from: number; bytesMax: number }) {
    return readHostFile(this.folder, path, piece);
  }

  async listFolder(path: string): Promise<string[]> {
    return listHostFolder(this.folder, path);
  }

  async dial(socketPath: string): Promise<Duplex> {
    for (const process of this.processes) {
      const stream = process instanceof SimServerProcess ? process.dial(socketPath) : undefined;
      if (stream) return stream;
    }
    throw new Error(`connect ENOENT ${socketPath}: nothing listens there on ${this.name}`);
  }

  async setClock(skew: ClockSkew): Promise<void> {
    this.skew = { ...skew, sinceNs: this.options.world.timeline.nowNs };
    for (const process of this.processes) if (process instanceof SimServerProcess) process.setClock(skew);
  }

  async startLinkShaper(): Promise<HostProcess> {
    throw new OutsideOfTheWorldError('a simulated network shapes its links by itself');
  }

  async diskTrouble(): Promise<undefined> {}

  async losePower(cut: PowerCut): Promise<FileAfterPowerCut[]> {
    for (const process of this.processes)
      if (process instanceof SimServerProcess && (await process.state()) !== 'dead')
        throw new Error(`process ${process.pid} of ${this.name} is still there`);
    return this.disk.losePower(cut);
  }

  /** How far its clock is ahead. */
  aheadMs(): number {
    const { offsetMs, ratePpm, sinceNs } = this.skew;
    return offsetMs + (ratePpm * (this.options.world.timeline.nowNs - sinceNs)) / 1e12;
  }

  ready(): void {
    this.isReady = true;
    for (const process of this.processes)
      if (process instanceof SimServerProcess) process.ready(this.randomnessOf(process.pid));
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const process of this.processes) process.signal('SIGKILL');
  }

  /** As the kernel lists them; only those that are established. */
  private connections(): string {
    const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0');
    const end = ({ address, port }: NetworkPlace) =>
      `${hex(Buffer.from(address.split('.').map(Number)).readUInt32LE(), 8)}:${hex(port, 4)}`;
    const lines = this.options.world.network
      .connectionsOf(this.name)
      .map(
        ({ own, peer, unacknowledged }, n) => `${n}: ${end(own)} ${end(peer)} 01 ${hex(unacknowledged, 8)}:00000000`,
      );
    return ['sl local_address rem_address st tx_queue:rx_queue', ...lines].join('\n');
  }

  private startServer(argv: readonly string[], pid: number, { env, cwd }: SpawnOptions): ServerChannel {
    const { world, shim, servers } = this.options;
    const program = {
      argv,
      // Nothing of the user's environment: it would be in the program's memory.
      env: {
        ...env,
        TZ: 'UTC',
        LD_PRELOAD: shim,
        SIM_SEED: String(this.randomnessOf(pid)),
        SIM_PROCESS: String(pid),
        SIM_ADDRESS: this.address,
        SIM_HOST: this.name,
      },
      cwd: cwd ?? this.folder,
      log: this.log,
      nowNs: world.timeline.nowNs,
    };
    return this.isReady ? servers.startAlone(program) : servers.start(program);
  }

  private randomnessOf(pid: number): number {
    return this.options.world.draws(`randomness of ${this.name} ${pid}`)(0) * 2 ** 32;
  }
}

/**
 * The `netns` runtime: each host is a network namespace of its own on a bridge that only this run can see, and a UTS namespace,
 * so that it has a name of its own.
 *
 * It must run inside the run's private network and process namespaces (see `cli/enter-namespaces.ts`): then nothing
 * that it does can reach the machine's network, and the kernel ends every process and removes every namespace when the
 * run's first process dies, whatever the reason. Needs util-linux and iproute2 only; no iptables, tc or nft.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readFileSync, readlinkSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { clockEnv, encodeSkew } from '../machine/clock-shim.js';
import { preloadEnv } from '../machine/native-part.js';
import type {
  Capability,
  ClockSkew,
  ExecResult,
  FileAfterPowerCut,
  FilePiece,
  Host,
  HostProcess,
  PowerCut,
  Runtime,
  SpawnOptions,
} from '../vocabulary/host.js';
import type { Clock } from '../vocabulary/time.js';
import { BoundedLog } from './bounded-log.js';
import { listHostFolder, readHostFile } from './host-files.js';
import { ALONE, NetnsProcess } from './netns-process.js';
import { diskRecordEnv, diskRecordTrouble, losePower } from './power-cut.js';
import { Family } from './process-family.js';
import { monotonicNs } from './real-clock.js';

/** A host could not be made or taken down; the message says what did not work, and what to do. */
export class HostError extends Error {
  override name = 'HostError';
}

/** A command that did not end in time tells of the machine, not of a mistake. */
const IS_IT_BUSY = 'if the machine is busy, make fewer runs at once (--jobs 1)';

export interface NetnsOptions {
  /** The run's folder: hosts get `hosts/<name>/` and `logs/<name>.log` below it. */
  folder: string;
  clock: Clock;
  /** The compiled clock shim; without it clocks cannot be skewed. */
  clockShim?: string;
  /** The compiled durable shim, where the run needs to know what its servers have synced. */
  durableShim?: string;
  /** The compiled link shaper; without it links cannot be degraded. */
  linkShaper?: string;
  unavailable: Partial<Record<Capability, string>>;
}

const BRIDGE = 'torture0';
/** Of each host. */
const DEVICE = 'eth0';
/** Any private range will do: the namespace has no route to anywhere else. */
const address = (index: number) => `10.77.${index >> 8}.${index & 255}`;
/** Far beyond what hosts are given. */
const SPARE_ADDRESS = '10.77.255.1';
const EXEC_TIMEOUT_MS = 5_000;
/** Of what prepares the network, before anything is measured: a busy machine may take its time. */
const PREPARING_TIMEOUT_MS = 30_000;

/** Opens the runtime inside the run's own namespaces; rejects when it finds itself on the machine's network. */
export async function netnsRuntime(options: NetnsOptions): Promise<Runtime> {
  assertPrivateNetwork();
  await ip([
    ['link', 'set', 'lo', 'up'],
    ['link', 'add', BRIDGE, 'type', 'bridge'],
    ['link', 'set', BRIDGE, 'up'],
  ]);
  return new NetnsRuntime(options);
}

class NetnsRuntime implements Runtime {
  readonly name = 'netns';
  readonly spareAddress = SPARE_ADDRESS;
  readonly clock: Clock;
  readonly unavailable: Partial<Record<Capability, string>>;
  private readonly hosts: NetnsHost[] = [];

  constructor(private readonly options: NetnsOptions) {
    this.clock = options.clock;
    this.unavailable = options.unavailable;
  }

  async createHosts(names: readonly string[]): Promise<Host[]> {
    const first = this.hosts.length + 2;
    const created = names.map((name, n) => new NetnsHost(name, first + n, this.options));
    this.hosts.push(...created);
    await Promise.all(created.map((host) => host.namespacesReady(this.clock)));
    await ip(created.flatMap((host) => host.plugIn()));
    await Promise.all(created.map((host) => host.configureNetwork()));
    return created;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.close()));
    await ip([['link', 'del', BRIDGE]]);
  }
}

class NetnsHost implements Host {
  readonly address: string;
  readonly folder: string;
  /** In a user namespace of its own, which says nothing of who it is: there this process is not root, and owns what it owned. */
  readonly asNobody = ['unshare', '--user', '--'];
  private readonly holder: ChildProcess;
  private readonly children = new Set<NetnsProcess>();
  private readonly folderFd: number;
  private readonly clockFd: number;
  private readonly clockFile: string;
  private readonly log: BoundedLog;

  constructor(
    readonly name: string,
    private readonly index: number,
    private readonly options: NetnsOptions,
  ) {
    this.address = address(index);
    this.folder = join(options.folder, 'hosts', name);
    mkdirSync(this.folder, { recursive: true });
    this.log = new BoundedLog(join(options.folder, 'logs', `${name}.log`));
    this.folderFd = openSync(this.folder, constants.O_RDONLY | constants.O_DIRECTORY);
    this.clockFile = join(this.folder, 'clock');
    this.clockFd = openSync(this.clockFile, 'w+');
    writeSync(this.clockFd, encodeSkew({ offsetMs: 0, ratePpm: 0 }, monotonicNs()), 0, undefined, 0);
    // The holder keeps the namespaces alive while processes in it come and go.
    const holding = ['--net', '--uts', '--', 'sleep', 'infinity'];
    this.holder = spawn('unshare', holding, { stdio: ['ignore', 'ignore', this.log.fd] });
  }

  /**
   * Resolves once the holder has left our namespaces and the host has its name. Until then `netns <pid>` would move devices to
   * ourselves, and we be named.
   */
  async namespacesReady(clock: Clock): Promise<void> {
    const giveUpNs = clock.nowNs() + PREPARING_TIMEOUT_MS * 1e6;
    while (!['net', 'uts'].every((kind) => isOutside(this.holder.pid, kind))) {
      if (this.holder.exitCode !== null)
        throw new HostError(`host ${this.name}: unshare --net --uts exited with ${this.holder.exitCode}`);
      if (clock.nowNs() > giveUpNs)
        throw new HostError(`host ${this.name} had no namespaces after ${PREPARING_TIMEOUT_MS} ms; ${IS_IT_BUSY}`);
      await clock.sleep(2);
    }
    const { exitCode, stderr } = await this.exec(['hostname', this.name]);
    if (exitCode !== 0) throw new HostError(`host ${this.name} cannot be given its name: ${stderr}`);
  }

  /** Commands for the run's own namespace that connect this host to the bridge. */
  plugIn(): string[][] {
    const device = `veth${this.index}`;
    return [
      ['link', 'add', device, 'type', 'veth', 'peer', 'name', DEVICE, 'netns', String(this.holder.pid)],
      ['link', 'set', device, 'master', BRIDGE, 'up'],
    ];
  }

  async configureNetwork(): Promise<void> {
    // Many machines filter by reverse path, and a new namespace inherits that: a cut of one direction would drop both.
    // Where it cannot be switched off, that fault notices and refuses.
    const filters = ['all', 'default', DEVICE].map((device) => `/proc/sys/net/ipv4/conf/${device}/rp_filter`);
    const [command, ...args] = [...this.inside(), 'tee', ...filters];
    const unfiltered = execa(command!, args, { input: '0', reject: false, stdout: 'ignore', timeout: EXEC_TIMEOUT_MS });
    await ip(
      [
        ['link', 'set', 'lo', 'up'],
        ['addr', 'add', `${this.address}/16`, 'dev', DEVICE],
        ['link', 'set', DEVICE, 'up'],
      ],
      this.inside(),
    );
    await unfiltered;
  }

  async exec(argv: readonly string[], options: { timeoutMs?: number; cwd?: string } = {}): Promise<ExecResult> {
    const [command, ...args] = [...this.inside(), ...argv];
    const result = await execa(command!, args, {
      reject: false,
      cwd: options.cwd ?? this.folder,
      timeout: options.timeoutMs ?? EXEC_TIMEOUT_MS,
      stdin: 'ignore',
    });
    if (result.exitCode === undefined) throw new Error(`on ${this.name}: ${argv.join(' ')}: ${result.shortMessage}`);
    return { exitCode: result.exitCode, stdout: result.stdout, stderr: result.stderr };
  }

  spawn(argv: readonly string[], options: SpawnOptions = {}): HostProcess {
    const env = { ...this.shims(options), ...options.env };
    // `env` sets the variables last, so that a preloaded clock or library path never reaches what leads the command in. Each of
    // these replaces itself with the next, so the child's number is the command's own, where it is not alone.
    const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const alone = options.alone ? ALONE : [];
    const [command, ...args] = [...this.inside(), ...alone, 'env', ...assignments, ...argv];
    const child = spawn(command!, args, {
      cwd: options.cwd ?? this.folder,
      stdio: ['pipe', ...(options.logStdout ? [this.log.fd, this.log.fd] : ['pipe' as const, 'pipe' as const])],
    });
    child.stderr?.on('data', (chunk: Buffer) => this.log.write(chunk));
    const started = new NetnsProcess(child, options.alone === true, this.options.clock);
    this.children.add(started);
    void started.exited.then(() => this.children.delete(started));
    return options.family ? asFamily(started) : started;
  }

  dial(socketPath: string): Promise<Socket> {
    // Through the folder's descriptor, because a unix socket's path may be no longer than 107 bytes.
    const socket = createConnection(`/proc/self/fd/${this.folderFd}/${socketPath}`);
    return new Promise((resolve, reject) => {
      socket.once('connect', () => {
        socket.removeListener('error', reject);
        resolve(socket);
      });
      socket.once('error', reject);
    });
  }

  async setClock(skew: ClockSkew): Promise<void> {
    if (this.options.unavailable.clock) throw new Error(this.options.unavailable.clock);
    writeSync(this.clockFd, encodeSkew(skew, monotonicNs()), 0, undefined, 0);
  }

  async startLinkShaper(near: string, seed: number): Promise<HostProcess> {
    const { linkShaper, unavailable } = this.options;
    if (unavailable.link || !linkShaper) throw new Error(unavailable.link ?? 'there is no link shaper');
    return this.spawn([linkShaper, near, DEVICE, String(seed)]);
  }

  async diskTrouble(pid: number): Promise<string | undefined> {
    return diskRecordTrouble(this.folder, pid);
  }

  losePower(cut: PowerCut): Promise<FileAfterPowerCut[]> {
    return losePower(this.folder, cut);
  }

  async writeFile(name: string, data: string, mode = 0o644): Promise<string> {
    const path = join(this.folder, name);
    await writeFile(path, data, { mode });
    return path;
  }

  async readFile(path: string, piece?: { from: number; bytesMax: number }): Promise<FilePiece | undefined> {
    return readHostFile(this.folder, path, piece);
  }

  async listFolder(path: string): Promise<string[]> {
    return listHostFolder(this.folder, path);
  }

  async close(): Promise<void> {
    for (const child of this.children) child.signal('SIGKILL');
    await Promise.all([...this.children].map((child) => child.exited));
    this.holder.kill('SIGKILL');
    this.log[Symbol.dispose]();
    for (const fd of [this.folderFd, this.clockFd]) closeSync(fd);
  }

  private shims({ disk }: SpawnOptions): Record<string, string> {
    const { clockShim, durableShim } = this.options;
    const clock = clockShim ? clockEnv(clockShim, this.clockFile) : {};
    if (!disk || !durableShim) return clock;
    const libraries = clockShim ? [clockShim, durableShim] : [durableShim];
    return { ...clock, ...preloadEnv(...libraries), ...diskRecordEnv(this.folder) };
  }

  private inside(): string[] {
    return ['nsenter', '--target', String(this.holder.pid), '--net', '--uts', '--'];
  }
}

function asFamily(process: NetnsProcess): HostProcess {
  const family = new Family(process);
  return {
    get pid() {
      return process.pid;
    },
    stdin: process.stdin,
    stdout: process.stdout,
    exited: process.exited,
    signal: (signal) => family.signal(signal),
    state: () => family.state(),
  };
}

/** Runs a batch of `ip` commands in one process; rejects with the first that failed. */
async function ip(commands: readonly (readonly string[])[], inside: readonly string[] = []): Promise<void> {
  const [command, ...args] = [...inside, 'ip', '-batch', '-'];
  const result = await execa(command!, args, {
    reject: false,
    timeout: PREPARING_TIMEOUT_MS,
    input: `${commands.map((words) => words.join(' ')).join('\n')}\n`,
  });
  if (result.timedOut) throw new HostError(`ip did not end within ${PREPARING_TIMEOUT_MS} ms; ${IS_IT_BUSY}`);
  if (result.exitCode !== 0) throw new HostError(`ip: ${result.stderr || result.shortMessage}`);
}

/** Whether a process has left our own namespace of a kind. */
function isOutside(pid: number | undefined, kind: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/${kind}`) !== readlinkSync(`/proc/self/ns/${kind}`);
  } catch {
    return false; // not started yet, or gone
  }
}

/** The last guard against a fault that strikes the machine itself: a fresh network namespace has no route to anywhere. */
function assertPrivateNetwork(): void {
  const routes = readFileSync('/proc/net/route', 'utf8').trim().split('\n').slice(1);
  if (routes.length > 0) {
    throw new Error(
      `refusing to run on a network that is not the run's own: it has routes (${routes[0]!.split('\t')[0]})`,
    );
  }
}

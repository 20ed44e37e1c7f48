/** A host that is a container: everything on it goes through its agent (`link.ts`). */
import { basename, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { BoundedLog } from '../harness/runtimes/bounded-log.js';
import { diskRecordEnv } from '../harness/runtimes/power-cut.js';
import type {
  ClockSkew,
  ExecResult,
  FileAfterPowerCut,
  FilePiece,
  Host,
  HostProcess,
  PowerCut,
  SpawnOptions,
} from '../harness/vocabulary/host.js';
import type { Prepared, ReadPiece } from './agent/messages.js';
import type { Container } from './engine.js';
import { INSIDE } from './images.js';
import { Link } from './link.js';
import type { DockerOptions, HostFile } from './options.js';

const EXEC_TIMEOUT_MS = 5_000;

/** The device by which a container is in the run's network. */
export const DEVICE = 'eth0';

/** In every image of Debian and Ubuntu, user and group. */
const NOBODY = 65_534;

/** What a host is made of. */
export interface HostContainers {
  own: Container;
  /** Makes another one in the network namespace of the first, for programs that need more powers than a host has. */
  makeSidecar(): Promise<Container>;
}

export class DockerHost implements Host {
  readonly folder: string;
  /** Which takes powers of its container (`DockerOptions.serversAreNobody`). */
  readonly asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'];
  private readonly clockFile: string;
  private readonly log: BoundedLog;
  private link: Link | undefined;
  private sidecar: Promise<Link> | undefined;
  private where: Prepared | undefined;

  constructor(
    readonly name: string,
    private readonly containers: HostContainers,
    private readonly options: DockerOptions,
  ) {
    // The same paths inside as outside, so that what one says the other understands.
    this.folder = join(options.folder, 'hosts', name);
    this.clockFile = join(this.folder, 'clock');
    this.log = new BoundedLog(join(options.folder, 'logs', `${name}.log`));
  }

  get address(): string {
    return this.prepared.address;
  }

  get prepared(): Prepared {
    if (!this.where) throw new Error(`${this.name} has not been started`);
    return this.where;
  }

  /** Starts the container; resolves when its agent answers and its files are there. */
  async start(files: ReadonlyMap<string, HostFile>): Promise<void> {
    this.link = await Link.start(this.name, this.containers.own, (chunk) => this.log.write(chunk));
    const skew = this.options.encodeSkew({ offsetMs: 0, ratePpm: 0 });
    const log = join(this.options.folder, 'logs', `${this.name}.log`);
    this.where = await this.link.call<Prepared>({
      do: 'prepare',
      folder: this.folder,
      log,
      clock: skew.toString('base64'),
    });
    const written = [...files].map(([path, { data, mode }]) =>
      this.link!.call({ do: 'write', path, mode, data: data.toString('base64') }),
    );
    await Promise.all(written);
  }

  exec(argv: readonly string[], options: { timeoutMs?: number; cwd?: string } = {}): Promise<ExecResult> {
    const timeoutMs = options.timeoutMs ?? EXEC_TIMEOUT_MS;
    const call = { do: 'exec', argv: this.inside(argv), cwd: options.cwd ?? this.folder, timeoutMs } as const;
    return this.open.call<ExecResult>(call, timeoutMs);
  }

  spawn(argv: readonly string[], options: SpawnOptions = {}): HostProcess {
    return this.open.spawn({
      do: 'spawn',
      argv: this.inside(argv),
      cwd: options.cwd ?? this.folder,
      env: { ...this.shims(options), ...options.env },
      logStdout: options.logStdout ?? false,
      alone: options.alone ?? false,
      family: options.family ?? false,
    });
  }

  async writeFile(name: string, data: string, mode = 0o644): Promise<string> {
    const path = join(this.folder, name);
    await this.open.call({ do: 'write', path, mode, data: Buffer.from(data).toString('base64') });
    return path;
  }

  async readFile(path: string, piece?: { from: number; bytesMax: number }): Promise<FilePiece | undefined> {
    const read = await this.open.call<ReadPiece | null>({ do: 'read', path, ...(piece && { piece }) });
    return read === null ? undefined : { ...read, data: Buffer.from(read.data, 'base64') };
  }

  listFolder(path: string): Promise<string[]> {
    return this.open.call({ do: 'list', path });
  }

  dial(socketPath: string): Promise<Duplex> {
    return this.open.dial(socketPath);
  }

  async setClock(skew: ClockSkew): Promise<void> {
    if (this.options.unavailable.clock) throw new Error(this.options.unavailable.clock);
    const data = this.options.encodeSkew(skew).toString('base64');
    await this.open.call({ do: 'overwrite', path: this.clockFile, data });
  }

  async diskTrouble(pid: number): Promise<string | undefined> {
    return (await this.open.call<string | null>({ do: 'disk-trouble', folder: this.folder, pid })) ?? undefined;
  }

  losePower(cut: PowerCut): Promise<FileAfterPowerCut[]> {
    return this.open.call({ do: 'lose-power', folder: this.folder, cut });
  }

  async startLinkShaper(near: string, seed: number): Promise<HostProcess> {
    if (this.options.unavailable.link) throw new Error(this.options.unavailable.link);
    const link = await this.besides();
    const argv = [INSIDE.linkShaper, near, DEVICE, String(seed)];
    return link.spawn({ do: 'spawn', argv, cwd: '/', env: {}, logStdout: false, alone: false, family: false });
  }

  /** Ends everything on it; the engine then removes the container. */
  async close(): Promise<void> {
    const sidecar = await this.sidecar?.catch(() => undefined);
    for (const link of [this.link, sidecar]) link?.close();
    this.log[Symbol.dispose]();
  }

  /** The sidecar, started when it is first wanted, and again where it has gone. */
  private async besides(): Promise<Link> {
    const start = async () =>
      Link.start(`${this.name}'s sidecar`, await this.containers.makeSidecar(), (chunk) => this.log.write(chunk));
    if ((await this.sidecar?.catch(() => undefined))?.isGone !== false) this.sidecar = start();
    return this.sidecar!;
  }

  private shims({ disk }: SpawnOptions): Record<string, string> {
    const { unavailable, recordsDisk } = this.options;
    const records = disk === true && recordsDisk;
    const libraries = [...(unavailable.clock ? [] : [INSIDE.clockShim]), ...(records ? [INSIDE.durableShim] : [])];
    return {
      ...(libraries.length > 0 && { LD_PRELOAD: libraries.join(':') }),
      ...(!unavailable.clock && { LOCK_TORTURE_CLOCK: this.clockFile }),
      ...(records && diskRecordEnv(this.folder)),
    };
  }

  private get open(): Link {
    if (!this.link) throw new Error(`${this.name} has not been started`);
    return this.link;
  }

  /** Programs of the project, and Node itself, lie elsewhere inside. */
  private inside(argv: readonly string[]): string[] {
    const { project, program } = this.options;
    return argv.map((argument, n) => {
      // Wherever the image has it.
      if (n === 0 && argument === program) return basename(program);
      if (argument === process.execPath) return INSIDE.node;
      return argument.startsWith(`${project}/dist/`) ? INSIDE.project + argument.slice(project.length) : argument;
    });
  }
}

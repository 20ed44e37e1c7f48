/**
 * Runs of a batch in virtual time: each in a simulated world, and then judged and kept like any other. What a world does not have
 * is told as that, and its run is none.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type PrivateFolder, temporaryFolder } from '../../harness/machine/private-folder.js';
import { linkLatest } from '../../harness/record/store.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { createFreshFolder } from '../common/ids.js';
import { coresOfThisProcess, WorldProcess } from '../hunt/world-process.js';
import { judgeRun } from '../judge/judge.js';
import { putLoadedLock } from '../run/lock-module.js';
import type { RunRequest } from '../run/prepare-run.js';
import { CLIENT_ARGV } from '../run/simulated-client.js';
import type { MadeRun, MakeRun } from './batch.js';

/** Worlds with what they play; disposed, nothing of them is left. */
export class VirtualWorlds implements AsyncDisposable {
  /** For what goes with it. */
  private readonly scratch: PrivateFolder = temporaryFolder();
  private readonly cores = coresOfThisProcess();
  private readonly worlds: WorldProcess[] = [];
  private readonly idle: WorldProcess[] = [];
  /** Paths of locks as modules, by name and by where their files are. */
  private readonly modules = new Map<string, Promise<string>>();

  /** Makes a run in virtual time. */
  readonly make: MakeRun = async ({ request, plan }, { machine, base, stop }): Promise<MadeRun> => {
    const { server: _, ...brought } = machine;
    let folder: string | undefined;
    let world: WorldProcess | undefined;
    let over = () => {};
    try {
      const lock = await this.moduleOf(request);
      if (stop.asked) return 'not-begun';
      const made = createFreshFolder(base, request.topology);
      folder = made.folder;
      const runId = made.id;
      const startedAt = new Date().toISOString();
      const config: RunConfig = { version: 2, runId, startedAt, ...request, ...brought, clientArgv: CLIENT_ARGV };
      world = this.worldWith(lock, machine.simShim!);
      // It ends by itself, and soon.
      const ended = new Promise<void>((resolve) => {
        over = resolve;
      });
      stop.passOnTo({ ended, askToStop() {}, kill() {} }, (text) => process.stderr.write(`\n${text}`));
      const { digest } = await world.play(config, plan, { keep: folder });
      linkLatest(folder);
      const { results } = await judgeRun(folder);
      return { folder, runId, reproduce: config.reproduce, results, digest };
    } catch (error) {
      // Of what did not come to its end nothing can be told.
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      throw error;
    } finally {
      over();
      if (world) this.idle.push(world);
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.worlds.map((world) => world.close()));
    this.scratch[Symbol.dispose]();
  }

  private moduleOf({ lock, cwd }: RunRequest): Promise<string> {
    const name = `${cwd}\n${lock}`;
    const known = this.modules.get(name);
    if (known) return known;
    const folder = join(this.scratch.path, `lock-${this.modules.size}`);
    mkdirSync(folder);
    const module = putLoadedLock(lock, cwd, folder);
    this.modules.set(name, module);
    return module;
  }

  private worldWith(lock: string, shim: string): WorldProcess {
    const free = this.idle.pop();
    if (free) {
      free.take(lock);
      return free;
    }
    const core = this.cores[this.worlds.length % this.cores.length]!;
    const world = new WorldProcess({ workFolder: this.scratch.path, shim, lock, core });
    this.worlds.push(world);
    return world;
  }
}

/**
 * Turns a decision to run into a run folder that the inner process can carry out: what this machine has, the lock as a
 * command, `config.json`, `plan.json`. Starts nothing. Where the decision comes from (flags, an earlier run) is not its
 * business.
 */
import { rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { externalProgram } from '../../harness/machine/external-project.js';
import { PROJECT } from '../../harness/machine/project-files.js';
import { cacheFolder } from '../../harness/machine/redis-binary.js';
import { linkLatest, writeJson } from '../../harness/record/store.js';
import type { Plan } from '../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { externalLock } from '../../lock-impl/external/index.js';
import { builtinLock } from '../../lock-impl/index.js';
import { parseLockSpec } from '../../lock-impl/lock-spec.js';
import { UsageError } from '../common/errors.js';
import { createFreshFolder } from '../common/ids.js';
import type { Say } from '../common/say.js';
import { BUNDLE } from './bundle.js';
import { havingVersion, otherVersion } from './chosen.js';
import { loadOnce } from './load-once.js';
import { LOCK_NAMES } from './lock-at-hand.js';
import { putLoadedLock } from './lock-module.js';
import { isOnesOwn, type LockSource, resolveLock } from './lock-source.js';
import { type Machine, SIM } from './machine.js';
import { fetchedLibrary } from './published-library.js';
import { CLIENT_ARGV } from './simulated-client.js';
import { IN_IMAGE } from './tool-image.js';

/** What a run is to do: its config without what the machine brings and what names the run. */
export type RunRequest = Omit<
  RunConfig,
  | 'version'
  | 'runId'
  | 'startedAt'
  | 'clientArgv'
  | 'runtime'
  | 'redis'
  | 'clockShim'
  | 'durableShim'
  | 'linkShaper'
  | 'simShim'
  | 'virtualTime'
  | 'unavailable'
  | 'containers'
  | 'toolImage'
>;

export interface PreparedRun {
  folder: string;
  config: RunConfig;
}

/** What an earlier run was to do. */
export function requestOf(config: RunConfig): RunRequest {
  const {
    version,
    runId,
    startedAt,
    clientArgv,
    runtime,
    redis,
    clockShim,
    durableShim,
    linkShaper,
    simShim,
    virtualTime,
    unavailable,
    containers,
    toolImage,
    ...request
  } = config;
  return request;
}

/**
 * Makes the run folders of one command below `base`. The lock is read once: who mends its file in the middle of a series
 * does not want half of it to be about another lock.
 */
export function createPreparer(machine: Machine, base: string, say: Say) {
  let kept: KeptLock | undefined;
  const { server: _, ...brought } = machine;
  return async (request: RunRequest, plan: Plan): Promise<PreparedRun> => {
    const { id: runId, folder } = createFreshFolder(base, request.topology);
    try {
      kept ??= await readLock(request, folder, machine, say);
      const config: RunConfig = {
        version: 2,
        runId,
        startedAt: new Date().toISOString(),
        ...(kept.startsWithinMs !== undefined && { startsWithinMs: kept.startsWithinMs }),
        ...request,
        ...brought,
        clientArgv: await putLock(kept, folder),
      };
      writeJson(folder, 'config.json', config);
      writeJson(folder, 'plan.json', plan);
      linkLatest(folder);
      const faults = plan.steps.length;
      say(`run ${runId}, seed ${config.seed}, ${faults} fault${faults === 1 ? '' : 's'} planned`);
      return { folder, config };
    } catch (error) {
      // Nothing has run yet: a folder that holds no run would only be in the way.
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  };
}

/** What `BUNDLE` is in virtual time. */
export const SIM_BUNDLE = 'lock.cjs';

type KeptLock = Pick<LockSource, 'clientArgv' | 'startsWithinMs'> & {
  bundle?: { path: string; code: Buffer; map?: Buffer };
};

async function readLock(request: RunRequest, folder: string, machine: Machine, say: Say): Promise<KeptLock> {
  if (machine.virtualTime) return readSimulated(request, folder, machine.virtualTime, say);
  const {
    clientArgv: here,
    startsWithinMs,
    kind,
    note,
  } = await resolveLock(request.lock, {
    cwd: request.cwd,
    outFolder: folder,
    builtin: builtinLock,
    builtinNames: LOCK_NAMES,
    external: (name) => startOfExternal(name, machine, say),
    fetched: (takes) => fetchedLibrary(takes, say),
    clientMain: fileURLToPath(new URL('../../harness/client/main.js', import.meta.url)),
    node: process.execPath,
    // A container has nothing of the machine's but what is copied into it.
    withPackages: machine.containers !== undefined || machine.toolImage !== undefined,
  });
  if (machine.toolImage && kind === 'command')
    throw new UsageError(`--lock ${request.lock}: a program of this machine does not run in --runtime container`);
  const clientArgv = machine.toolImage ? here.map(inToolImage) : here;
  if (note !== undefined) say(note);
  if (kind !== 'file') return { clientArgv, startsWithinMs };
  if (isOnesOwn(request.lock)) await loadOnce({ clientArgv: here, spec: request.lock, cwd: request.cwd, folder });
  const path = join(folder, BUNDLE);
  return { clientArgv, bundle: { path, code: await readFile(path) } };
}

/** All clients of a simulated world are in one process, so the lock is one module without anything of the machine's. */
async function readSimulated(
  { lock, cwd }: RunRequest,
  folder: string,
  { why, remedy }: NonNullable<Machine['virtualTime']>,
  say: Say,
): Promise<KeptLock> {
  const forRealTime = remedy === undefined ? `leave out --runtime ${SIM}` : `${why}; for real time: ${remedy}`;
  const path = await putLoadedLock(lock, cwd, folder, { remedy: forRealTime, say });
  const [code, map] = await Promise.all([readFile(path), readFile(`${path}.map`)]);
  return { clientArgv: CLIENT_ARGV, bundle: { path, code, map } };
}

/** The tool's own programs have another place there. */
function inToolImage(argument: string): string {
  if (argument === process.execPath) return IN_IMAGE.node;
  const dist = join(PROJECT, 'dist/');
  return argument.startsWith(dist) ? `${IN_IMAGE.project}/dist/${argument.slice(dist.length)}` : argument;
}

async function startOfExternal(spec: string, { containers, toolImage }: Machine, say: Say) {
  const lock = externalLock(spec);
  if (!lock) return undefined;
  if (containers || toolImage)
    throw new UsageError(
      `--lock ${spec}: built for this machine, not for containers: leave out --runtime ${toolImage ? 'container' : 'docker'}`,
    );
  const takes = otherVersion(spec);
  const options = { cacheFolder: cacheFolder(), say, ...(takes && { takes }) };
  const program = await havingVersion(spec, externalProgram(lock.project, options));
  const { topologies, project } = lock;
  const { form } = parseLockSpec(spec);
  const variant = form === undefined ? lock.variant : `${lock.variant}:${form}`;
  return { clientArgv: [...program, variant], topologies, startsWithinMs: project.startsWithinMs };
}

/** Resolves with the command that starts a client with the lock as it lies in `folder`. */
async function putLock({ clientArgv, bundle }: KeptLock, folder: string): Promise<string[]> {
  if (!bundle) return clientArgv;
  const path = join(folder, basename(bundle.path));
  await writeFile(path, bundle.code);
  // What a lock throws is told by its own files and lines.
  if (bundle.map) await writeFile(`${path}.map`, bundle.map);
  return clientArgv.map((argument) => (argument === bundle.path ? path : argument));
}

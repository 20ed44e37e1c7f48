/** Wires the docker runtime: what it needs of the machine before a run, and the runtime of a run that was prepared. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import {
  type Bases,
  ContainerError,
  DEFAULT_CLIENT_IMAGE,
  dockerRuntime,
  findEngine,
  INSIDE,
  probe,
  provideImages,
  removeLeftovers,
} from '../../docker/index.js';
import { encodeSkew } from '../../harness/machine/clock-shim.js';
import type { Diagnosis } from '../../harness/machine/doctor.js';
import { temporaryFolder } from '../../harness/machine/private-folder.js';
import { PROJECT } from '../../harness/machine/project-files.js';
import { LATER_COMMANDS } from '../../harness/machine/server-commands.js';
import { monotonicNs, realClock } from '../../harness/runtimes/real-clock.js';
import { topologies } from '../../harness/topologies/index.js';
import { services } from '../../harness/topologies/services.js';
import type { ClockSkew, Runtime } from '../../harness/vocabulary/host.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { Clock } from '../../harness/vocabulary/time.js';
import { UsageError } from '../common/errors.js';
import { freshId } from '../common/ids.js';
import type { Say } from '../common/say.js';
import { type AskedMachine, type Machine, withServer } from './machine.js';

const encode = (skew: ClockSkew) => encodeSkew(skew, monotonicNs());

export interface ContainerMachine {
  machine: Machine;
  /** Where the engine is and which, for people. */
  engine: string;
}

/** Finds the engine, makes the images and tries one container. Rejects with a ContainerError that says what is missing. */
export async function containerMachine(
  asked: Pick<AskedMachine, 'service' | 'image' | 'clientImage'>,
  say: Say,
): Promise<ContainerMachine> {
  const service = services[asked.service ?? 'redis'];
  const bases: Bases = {
    image: asked.image ?? service.inContainers.image,
    clientImage: asked.clientImage ?? DEFAULT_CLIENT_IMAGE,
  };
  const engine = await findEngine();
  const built = await provideImages(engine, bases, service.inContainers, PROJECT, say);
  using scratch = temporaryFolder();
  const options = {
    folder: scratch.path,
    runId: freshId('probe'),
    clock: realClock(0),
    encodeSkew: encode,
    images: built,
  };
  const commands = service.name === 'redis' ? LATER_COMMANDS : undefined;
  const probing = probe({ ...options, project: PROJECT }, service.inContainers, bases.image, commands);
  const { binary, unavailable, server } = await probing.catch(asContainerError);
  const machine: Machine = {
    runtime: 'docker',
    redis: binary,
    ...(unavailable.clock === undefined && { clockShim: INSIDE.clockShim }),
    ...(commands && unavailable.disk === undefined && { durableShim: INSIDE.durableShim }),
    unavailable,
    containers: { ...bases, built },
  };
  return {
    engine: `engine ${engine.version} with ${bases.image}`,
    machine: server ? withServer(machine, server, '--image valkey/valkey:9') : machine,
  };
}

/** What the engine itself says when a container cannot be made or started: many things, none of them a bug of ours. */
function asContainerError(error: Error): never {
  if (error instanceof ContainerError) throw error;
  throw new ContainerError(`a container cannot be used here (${error.message.split('\n').join(' ')})`);
}

/** For `doctor`: whether there is an engine; runs do without. */
export async function engineFinding(): Promise<Diagnosis> {
  const what = 'container engine';
  try {
    const { version } = await findEngine();
    return { what, ok: true, detail: `${version} answers: runs can be made in containers (--runtime docker)` };
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error;
    return { what, ok: 'limited', detail: error.problem, ...(error.remedy && { remedy: error.remedy }) };
  }
}

/** Removes what runs that were killed have left with the engine. */
export async function removeLeftOvers(): Promise<void> {
  await removeLeftovers((await findEngine()).docker);
}

/** The runtime of a run whose config was prepared with `containerMachine`. */
export async function containerRuntime(
  config: RunConfig,
  folder: string,
  clock: Clock,
  recordsDisk: boolean,
): Promise<Runtime> {
  if (!config.containers) throw new UsageError('this run was not prepared for containers');
  const { hosts, service } = topologies[config.topology]!;
  const { nodes, sentinels } = hosts(config.topologyOptions);
  const servers = new Set([...nodes, ...sentinels]);
  const files = lockFiles(config, folder);
  const [program] = config.clientArgv;
  return dockerRuntime({
    folder,
    runId: config.runId,
    clock,
    encodeSkew: encode,
    unavailable: config.unavailable,
    recordsDisk,
    images: config.containers.built,
    isServer: (host) => servers.has(host),
    serversAreNobody: services[service].inContainers.isNobody === true,
    project: PROJECT,
    files,
    ...(program !== undefined && program !== process.execPath && !files.has(program) && { program }),
  });
}

/** Larger than any program text; what is larger belongs into an image of the user's own. */
const LARGEST_FILE_BYTES = 16 << 20;

/** The user's own files that start a lock client: the lock's module, or a program and the scripts that it is given. */
function lockFiles(config: RunConfig, folder: string): Map<string, { data: Buffer; mode: number }> {
  const below = (path: string, parent: string) => !relative(parent, path).startsWith('..');
  const own = config.clientArgv.filter(
    (argument) =>
      isAbsolute(argument) &&
      argument !== process.execPath &&
      !below(argument, join(PROJECT, 'dist')) &&
      (below(argument, folder) || below(argument, config.cwd) || below(argument, PROJECT)) &&
      existsSync(argument),
  );
  return new Map(
    own.map((path) => {
      const { size, mode } = statSync(path);
      if (size > LARGEST_FILE_BYTES) {
        throw new ContainerError(
          `${path} is too large to be copied into every lock client's container: put it into an image and name that with --client-image`,
        );
      }
      return [path, { data: readFileSync(path), mode: mode & 0o777 }];
    }),
  );
}

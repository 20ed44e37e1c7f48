/**
 * The container engine: found as testcontainers finds it (DOCKER_HOST, contexts, the usual sockets), or one clear line
 * that says why there is none.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ContainerRuntimeClient } from 'testcontainers';
import { loadOptional, OptionalPackageError } from '../harness/runtimes/optional-package.js';

/** What the project uses of dockerode, which testcontainers brings. */
export type Docker = ContainerRuntimeClient['container']['dockerode'];

export type Container = ReturnType<Docker['getContainer']>;

export interface Engine {
  docker: Docker;
  client: ContainerRuntimeClient;
  version: string;
  /** Of its programming interface: 1.41 is `[1, 41]`. */
  api: readonly [number, number];
}

/** The docker runtime is not available; the message is one line for the user that says what to do. */
export class ContainerError extends Error {
  override name = 'ContainerError';

  constructor(
    readonly problem: string,
    readonly remedy?: string,
    /** The command that installs what is missing, where an engine seems to be there. */
    readonly install?: string,
  ) {
    super(remedy === undefined ? problem : `${problem}: ${remedy}`);
  }
}

/** Of Docker 20.10: the oldest whose behaviour was tried. */
const API_MIN = [1, 41] as const;
const INSTALL =
  'install Docker (Debian, Ubuntu: apt-get install docker.io) or set DOCKER_HOST; --runtime netns needs none';
const START = 'start it (systemctl start docker); --runtime netns needs none';

/** Rejects with a ContainerError that says what is missing. */
export async function findEngine(): Promise<Engine> {
  assertSomewhere();
  // Loaded only when there is something to find: it costs a quarter of a second.
  const { getContainerRuntimeClient } = await loadTestcontainers();
  const client = await getContainerRuntimeClient().catch(() => undefined);
  if (!client) throw silent();
  const docker = client.container.dockerode;
  const { Version, ApiVersion, Os } = await docker.version();
  const [major = 0, minor = 0] = ApiVersion.split('.').map(Number);
  if (major < API_MIN[0] || (major === API_MIN[0] && minor < API_MIN[1])) {
    throw new ContainerError(
      `the container engine is ${Version} (API ${ApiVersion}), and API ${API_MIN.join('.')} is needed`,
      'upgrade to Docker 20.10 or newer',
    );
  }
  if (Os !== 'linux') throw new ContainerError(`the container engine runs ${Os} containers, and Linux ones are needed`);
  return { docker, client, version: Version, api: [major, minor] };
}

/** No dependency of the package: only runs in containers need it. */
export async function loadTestcontainers(): Promise<typeof import('testcontainers')> {
  try {
    return await loadOptional('testcontainers', () => import('testcontainers'));
  } catch (error) {
    if (!(error instanceof OptionalPackageError)) throw error;
    throw new ContainerError(error.problem, `${error.remedy}; --runtime netns needs none`, error.remedy);
  }
}

const ROOT_SOCKET = '/var/run/docker.sock';

/** Where an engine of this machine could be. */
function sockets(): string[] {
  const { DOCKER_HOST, XDG_RUNTIME_DIR } = process.env;
  if (DOCKER_HOST?.startsWith('unix://')) return [DOCKER_HOST.slice('unix://'.length)];
  return [
    ROOT_SOCKET,
    ...(XDG_RUNTIME_DIR ? [join(XDG_RUNTIME_DIR, 'docker.sock')] : []),
    join(homedir(), '.docker/run/docker.sock'),
    join(homedir(), '.docker/desktop/docker.sock'),
    `/run/user/${process.getuid?.()}/docker.sock`,
  ];
}

function isElsewhere(): boolean {
  const { DOCKER_HOST } = process.env;
  const isRemote = DOCKER_HOST !== undefined && !DOCKER_HOST.startsWith('unix://');
  return isRemote || existsSync(join(homedir(), '.testcontainers.properties'));
}

/** What can be known without asking anybody, in no time. */
function assertSomewhere(): void {
  if (isElsewhere()) return;
  const there = sockets().filter((path) => existsSync(path));
  if (there.length === 0) throw new ContainerError(`no container engine was found (no ${sockets()[0]})`, INSTALL);
  if (there.some(mayUse)) return;
  throw new ContainerError(
    `this user may not use ${there[0]}`,
    'add them to the group docker (sudo usermod -aG docker $USER, then log in again), or use rootless Docker; --runtime netns needs neither',
  );
}

function silent(): ContainerError {
  const { DOCKER_HOST } = process.env;
  const where = DOCKER_HOST
    ? `DOCKER_HOST=${DOCKER_HOST}`
    : sockets()
        .filter((path) => existsSync(path))
        .join(', ');
  return new ContainerError(`no container engine answers at ${where}`, START);
}

function mayUse(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

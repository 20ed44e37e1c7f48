/** The flags that say what runs are to run on: the runtime, its server, its images. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option } from 'commander';
import { DEFAULT_CLIENT_IMAGE } from '../../docker/index.js';
import { serverName, serverProducts } from '../../harness/machine/named-server.js';
import { insteadOf } from '../../harness/record/schemas/names.js';
import { services } from '../../harness/topologies/services.js';
import type { Settings } from '../../harness/vocabulary/settings.js';
import { UsageError } from '../common/errors.js';
import { nameAmong } from '../common/values.js';
import type { AskedMachine } from './machine.js';
import { runtimeNames } from './runtimes.js';

export interface ServerFlags {
  server?: string;
  /** `server` by its older name; a path only. */
  redis?: string;
}

/** As typed. */
export interface MachineFlags extends ServerFlags {
  runtime: string;
  image?: string;
  clientImage?: string;
}

/** The settings of a config file that every command with these flags begins with, and where its run folders go. */
export const MACHINE_SETTINGS = [
  'runtime',
  'server',
  'image',
  'clientImage',
  'out',
] as const satisfies (keyof Settings)[];

/** What the flags ask of this machine. */
export function askMachine({ runtime, image, clientImage, ...flags }: MachineFlags, cwd: string): AskedMachine {
  return { runtime, image, clientImage, server: askServer(flags, cwd) };
}

/** The flags that ask for the same machine again, for whoever repeats a run: those that were given, with a server's path made absolute. */
export function namingMachine({ runtime, image, clientImage, ...flags }: MachineFlags, cwd: string): string[] {
  const said = {
    server: askServer(flags, cwd),
    runtime: runtime === 'auto' ? undefined : runtime,
    image,
    'client-image': clientImage,
  };
  return Object.entries(said).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
}

/** The server that the flags name, if they do: a name as it is, a path made absolute. Throws where they name two, or what is no name. */
export function askServer({ server, redis }: ServerFlags, cwd: string): string | undefined {
  if (server !== undefined && redis !== undefined)
    throw new UsageError('--redis PATH is --server PATH by its older name: give one of them');
  const named = server ?? redis;
  if (named === undefined || (server !== undefined && serverName(server))) return named;
  const path = resolve(cwd, named);
  const [, version] = /^[\w-]+@(\d[\w.]*)$/.exec(named) ?? [];
  if (version === undefined || existsSync(path)) return path;
  const names = serverProducts.map((product) => `${product}@${version}`);
  throw new UsageError(`--server ${named}: neither a file nor the name of a server; ${insteadOf(named, names)}`);
}

/** Which server to use; for every command that has to do with one. `others`: servers of other services that it knows, if any. */
export function serverOptions(
  what: string,
  others: readonly string[] = ['etcd@3.5', 'zookeeper@3.8', 'mariadb@11.8', 'mysql@9.7'],
): Option[] {
  const known = ['redis@7.0', 'redis@8.0', 'valkey@8.1', 'valkey@9', ...others].join(', ');
  return [
    new Option('--server <server>', `${what}: ${known}, … as the distribution has them, or a path`),
    new Option('--redis <path>', '--server by its older name').hideHelp(),
  ];
}

/** What to run on; for every command that makes runs of its own. */
export function machineOptions(): Option[] {
  return [
    new Option('--runtime <name>', 'where hosts live').argParser(nameAmong(runtimeNames)).default('auto'),
    ...serverOptions('the server to torture (default: redis-server from PATH, else downloaded)'),
    ...imageOptions(`${services.redis.inContainers.image}, and ${DEFAULT_CLIENT_IMAGE}`),
  ];
}

/** Of the docker runtime. */
export function imageOptions(defaults: string): Option[] {
  return [
    new Option(
      '--image <name>',
      `what servers run in, in containers: redis:8, valkey/valkey:8, postgres:17, … (default: ${defaults})`,
    ),
    new Option('--client-image <name>', 'what lock clients run in, in containers: a Node.js image of Debian or Ubuntu'),
  ];
}

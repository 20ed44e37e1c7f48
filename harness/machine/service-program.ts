/**
 * Finds the program of a service beside Redis: the one that the user names by its path, else the one on PATH or where
 * distributions keep it, else the distribution's package (Debian, Ubuntu) unpacked into the cache folder, without root. Nothing
 * is ever installed on the machine.
 */
import { readdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ExecResult, Host } from '../vocabulary/host.js';
import type { FindServer, RedisBinary } from '../vocabulary/topology.js';
import { findOnPath, runProgram } from './command.js';
import { haveDebianPackages, PackageError } from './debian-packages.js';
import {
  type DownloadableProgram,
  type DownloadedProgram,
  downloadedProgram,
  downloadProgram,
} from './downloaded-program.js';
import { downloadedNamed, downloadNamed, isNamed, type ServerName, serverName } from './named-server.js';

/** Which program, and what must be true of it. */
export interface ServiceProgram extends DownloadableProgram {
  /** As people call the service. */
  title: string;
  /** What it is called on PATH. */
  command: string;
  /** What another product's program of that name says of its version: on PATH, it is passed over. */
  another?: RegExp;
  /** Where the machine's own suite has no such package: what to look for in the newer ones, unless the user names a version. */
  fromNewerSuites?: ServerName;
  /** A folder that is not on PATH, and has a folder for each version, in each of which lies this: `bin/postgres`. */
  versionsIn?: { folder: string; program: string };
  /** Asks it for its version, which must be the first group of `version`. Absent: `--version`. */
  versionArgv?: readonly string[];
  version: RegExp;
  versionMin: readonly [major: number, minor: number];
}

/** No usable program: one line that says what to do. */
export class ServerNotFoundError extends Error {
  override name = 'ServerNotFoundError';
}

/** As `findProgram`, but never downloads: undefined where that would. */
export async function findProgramHere(
  wanted: ServiceProgram,
  { explicit, cacheFolder }: Omit<FindServer, 'say'>,
): Promise<RedisBinary | undefined> {
  const name = namedBy(wanted, explicit);
  if (name) return namedHere(wanted, name, cacheFolder);
  if (explicit !== undefined) return examined(wanted, { path: resolve(explicit), env: {} }, '--server');
  const onPath = await ownOnPath(wanted);
  if (onPath) return examined(wanted, { path: onPath, env: {} }, 'PATH');
  const kept = keptByVersion(wanted);
  if (kept) return examined(wanted, { path: kept, env: {} }, 'installed');
  const { fromNewerSuites } = wanted;
  const downloaded = fromNewerSuites
    ? downloadedNamed(fromNewerSuites, cacheFolder)
    : downloadedProgram(wanted, cacheFolder);
  // Where it does not run any more, the machine was upgraded.
  return downloaded && examined(wanted, downloaded, 'downloaded').catch(() => undefined);
}

/** Rejects with a ServerNotFoundError when none is available. */
export async function findProgram(wanted: ServiceProgram, { say, ...options }: FindServer): Promise<RedisBinary> {
  const found = await findProgramHere(wanted, options);
  if (found) return found;
  const { cacheFolder } = options;
  const name = namedBy(wanted, options.explicit);
  const what = name ? askedAs(name) : wanted.title;
  if (name && !haveDebianPackages())
    throw notFound(wanted, `${what} is not on PATH, and only on Debian and Ubuntu it can be downloaded`);
  const sought = name ?? wanted.fromNewerSuites;
  say(`downloading ${what} from the distribution (${name ? 'once' : 'first run'})…`);
  const trial = async (candidate: DownloadedProgram) => void (await examined(wanted, candidate, 'downloaded'));
  try {
    const downloaded = sought
      ? await downloadNamed(sought, cacheFolder, trial)
      : await downloadProgram(wanted, cacheFolder, trial);
    return { ...(await examined(wanted, downloaded, 'downloaded')), ...(name && { asked: what }) };
  } catch (error) {
    if (error instanceof PackageError) throw notFound(wanted, `${what} could not be downloaded: ${error.message}`);
    throw error;
  }
}

/** On PATH, unless it says that it is another product's. */
async function ownOnPath(wanted: ServiceProgram): Promise<string | undefined> {
  const { command, another } = wanted;
  const onPath = findOnPath(command);
  if (!onPath || !another) return onPath;
  const { stdout } = await runProgram([onPath, ...versionArgv(wanted)]);
  return another.test(stdout) ? undefined : onPath;
}

/** What `--server` names, unless it is a path. Throws a ServerNotFoundError where that is another service. */
function namedBy({ name, title }: ServiceProgram, explicit: string | undefined): ServerName | undefined {
  const named = explicit === undefined ? undefined : serverName(explicit);
  if (named && named.product !== name) throw new ServerNotFoundError(`--server ${explicit} is no ${title}`);
  return named;
}

/** As asked, from PATH or from what was downloaded before; undefined where it must be downloaded. */
async function namedHere(
  wanted: ServiceProgram,
  name: ServerName,
  cacheFolder: string,
): Promise<RedisBinary | undefined> {
  const onPath = await ownOnPath(wanted);
  const downloads = [downloadedProgram(wanted, cacheFolder), downloadedNamed(name, cacheFolder)];
  const candidates = [
    ...(onPath ? [{ program: { path: onPath, env: {} }, origin: 'PATH' }] : []),
    ...downloads.flatMap((program) => (program ? [{ program, origin: 'downloaded' }] : [])),
  ];
  for (const { program, origin } of candidates) {
    // One that does not run (any more) is not the one.
    const found = await examined(wanted, program, origin).catch(() => undefined);
    if (found && isNamed(name, found.version)) return { ...found, asked: askedAs(name) };
  }
  return undefined;
}

function askedAs({ product, version }: ServerName): string {
  return `${product}@${version}`;
}

/** The newest. */
function keptByVersion({ versionsIn }: ServiceProgram): string | undefined {
  if (!versionsIn) return undefined;
  let versions: string[];
  try {
    versions = readdirSync(versionsIn.folder);
  } catch {
    return undefined;
  }
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(versionsIn.folder, version, versionsIn.program))
    .find((path) => findOnPath(path) !== undefined);
}

async function examined(wanted: ServiceProgram, program: DownloadedProgram, origin: string): Promise<RedisBinary> {
  const { path, loader, env } = program;
  const named = origin === '--server' ? `--server ${path}` : `${path} (${origin})`;
  if (!findOnPath(path)) throw notFound(wanted, `${named} is not there, or no executable file`);
  const answer = await runProgram([...(loader ?? []), path, ...versionArgv(wanted)], { env });
  const { version, problem } = versionIn(wanted, answer);
  if (problem !== undefined) throw notFound(wanted, `${named} ${problem}`);
  // Its own companions lie beside the program, and not beside a link to it.
  return { path: realpathSync(path), env, version, origin, ...(loader && { loader }) };
}

/** As `ServerImage.find`, of a service that is one program. */
export async function findInImage(
  wanted: ServiceProgram,
  host: Pick<Host, 'exec'>,
  path: string,
  image: string,
): Promise<RedisBinary> {
  const { version, problem } = versionIn(wanted, await host.exec([path, ...versionArgv(wanted)]));
  if (problem !== undefined)
    throw new ServerNotFoundError(
      `${path} in the image ${image} ${problem}: name one with ${wanted.title} ${wanted.versionMin.join('.')} or newer with --image`,
    );
  const { stdout: real } = await host.exec(['readlink', '-f', path]);
  return { path: real, env: {}, version, origin: `image ${image}` };
}

function versionArgv({ versionArgv = ['--version'] }: ServiceProgram): readonly string[] {
  return versionArgv;
}

/** The version that a program tells, or what is wrong with that. */
function versionIn(
  { version: pattern, versionMin: [majorMin, minorMin], title }: ServiceProgram,
  { exitCode, stdout }: Pick<ExecResult, 'exitCode' | 'stdout'>,
): { version: string; problem?: undefined } | { version?: undefined; problem: string } {
  const [, version] = pattern.exec(stdout) ?? [];
  if (exitCode !== 0 || version === undefined) return { problem: `is no ${title} that runs here` };
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const isOld = major < majorMin || (major === majorMin && minor < minorMin);
  return isOld ? { problem: `is version ${version}, which is too old` } : { version };
}

function notFound({ title, command, versionMin }: ServiceProgram, problem: string): ServerNotFoundError {
  const remedy = `install ${title} ${versionMin.join('.')} or newer so that ${command} is on PATH, or give --server PATH`;
  return new ServerNotFoundError(`${problem}: ${remedy}`);
}

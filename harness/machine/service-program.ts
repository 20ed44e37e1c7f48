/**
 * Finds the program of a service beside Redis: the one that the user names by its path, else the one on PATH or where
 * distributions keep it, else the distribution's package (Debian, Ubuntu) unpacked into the cache folder, without root. Nothing
 * is ever installed on the machine.
 */
import { readdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { FindServer, RedisBinary } from '../vocabulary/topology.js';
import { findOnPath, runProgram } from './command.js';
import { PackageError } from './debian-packages.js';
import {
  type DownloadableProgram,
  type DownloadedProgram,
  downloadedProgram,
  downloadProgram,
} from './downloaded-program.js';

/** Which program, and what must be true of it. */
export interface ServiceProgram extends DownloadableProgram {
  /** As people call the service. */
  title: string;
  /** What it is called on PATH. */
  command: string;
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
  if (explicit !== undefined) return examined(wanted, { path: resolve(explicit), env: {} }, '--server');
  const onPath = findOnPath(wanted.command);
  if (onPath) return examined(wanted, { path: onPath, env: {} }, 'PATH');
  const kept = keptByVersion(wanted);
  if (kept) return examined(wanted, { path: kept, env: {} }, 'installed');
  const downloaded = downloadedProgram(wanted, cacheFolder);
  // Where it does not run any more, the machine was upgraded.
  return downloaded && examined(wanted, downloaded, 'downloaded').catch(() => undefined);
}

/** Rejects with a ServerNotFoundError when none is available. */
export async function findProgram(wanted: ServiceProgram, { say, ...options }: FindServer): Promise<RedisBinary> {
  const found = await findProgramHere(wanted, options);
  if (found) return found;
  const { cacheFolder } = options;
  say(`downloading ${wanted.title} from the distribution (first run)…`);
  const trial = async (candidate: DownloadedProgram) => void (await examined(wanted, candidate, 'downloaded'));
  try {
    return await examined(wanted, await downloadProgram(wanted, cacheFolder, trial), 'downloaded');
  } catch (error) {
    if (error instanceof PackageError)
      throw notFound(wanted, `${wanted.title} could not be downloaded: ${error.message}`);
    throw error;
  }
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
  const argv = [...(loader ?? []), path, ...(wanted.versionArgv ?? ['--version'])];
  const { exitCode, stdout } = await runProgram(argv, { env });
  const [, version] = wanted.version.exec(stdout) ?? [];
  if (exitCode !== 0 || version === undefined) throw notFound(wanted, `${named} is no ${wanted.title} that runs here`);
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const [majorMin, minorMin] = wanted.versionMin;
  if (major < majorMin || (major === majorMin && minor < minorMin))
    throw notFound(wanted, `${named} is version ${version}, which is too old`);
  // Its own companions lie beside the program, and not beside a link to it.
  return { path: realpathSync(path), env, version, origin, ...(loader && { loader }) };
}

function notFound({ title, command, versionMin }: ServiceProgram, problem: string): ServerNotFoundError {
  const remedy = `install ${title} ${versionMin.join('.')} or newer so that ${command} is on PATH, or give --server PATH`;
  return new ServerNotFoundError(`${problem}: ${remedy}`);
}

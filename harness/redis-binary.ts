/**
 * Finds a redis-server that runs here: the one that the user names, else the one on PATH, else the distribution's
 * packages (Debian, Ubuntu) unpacked into the cache folder, without root. Every answer has been run once.
 * Nothing is ever installed on the machine, and a killed or concurrent download leaves the cache whole.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { RedisBinary } from './api.js';
import { findOnPath, runCommand } from './setup/command.js';
import { fetchProgram, haveDebianPackages, libraryPath, PackageError } from './setup/debian-packages.js';
import { privateFolder } from './setup/private-folder.js';

/** Oldest version with all that topologies and locks use. */
const VERSION_MIN = [6, 2] as const;
const PACKAGES = ['redis-server', 'redis-tools'];
const PROGRAM = 'usr/bin/redis-server';
const REMEDY = `install Redis ${VERSION_MIN.join('.')} or newer so that redis-server is on PATH, or give --redis PATH`;

/** No usable redis-server: one line that says what to do. */
export class RedisNotFoundError extends Error {
  override name = 'RedisNotFoundError';

  constructor(
    readonly problem: string,
    readonly remedy: string = REMEDY,
  ) {
    super(`${problem}: ${remedy}`);
  }
}

export interface FindRedisOptions {
  /** The user's `--redis`, absolute or relative to the working directory. */
  explicit?: string | undefined;
  cacheFolder: string;
  say: (line: string) => void;
}

/** Rejects with a RedisNotFoundError when there is none to be had. */
export async function findRedis({ explicit, cacheFolder, say }: FindRedisOptions): Promise<RedisBinary> {
  if (explicit !== undefined) return examined({ path: resolve(explicit), env: {}, origin: '--redis' });
  const onPath = findOnPath('redis-server');
  if (onPath) return examined({ path: resolve(onPath), env: {}, origin: 'PATH' });
  return (await findDownloaded(cacheFolder)) ?? (await download(cacheFolder, say));
}

/** As `findRedis`, but never downloads: undefined where `findRedis` would. */
export async function findRedisHere({
  explicit,
  cacheFolder,
}: Omit<FindRedisOptions, 'say'>): Promise<RedisBinary | undefined> {
  if (explicit !== undefined || findOnPath('redis-server')) return findRedis({ explicit, cacheFolder, say: () => {} });
  return findDownloaded(cacheFolder);
}

/** Where the tool keeps what it fetched or compiled: LOCK_TORTURE_CACHE, else the user's cache folder. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env.LOCK_TORTURE_CACHE) return resolve(env.LOCK_TORTURE_CACHE);
  // A relative XDG_CACHE_HOME is to be ignored, says its specification.
  const caches = env.XDG_CACHE_HOME?.startsWith('/') ? env.XDG_CACHE_HOME : join(homedir(), '.cache');
  return join(caches, 'lock-torture');
}

type Candidate = Omit<RedisBinary, 'version'>;

/** The candidate with its version, or an error that says what is wrong with it. */
async function examined(candidate: Candidate): Promise<RedisBinary> {
  const { path, origin } = candidate;
  const named = origin === '--redis' ? `--redis ${path}` : `${path} (${origin})`;
  if (!existsSync(path)) throw new RedisNotFoundError(`${named} does not exist`);
  if (!findOnPath(path)) throw new RedisNotFoundError(`${named} is not an executable file`);
  const { exitCode, stdout, stderr } = await runCommand([path, '--version'], { env: candidate.env });
  if (exitCode !== 0) {
    const said = stderr.trim().split('\n')[0] || 'it said nothing';
    throw new RedisNotFoundError(`${named} does not run (exit status ${exitCode}: ${said})`);
  }
  const [, version, major, minor] = /\bv=((\d+)\.(\d+)\.\d+)/.exec(stdout) ?? [];
  if (version === undefined) {
    const [said = ''] = stdout.trim().split('\n');
    throw new RedisNotFoundError(`${named} is not a redis-server; to --version it says "${said}"`);
  }
  const [majorMin, minorMin] = VERSION_MIN;
  if (Number(major) < majorMin || (Number(major) === majorMin && Number(minor) < minorMin)) {
    throw new RedisNotFoundError(`${named} is version ${version}, which is too old`);
  }
  return { ...candidate, version };
}

// ---------------------------------------------------------------------------------------------------- the downloaded one

/** Folders are the distribution's, because a cache may be shared by containers of several. */
function downloadedFolder(cacheFolder: string): string {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  const field = (name: string) => new RegExp(`^${name}="?([^"\n]*)`, 'm').exec(release)?.[1] ?? 'unknown';
  const name = [field('ID'), field('VERSION_ID'), process.arch].join('-').replace(/[^\w.-]/g, '_');
  return join(cacheFolder, 'redis', name);
}

/** Undefined when nothing was downloaded yet, or what was does not run any more (the machine was upgraded). */
async function findDownloaded(cacheFolder: string): Promise<RedisBinary | undefined> {
  const folder = downloadedFolder(cacheFolder);
  if (!existsSync(folder)) return undefined;
  try {
    return await examined(candidateIn(folder));
  } catch (error) {
    if (error instanceof RedisNotFoundError) return undefined;
    throw error;
  }
}

function candidateIn(folder: string): Candidate {
  const libraries = readFileSync(join(folder, 'library-path'), 'utf8')
    .split(':')
    .filter(Boolean)
    .map((relative) => join(folder, relative));
  const env: Record<string, string> = libraries.length > 0 ? { LD_LIBRARY_PATH: libraries.join(':') } : {};
  return { path: join(folder, 'root', PROGRAM), env, origin: 'downloaded' };
}

async function download(cacheFolder: string, say: (line: string) => void): Promise<RedisBinary> {
  if (!haveDebianPackages()) {
    throw new RedisNotFoundError(
      'there is no redis-server on PATH, and only on Debian and Ubuntu it can be downloaded',
    );
  }
  say('downloading redis-server from the distribution (first run)…');
  const target = downloadedFolder(cacheFolder);
  try {
    using workshop = privateFolder(dirname(target));
    const unpacked = await fetchProgram(PACKAGES, PROGRAM, workshop.path);
    const finished = join(workshop.path, 'finished');
    mkdirSync(finished);
    const relative = libraryPath(unpacked).replaceAll(`${workshop.path}/`, '');
    writeFileSync(join(finished, 'library-path'), relative);
    renameSync(unpacked.root, join(finished, 'root'));
    await examined(candidateIn(finished));
    await putInPlace(finished, cacheFolder, workshop.path);
  } catch (error) {
    if (error instanceof PackageError) {
      throw new RedisNotFoundError(`redis-server could not be downloaded: ${error.message}`);
    }
    if (!isFilesystemError(error)) throw error;
    const where = 'set LOCK_TORTURE_CACHE to a folder that this user may write to and that has 100 MB free';
    throw new RedisNotFoundError(
      `redis-server could not be unpacked to ${target}: ${error.message}`,
      `${where}, or ${REMEDY}`,
    );
  }
  return examined(candidateIn(target));
}

/** Renames `finished` to `target`, unless somebody was quicker; one that does not run is moved out of the way. */
async function putInPlace(finished: string, cacheFolder: string, scratch: string): Promise<void> {
  const target = downloadedFolder(cacheFolder);
  if (await findDownloaded(cacheFolder)) return;
  if (existsSync(target)) renameSync(target, join(scratch, 'replaced'));
  try {
    renameSync(finished, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || !(await findDownloaded(cacheFolder))) throw error;
  }
}

function isFilesystemError(error: unknown): error is NodeJS.ErrnoException {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

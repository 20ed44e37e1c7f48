/**
 * Finds a redis-server that runs here: the one that the user names, else the one on PATH, else the distribution's
 * packages (Debian, Ubuntu) unpacked into the cache folder, without root. Every answer has been run once.
 * Nothing is ever installed on the machine, and a killed or concurrent download leaves the cache whole.
 */
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import type { RedisBinary } from '../vocabulary/topology.js';
import { findOnPath, runProgram } from './command.js';
import { haveDebianPackages, PackageError } from './debian-packages.js';
import { type DownloadedProgram, downloadedProgram, downloadProgram } from './downloaded-program.js';
import { CacheFolderError } from './private-folder.js';

/** Oldest version with all that topologies and locks use. */
const VERSION_MIN = [6, 2] as const;
const REDIS = { name: 'redis', packages: ['redis-server', 'redis-tools'], program: 'usr/bin/redis-server' };
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

/** Rejects with a RedisNotFoundError when none is available. */
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

/**
 * Where the tool keeps what it fetched or compiled: LOCK_TORTURE_CACHE, else the user's cache folder. An absolute path; throws
 * a CacheFolderError where none can be determined.
 */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env.LOCK_TORTURE_CACHE) return resolve(env.LOCK_TORTURE_CACHE);
  // A relative XDG_CACHE_HOME is to be ignored, says its specification.
  if (env.XDG_CACHE_HOME?.startsWith('/')) return join(env.XDG_CACHE_HOME, 'lock-torture');
  return join(homeFolder(env), '.cache', 'lock-torture');
}

/** An empty or relative HOME would put the cache wherever the user happens to stand. */
function homeFolder({ HOME }: NodeJS.ProcessEnv): string {
  if (HOME?.startsWith('/')) return HOME;
  const { homedir } = userInfo();
  if (homedir.startsWith('/')) return homedir;
  throw new CacheFolderError(
    'there is no home folder to keep downloads in: set LOCK_TORTURE_CACHE to a folder of yours',
  );
}

type Candidate = Omit<RedisBinary, 'version'>;

/** The candidate with its version, or an error that says what is wrong with it. */
async function examined(candidate: Candidate): Promise<RedisBinary> {
  const { path, origin } = candidate;
  const named = origin === '--redis' ? `--redis ${path}` : `${path} (${origin})`;
  if (!existsSync(path)) throw new RedisNotFoundError(`${named} does not exist`);
  if (!findOnPath(path)) throw new RedisNotFoundError(`${named} is not an executable file`);
  const { exitCode, stdout, stderr } = await runProgram([path, '--version'], { env: candidate.env });
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

const origin = 'downloaded';

/** Undefined when nothing was downloaded yet, or what was does not run any more (the machine was upgraded). */
async function findDownloaded(cacheFolder: string): Promise<RedisBinary | undefined> {
  const found = downloadedProgram(REDIS, cacheFolder);
  if (!found) return undefined;
  try {
    return await examined({ ...found, origin });
  } catch (error) {
    if (error instanceof RedisNotFoundError) return undefined;
    throw error;
  }
}

async function download(cacheFolder: string, say: (line: string) => void): Promise<RedisBinary> {
  if (!haveDebianPackages()) {
    throw new RedisNotFoundError(
      'there is no redis-server on PATH, and only on Debian and Ubuntu it can be downloaded',
    );
  }
  say('downloading redis-server from the distribution (first run)…');
  const trial = async (candidate: DownloadedProgram) => void (await examined({ ...candidate, origin }));
  try {
    return await examined({ ...(await downloadProgram(REDIS, cacheFolder, trial)), origin });
  } catch (error) {
    if (error instanceof PackageError) {
      throw new RedisNotFoundError(`redis-server could not be downloaded: ${error.message}`);
    }
    if (!isFilesystemError(error)) throw error;
    const where = 'set LOCK_TORTURE_CACHE to a folder that this user may write to and that has 100 MB free';
    throw new RedisNotFoundError(
      `redis-server could not be unpacked below ${cacheFolder}: ${error.message}`,
      `${where}, or ${REMEDY}`,
    );
  }
}

function isFilesystemError(error: unknown): error is NodeJS.ErrnoException {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/**
 * Finds a server that runs here: the one that the user names, by path or by product and version, else the redis-server on
 * PATH, else the distribution's packages (Debian, Ubuntu) unpacked into the cache folder, without root. Every answer has
 * been run once.
 * Nothing is ever installed on the machine, and a killed or concurrent download leaves the cache whole.
 */
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import type { Host } from '../vocabulary/host.js';
import type { RedisBinary } from '../vocabulary/topology.js';
import { findOnPath, runProgram } from './command.js';
import { haveDebianPackages, PackageError } from './debian-packages.js';
import { type DownloadedProgram, downloadedProgram, downloadProgram } from './downloaded-program.js';
import { downloadedNamed, downloadNamed, isNamed, type ServerName, serverName } from './named-server.js';
import { CacheFolderError } from './private-folder.js';
import { whyNotTrusted } from './trusted.js';

/** Oldest version with all that topologies and locks use. */
const VERSION_MIN = [6, 2] as const;
const REDIS = { name: 'redis', packages: ['redis-server', 'redis-tools'], program: 'usr/bin/redis-server' };
const REMEDY = `install Redis ${VERSION_MIN.join('.')} or newer so that redis-server is on PATH, or give --server PATH`;

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
  /** The user's `--server`: a path, absolute or relative to the working directory, or a name such as `redis@8.0`. */
  explicit?: string | undefined;
  cacheFolder: string;
  say: (line: string) => void;
}

/** Rejects with a RedisNotFoundError when none is available. */
export async function findRedis({ explicit, cacheFolder, say }: FindRedisOptions): Promise<RedisBinary> {
  const name = namedRedis(explicit);
  if (name) return (await findNamed(name, cacheFolder)) ?? (await downloadByName(name, cacheFolder, say));
  if (explicit !== undefined) return examined(programAt(explicit, '--server'));
  const onPath = findOnPath('redis-server');
  if (onPath) return examined(programAt(onPath, 'PATH'));
  return (await findDownloaded(cacheFolder)) ?? (await download(cacheFolder, say));
}

/** As `findRedis`, but never downloads: undefined where `findRedis` would. */
export async function findRedisHere({
  explicit,
  cacheFolder,
}: Omit<FindRedisOptions, 'say'>): Promise<RedisBinary | undefined> {
  const name = namedRedis(explicit);
  if (name) return findNamed(name, cacheFolder);
  if (explicit !== undefined || findOnPath('redis-server')) return findRedis({ explicit, cacheFolder, say: () => {} });
  return findDownloaded(cacheFolder);
}

/**
 * Where the tool keeps what it fetched or compiled: LOCK_TORTURE_CACHE, else the user's cache folder. An absolute path; throws
 * a CacheFolderError where none can be determined, or others can have put programs there: what lies in it is run. So it is for
 * root, to whom `sudo` has left the user's HOME.
 */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const folder = chosenCacheFolder(env);
  const why = existsSync(folder) ? whyNotTrusted(folder) : undefined;
  if (why === undefined) return folder;
  throw new CacheFolderError(
    `programs are run from the cache folder ${folder}, and it ${why}: set LOCK_TORTURE_CACHE to a folder of yours`,
  );
}

function chosenCacheFolder(env: NodeJS.ProcessEnv): string {
  if (env.LOCK_TORTURE_CACHE) return resolve(env.LOCK_TORTURE_CACHE);
  // A relative XDG_CACHE_HOME is to be ignored, says its specification.
  if (env.XDG_CACHE_HOME?.startsWith('/')) return join(env.XDG_CACHE_HOME, 'lock-torture');
  return join(homeFolder(env), '.cache', 'lock-torture');
}

/** An empty or relative HOME would put the cache wherever the user happens to stand. */
function homeFolder({ HOME }: NodeJS.ProcessEnv): string {
  if (HOME?.startsWith('/')) return HOME;
  const homedir = knownHome();
  if (homedir?.startsWith('/')) return homedir;
  throw new CacheFolderError(
    'there is no home folder to keep downloads in: set LOCK_TORTURE_CACHE to a folder of yours',
  );
}

/** By the machine's list of users; undefined where this one is not in it, as in a container that is started with a number for a user. */
function knownHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

type Candidate = Omit<RedisBinary, 'version'>;

function programAt(path: string, origin: string): Candidate {
  return { path: resolve(path), env: {}, origin };
}

/** The candidate with its version, or an error that says what is wrong with it. */
async function examined(candidate: Candidate): Promise<RedisBinary> {
  const { path, origin } = candidate;
  const named = origin === '--server' ? `--server ${path}` : `${path} (${origin})`;
  if (!existsSync(path)) throw new RedisNotFoundError(`${named} does not exist`);
  if (!findOnPath(path)) throw new RedisNotFoundError(`${named} is not an executable file`);
  const { exitCode, stdout, stderr } = await runProgram([...(candidate.loader ?? []), path, '--version'], {
    env: candidate.env,
  });
  if (exitCode !== 0) {
    const said = stderr.trim().split('\n')[0] || 'it said nothing';
    throw new RedisNotFoundError(`${named} does not run (exit status ${exitCode}: ${said})`);
  }
  return { ...candidate, version: versionIn(named, stdout) };
}

/** As `ServerImage.find`. */
export async function findRedisInImage(host: Pick<Host, 'exec'>, path: string, image: string): Promise<RedisBinary> {
  const { stdout } = await host.exec([path, '--version']);
  const remedy = `name one with Redis ${VERSION_MIN.join('.')} or newer with --image`;
  return { path, env: {}, version: versionIn(`the server in ${image}`, stdout, remedy), origin: `image ${image}` };
}

/** Throws where it is none, or too old. */
function versionIn(named: string, stdout: string, remedy = REMEDY): string {
  const [, version, major, minor] = /\bv=((\d+)\.(\d+)\.\d+)/.exec(stdout) ?? [];
  if (version === undefined) {
    const [said = ''] = stdout.trim().split('\n');
    throw new RedisNotFoundError(`${named} is not a redis-server; to --version it says "${said}"`, remedy);
  }
  const [majorMin, minorMin] = VERSION_MIN;
  if (Number(major) < majorMin || (Number(major) === majorMin && Number(minor) < minorMin)) {
    throw new RedisNotFoundError(`${named} is version ${version}, which is too old`, remedy);
  }
  return version;
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
  return kept('redis-server', cacheFolder, async () =>
    examined({ ...(await downloadProgram(REDIS, cacheFolder, trial)), origin }),
  );
}

const trial = async (candidate: DownloadedProgram) => void (await examined({ ...candidate, origin }));

/** What `download` puts into the cache folder; what goes wrong, in one line with its remedy. */
async function kept(
  what: string,
  cacheFolder: string,
  download: () => Promise<RedisBinary>,
  remedy = REMEDY,
): Promise<RedisBinary> {
  try {
    return await download();
  } catch (error) {
    if (error instanceof PackageError)
      throw new RedisNotFoundError(`${what} could not be downloaded: ${error.message}`, remedy);
    if (!isFilesystemError(error)) throw error;
    const where = 'set LOCK_TORTURE_CACHE to a folder that this user may write to and that has 100 MB free';
    throw new RedisNotFoundError(
      `${what} could not be unpacked below ${cacheFolder}: ${error.message}`,
      `${where}, or ${remedy}`,
    );
  }
}

function isFilesystemError(error: unknown): error is NodeJS.ErrnoException {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

// ------------------------------------------------------------------------------------------------------- one by its name

/** What `--server` names, unless it is a path. Throws where that is another service. */
function namedRedis(explicit: string | undefined): ServerName | undefined {
  const name = explicit === undefined ? undefined : serverName(explicit);
  if (name && name.product !== 'redis' && name.product !== 'valkey')
    throw new RedisNotFoundError(
      `--server ${explicit} is no Redis or Valkey`,
      `name one, or in a run give --service ${name.product} with it`,
    );
  return name;
}

/** As asked, from PATH or from what was downloaded before; undefined where it must be downloaded. */
async function findNamed(name: ServerName, cacheFolder: string): Promise<RedisBinary | undefined> {
  const asked = askedAs(name);
  const onPath = findOnPath(`${name.product}-server`);
  const downloaded = downloadedNamed(name, cacheFolder);
  const candidates = [
    ...(onPath ? [async () => examined(programAt(onPath, 'PATH'))] : []),
    ...(name.product === 'redis' ? [async () => findDownloaded(cacheFolder)] : []),
    ...(downloaded ? [async () => examined({ ...downloaded, origin })] : []),
  ];
  for (const candidate of candidates) {
    const found = await candidate().catch((error) => {
      if (error instanceof RedisNotFoundError) return undefined; // does not run (any more)
      throw error;
    });
    if (found && isNamed(name, found.version)) return { ...found, asked };
  }
  return undefined;
}

async function downloadByName(
  name: ServerName,
  cacheFolder: string,
  say: (line: string) => void,
): Promise<RedisBinary> {
  const asked = askedAs(name);
  if (!haveDebianPackages())
    throw new RedisNotFoundError(
      `${asked} is not on PATH, and only on Debian and Ubuntu it can be downloaded`,
      'give --server PATH',
    );
  say(`downloading ${asked} from the distribution (once)…`);
  const download = async () => examined({ ...(await downloadNamed(name, cacheFolder, trial)), origin });
  return { ...(await kept(asked, cacheFolder, download, 'name another version, or give --server PATH')), asked };
}

function askedAs({ product, version }: ServerName): string {
  return `${product}@${version}`;
}

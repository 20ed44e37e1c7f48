/**
 * Finds an etcd that runs here: the one that the user names by its path, else the one on PATH, else the distribution's package
 * (Debian, Ubuntu) unpacked into the cache folder, without root. Nothing is ever installed on the machine.
 */
import { resolve } from 'node:path';
import type { RedisBinary } from '../vocabulary/topology.js';
import { findOnPath, runProgram } from './command.js';
import { PackageError } from './debian-packages.js';
import { type DownloadedProgram, downloadedProgram, downloadProgram } from './downloaded-program.js';
import type { FindRedisOptions } from './redis-binary.js';

/** The oldest with `/v3/` in its gateway. */
const VERSION_MIN = [3, 4] as const;
const ETCD = { name: 'etcd', packages: ['etcd-server'], program: 'usr/bin/etcd' };
const REMEDY = `install etcd ${VERSION_MIN.join('.')} or newer so that etcd is on PATH, or give --server PATH`;

/** No usable etcd: one line that says what to do. */
export class EtcdNotFoundError extends Error {
  override name = 'EtcdNotFoundError';

  constructor(problem: string) {
    super(`${problem}: ${REMEDY}`);
  }
}

/** As `findEtcd`, but never downloads: undefined where that would. */
export async function findEtcdHere({
  explicit,
  cacheFolder,
}: Omit<FindRedisOptions, 'say'>): Promise<RedisBinary | undefined> {
  if (explicit !== undefined) return examined({ path: resolve(explicit), env: {} }, '--server');
  const onPath = findOnPath('etcd');
  if (onPath) return examined({ path: onPath, env: {} }, 'PATH');
  const downloaded = downloadedProgram(ETCD, cacheFolder);
  // Where it does not run any more, the machine was upgraded.
  return downloaded && examined(downloaded, 'downloaded').catch(() => undefined);
}

/** Rejects with an EtcdNotFoundError when none is available. */
export async function findEtcd({ say, ...options }: FindRedisOptions): Promise<RedisBinary> {
  const found = await findEtcdHere(options);
  if (found) return found;
  const { cacheFolder } = options;
  say('downloading etcd from the distribution (first run)…');
  const trial = async (candidate: DownloadedProgram) => void (await examined(candidate, 'downloaded'));
  try {
    return await examined(await downloadProgram(ETCD, cacheFolder, trial), 'downloaded');
  } catch (error) {
    if (error instanceof PackageError) throw new EtcdNotFoundError(`etcd could not be downloaded: ${error.message}`);
    throw error;
  }
}

async function examined({ path, loader, env }: DownloadedProgram, origin: string): Promise<RedisBinary> {
  const named = origin === '--server' ? `--server ${path}` : `${path} (${origin})`;
  if (!findOnPath(path)) throw new EtcdNotFoundError(`${named} is not there, or no executable file`);
  const { exitCode, stdout } = await runProgram([...(loader ?? []), path, '--version'], { env });
  const [, version, major, minor] = /^etcd Version: ((\d+)\.(\d+)\.\S+)/m.exec(stdout) ?? [];
  if (exitCode !== 0 || version === undefined) throw new EtcdNotFoundError(`${named} is no etcd that runs here`);
  const [majorMin, minorMin] = VERSION_MIN;
  if (Number(major) < majorMin || (Number(major) === majorMin && Number(minor) < minorMin))
    throw new EtcdNotFoundError(`${named} is version ${version}, which is too old`);
  return { path, env, version, origin, ...(loader && { loader }) };
}

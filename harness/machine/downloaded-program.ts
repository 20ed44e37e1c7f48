/**
 * A program from the distribution's packages (Debian, Ubuntu), unpacked into the cache folder without root and without
 * installing anything. A killed or concurrent download leaves the cache whole.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Apt, fetchProgram, haveDebianPackages, libraryPath, osRelease, PackageError } from './debian-packages.js';
import { privateFolder } from './private-folder.js';

export interface DownloadableProgram {
  /** The cache's name for it. */
  name: string;
  packages: readonly string[];
  /** Below the packages' root. */
  program: string;
}

export interface DownloadedProgram {
  path: string;
  /** argv before `path`, where it is run by the loader that came with it. */
  loader?: string[];
  /** What it needs in its environment: the folders of libraries that the machine lacks. */
  env: Record<string, string>;
}

/** Rejects if the program does not run. */
export type TryProgram = (downloaded: DownloadedProgram) => Promise<void>;

/** What was downloaded before, if anything; whether it (still) runs is for the caller to try. */
export function downloadedProgram(wanted: DownloadableProgram, cacheFolder: string): DownloadedProgram | undefined {
  const folder = folderOf(wanted, cacheFolder);
  return existsSync(folder) ? programIn(folder, wanted) : undefined;
}

/**
 * Downloads it and puts it in place, if it passes `trial`: from the machine's own suite, or that of `apt`, in whose folder
 * it is unpacked; then it runs with that suite's C library, by that suite's loader. Rejects with a PackageError where it cannot be downloaded, with
 * the file system's error where it cannot be kept, and with what `trial` rejects.
 */
export async function downloadProgram(
  wanted: DownloadableProgram,
  cacheFolder: string,
  trial: TryProgram,
  apt?: Apt,
): Promise<DownloadedProgram> {
  if (!haveDebianPackages()) throw new PackageError('only on Debian and Ubuntu programs can be downloaded');
  const target = folderOf(wanted, cacheFolder);
  using workshop = privateFolder(dirname(target));
  const unpacked = await fetchProgram(apt ?? new Apt(workshop.path), wanted.packages, wanted.program, workshop.path);
  const finished = join(workshop.path, 'finished');
  mkdirSync(finished);
  const relative = (path: string) => path.replaceAll(`${workshop.path}/`, '');
  writeFileSync(join(finished, 'library-path'), relative(libraryPath(unpacked)));
  if (unpacked.loader !== undefined) writeFileSync(join(finished, 'loader'), relative(unpacked.loader));
  renameSync(unpacked.root, join(finished, 'root'));
  await trial(programIn(finished, wanted));
  await putInPlace(finished, wanted, cacheFolder, workshop.path, trial);
  return programIn(target, wanted);
}

/** Renames `finished` to its place, unless somebody was quicker; one that does not run is moved out of the way. */
async function putInPlace(
  finished: string,
  wanted: DownloadableProgram,
  cacheFolder: string,
  scratch: string,
  trial: TryProgram,
): Promise<void> {
  const target = folderOf(wanted, cacheFolder);
  const runs = async () => {
    const there = downloadedProgram(wanted, cacheFolder);
    return (
      there !== undefined &&
      (await trial(there).then(
        () => true,
        () => false,
      ))
    );
  };
  if (await runs()) return;
  if (existsSync(target)) renameSync(target, join(scratch, 'replaced'));
  try {
    renameSync(finished, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || !(await runs())) throw error;
  }
}

/** Folders are the distribution's, because a cache may be shared by containers of several. */
function folderOf({ name }: DownloadableProgram, cacheFolder: string): string {
  const field = (key: string) => new RegExp(`^${key}="?([^"\n]*)`, 'm').exec(osRelease())?.[1] ?? 'unknown';
  const distribution = [field('ID'), field('VERSION_ID'), process.arch].join('-').replace(/[^\w.-]/g, '_');
  return join(cacheFolder, name, distribution);
}

function programIn(folder: string, { program }: DownloadableProgram): DownloadedProgram {
  const libraries = readFileSync(join(folder, 'library-path'), 'utf8')
    .split(':')
    .filter(Boolean)
    .map((relative) => join(folder, relative));
  const path = join(folder, 'root', program);
  const loaderFile = join(folder, 'loader');
  if (!existsSync(loaderFile))
    return { path, env: libraries.length > 0 ? { LD_LIBRARY_PATH: libraries.join(':') } : {} };
  // Never by LD_LIBRARY_PATH, which would reach the tools that it starts. It chooses what it is by its name.
  const loader = join(folder, readFileSync(loaderFile, 'utf8'));
  return { path, loader: [loader, '--library-path', libraries.join(':'), '--argv0', basename(path)], env: {} };
}

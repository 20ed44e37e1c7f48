/**
 * `ip` from iproute2, without which there is no network of a run's own: the machine's, else the distribution's package
 * in the cache folder. Debian's smallest installation has none.
 */
import { dirname } from 'node:path';
import { findOnPath, runProgram } from './command.js';
import { PackageError } from './debian-packages.js';
import { type DownloadedProgram, downloadedProgram, downloadProgram } from './downloaded-program.js';

const IPROUTE = { name: 'iproute2', packages: ['iproute2'], program: 'bin/ip' };

/**
 * Makes sure that `ip` is on the PATH of this process and of all that it starts; downloads it on first use. Rejects with
 * a PackageError that says why it is not available.
 */
export async function provideIp(cacheFolder: string, say: (line: string) => void): Promise<void> {
  if (findOnPath('ip')) return;
  let found = downloadedProgram(IPROUTE, cacheFolder);
  if (!found || (await runs(found)) !== undefined) {
    say('downloading iproute2 from the distribution (first run)…');
    found = await downloadProgram(IPROUTE, cacheFolder, async (candidate) => {
      const trouble = await runs(candidate);
      if (trouble !== undefined) throw new PackageError(trouble);
    });
  }
  process.env.PATH = [process.env.PATH, dirname(found.path)].filter(Boolean).join(':');
  const libraries = [process.env.LD_LIBRARY_PATH, found.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
  // Only libraries that the machine lacks, so that nothing else can find another version of its own there.
  if (libraries !== '') process.env.LD_LIBRARY_PATH = libraries;
}

/** Undefined if it runs; otherwise what it said. */
async function runs({ path, env }: DownloadedProgram): Promise<string | undefined> {
  const { exitCode, stderr } = await runProgram([path, '-V'], { env });
  return exitCode === 0 ? undefined : `the unpacked ip does not run (${stderr.trim().split('\n')[0]})`;
}

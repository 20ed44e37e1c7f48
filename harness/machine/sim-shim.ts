/**
 * The library under which a server runs in virtual time: compiles `native/sim-shim.c` (see there) on first use, and says where it
 * cannot be had.
 */
import { spawnSync } from 'node:child_process';
import { runProgram } from './command.js';
import { type BuildOptions, type BuiltPart, buildLibrary, libraryPart, unavailable } from './native-part.js';

/** What the wall clock shows that the shim begins with: seconds since 1970. */
const EPOCH_S = 1_700_000_000;
/** The loader of the program itself, not that of the shell, is to preload it. */
const READ_CLOCK = 'LD_PRELOAD="$0" SIM_PIPES=3,4 exec date +%s 3</dev/null 4>/dev/null';

const part = libraryPart(
  { what: "simulation's shim", name: 'sim-shim' },
  (path) => trySimShim(path),
  'see docs/simulation.md for what a simulation needs of a machine',
);

/** The compiled shim, or why there is none (see `buildPart`). */
export async function buildSimShim(options: BuildOptions): Promise<BuiltPart> {
  const { platform, arch } = process;
  if (platform !== 'linux' || !['x64', 'arm64'].includes(arch)) {
    return unavailable(
      `a simulation needs Linux on x64 or arm64, this is ${platform} on ${arch}`,
      'use a run on real servers (`run`)',
    );
  }
  if (!usesGlibc())
    return unavailable('a simulation needs glibc, and this is another C library', 'use a run on real servers (`run`)');
  return buildLibrary(part, options);
}

/**
 * Starts a real program in virtual time and asks it for the date; resolves with what is wrong, or undefined. `under`: a command that
 * runs another one.
 */
export async function trySimShim(path: string, under: readonly string[] = []): Promise<string | undefined> {
  const { exitCode, stdout, stderr } = await runProgram([...under, 'sh', '-c', READ_CLOCK, path]);
  if (exitCode === 0 && Number(stdout) === EPOCH_S) return undefined;
  const [said = ''] = stderr.trim().split('\n');
  return `the simulation's shim ${path} has no effect: a program that should see its clock at ${EPOCH_S} read "${stdout.trim()}"${said === '' ? '' : ` (${said})`}`;
}

/**
 * What addresses a simulated server has: the same in each start, or others, where the machine refuses to have them the same (as
 * containers do by default) and where that cannot be tried. `under` as above.
 */
export function addressing(under: readonly string[] = []): 'fixed' | 'random' {
  const [command, ...argv] = [...under, 'setarch', '--addr-no-randomize', 'true'];
  return spawnSync(command!, argv).status === 0 ? 'fixed' : 'random';
}

function usesGlibc(): boolean {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime !== undefined;
}

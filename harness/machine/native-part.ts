/**
 * What the project has in C (`harness/native/`): taken prebuilt where there is one of these sources for this machine, else compiled
 * on first use; tried for real, and kept in the cache folder.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findOnPath, runProgram } from './command.js';
import { prebuiltPart } from './prebuilt-parts.js';
import { CacheFolderError, privateFolder } from './private-folder.js';
import { inProject } from './project-files.js';

const COMPILERS = ['cc', 'gcc', 'clang'];
const COMPILE_TIMEOUT_MS = 60_000;
const REMEDY = 'install a C compiler (Debian, Ubuntu: apt-get install gcc libc6-dev)';

/** `unavailable` is the whole sentence, what is wrong and what to do; `problem` and `remedy` are its halves. */
export type BuiltPart = { path: string } | { unavailable: string; problem: string; remedy: string };

export interface BuildOptions {
  cacheFolder: string;
  say: (line: string) => void;
  /** Where prebuilt parts are; absent: what the clone carries, or the platform package that was installed. */
  prebuiltFolder?: string;
}

export interface NativePart {
  /** For people: "clock shim". */
  what: string;
  /** The source is `harness/native/<name>.c`. */
  name: string;
  /** Of what is compiled: `.so`, or nothing. */
  extension: string;
  flags: readonly string[];
  /** Does the thing for real; resolves with what is wrong and what to do about it, or undefined. */
  trouble(path: string, scratchFolder: string): Promise<{ problem: string; remedy: string } | undefined>;
}

/** A library that is preloaded. `tried` does the thing for real with it; it resolves with what is wrong, or undefined. */
export function libraryPart(
  named: Pick<NativePart, 'what' | 'name'>,
  tried: (path: string, scratchFolder: string) => Promise<string | undefined>,
  remedy = 'set LOCK_TORTURE_CACHE to a folder from which programs may be run',
): NativePart {
  return {
    ...named,
    extension: '.so',
    flags: ['-O2', '-shared', '-fPIC'],
    async trouble(path, scratchFolder) {
      const problem = await tried(path, scratchFolder);
      return problem === undefined ? undefined : { problem, remedy };
    },
  };
}

/**
 * The part, from the cache or made now; or why there is none and what to do about it. A part that was made now was also seen to
 * work.
 */
export async function buildPart(part: NativePart, options: BuildOptions): Promise<BuiltPart> {
  const { what, name, extension, flags } = part;
  const source = inProject(`harness/native/${name}.c`);
  const folder = join(options.cacheFolder, name);
  const recipe = [readFileSync(source, 'utf8'), ...flags, process.platform, process.arch].join('\0');
  const cached = (of: string) => {
    const key = createHash('sha256').update(of).digest('hex').slice(0, 16);
    return join(folder, `${name}-${key}${extension}`);
  };
  try {
    const { bytes, trouble } = prebuiltPart(name, `${name}${extension}`, options.prebuiltFolder);
    const ready = bytes && (await keepPrebuilt(part, bytes, cached(bytes.toString('latin1'))));
    if (ready && 'path' in ready) return ready;
    const path = cached(recipe);
    if (existsSync(path)) return { path };
    const compiler = COMPILERS.find((one) => findOnPath(one));
    if (!compiler) {
      const instead = ready?.problem ?? trouble;
      return unavailable(
        `the ${what} needs a C compiler, and there is none of ${COMPILERS.join(', ')}${instead ? ` (${instead})` : ''}`,
      );
    }
    options.say(`compiling the ${what} (first run)…`);
    return await compile(part, compiler, source, path);
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined && !(error instanceof CacheFolderError)) throw error;
    return unavailable(
      `the ${what} cannot be kept in ${folder}: ${message}`,
      'set LOCK_TORTURE_CACHE to a folder of yours',
    );
  }
}

/** As `buildPart`, for a container's image: only there can it be tried, and what was not is kept apart. */
export function untriedPart(part: NativePart, options: BuildOptions): Promise<BuiltPart> {
  const untried = { ...part, trouble: async () => undefined };
  return buildPart(untried, { ...options, cacheFolder: join(options.cacheFolder, 'untried') });
}

/** As `buildPart`, for what is preloaded: the loader takes a list of paths, which blanks and colons divide. */
export async function buildLibrary(part: NativePart, options: BuildOptions): Promise<BuiltPart> {
  const folder = join(options.cacheFolder, part.name);
  if (/[\s:]/.test(folder)) {
    return unavailable(
      `the loader cannot preload from ${folder}`,
      'set LOCK_TORTURE_CACHE to a folder without blanks and colons',
    );
  }
  return buildPart(part, options);
}

/** The environment of a process that is to load these libraries before all others, and those that we were given. */
export function preloadEnv(...libraries: string[]): Record<string, string> {
  const others = process.env.LD_PRELOAD;
  return { LD_PRELOAD: [...libraries, ...(others ? [others] : [])].join(':') };
}

export function unavailable(problem: string, remedy = REMEDY): BuiltPart {
  return { unavailable: `${problem}: ${remedy}`, problem, remedy };
}

async function compile(part: NativePart, compiler: string, source: string, path: string): Promise<BuiltPart> {
  const { what, flags } = part;
  return keep(part, path, async (made) => {
    const result = await runProgram([compiler, ...flags, '-o', made, source], { timeoutMs: COMPILE_TIMEOUT_MS });
    if (result.exitCode === 0) return undefined;
    const said = result.stderr.split('\n').find((line) => /error|not found|No such|took longer/i.test(line));
    return unavailable(`the ${what} does not compile (${compiler}: ${said ?? `exit status ${result.exitCode}`})`);
  });
}

/** A copy, because a package may lie where nothing can be preloaded from. */
async function keepPrebuilt(part: NativePart, bytes: Buffer, path: string): Promise<BuiltPart> {
  if (existsSync(path)) return { path };
  return keep(part, path, async (made) => {
    writeFileSync(made, bytes, { mode: 0o755 });
    return undefined;
  });
}

/** What `make` makes is tried, and kept as `path` where it works. */
async function keep(
  part: NativePart,
  path: string,
  make: (path: string) => Promise<BuiltPart | undefined>,
): Promise<BuiltPart> {
  using workshop = privateFolder(dirname(path));
  const made = join(workshop.path, `${part.name}${part.extension}`);
  const failed = await make(made);
  if (failed) return failed;
  const trouble = await part.trouble(made, workshop.path);
  if (trouble) return unavailable(trouble.problem, trouble.remedy);
  // A process that made it at the same time has made the same file.
  renameSync(made, path);
  return { path };
}

/** What the project has in C (`harness/native/`): compiled on first use, tried for real, and kept in the cache folder. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findOnPath, runProgram } from './command.js';
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
 * The compiled part, from the cache or made now; or why there is none and what to do about it. A part that was compiled
 * now was also seen to work.
 */
export async function buildPart(part: NativePart, { cacheFolder, say }: BuildOptions): Promise<BuiltPart> {
  const { what, name, extension, flags } = part;
  const source = inProject(`harness/native/${name}.c`);
  const recipe = [readFileSync(source, 'utf8'), ...flags, process.platform, process.arch].join('\0');
  const key = createHash('sha256').update(recipe).digest('hex').slice(0, 16);
  const folder = join(cacheFolder, name);
  const path = join(folder, `${name}-${key}${extension}`);
  if (existsSync(path)) return { path };
  const compiler = COMPILERS.find((one) => findOnPath(one));
  if (!compiler) return unavailable(`the ${what} needs a C compiler, and there is none of ${COMPILERS.join(', ')}`);
  say(`compiling the ${what} (first run)…`);
  try {
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
  const { what, name, extension, flags } = part;
  using workshop = privateFolder(dirname(path));
  const made = join(workshop.path, `${name}${extension}`);
  const result = await runProgram([compiler, ...flags, '-o', made, source], { timeoutMs: COMPILE_TIMEOUT_MS });
  if (result.exitCode !== 0) {
    const said = result.stderr.split('\n').find((line) => /error|not found|No such|took longer/i.test(line));
    return unavailable(`the ${what} does not compile (${compiler}: ${said ?? `exit status ${result.exitCode}`})`);
  }
  const trouble = await part.trouble(made, workshop.path);
  if (trouble) return unavailable(trouble.problem, trouble.remedy);
  // A process that compiled it at the same time has made the same file.
  renameSync(made, path);
  return { path };
}

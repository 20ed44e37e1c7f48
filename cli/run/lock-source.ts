/**
 * From what a user gives as `--lock` to the command that starts one lock client: a built-in name, a TypeScript or
 * JavaScript file anywhere on the disk, a lock library of another language, or `cmd:` and a program that speaks the
 * protocol.
 *
 * It promises one clear line for everything that can be seen without running the lock. What only running shows (no
 * default export, a program that does not answer) is the handshake's to tell. Nothing here is ever given to a shell.
 */
import { constants, existsSync } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import type { Plugin } from 'esbuild';
import { parseArgsStringToArgv } from 'string-argv';
import { clientProgram } from '../../harness/client/program.js';
import { insteadOf, nearestName } from '../../harness/record/schemas/names.js';
import type { LibraryVersion } from '../../harness/vocabulary/external.js';
import type { BuiltinModule } from '../../lock-impl/index.js';
import { parseLockSpec } from '../../lock-impl/lock-spec.js';
import { type Library, nodeRedis } from '../../lock-impl/third-party/library.js';
import { type BundleContext, bundle, bundledFiles, LockSpecError, MODULE_EXTENSIONS } from './bundle.js';
import { havingVersion, otherVersion, unpinnedNote, whyNotChosen } from './chosen.js';
import { bundleForNodeRedis, bundleWithNodeRedis } from './node-redis.js';
import { type FoundLibrary, findLibrary } from './published-library.js';

export interface LockSource {
  /** Starts one lock client process. */
  clientArgv: string[];
  kind: 'builtin' | 'file' | 'external' | 'command';
  /** Topologies on which the lock makes sense, where that is known before it runs. */
  topologies?: readonly string[];
  /** How long it may take to start, where that is known before it runs. */
  startsWithinMs?: number;
  /** What the user should know of it. */
  note?: string;
}

export interface LockContext extends Omit<BundleContext, 'own'> {
  /** Where the user stands: relative paths start here. */
  cwd: string;
  builtin(name: string): BuiltinModule | undefined;
  builtinNames: readonly string[];
  /** A lock library of another language, built if it is not yet; undefined where none is called that. */
  external(name: string): Promise<Pick<LockSource, 'clientArgv' | 'topologies' | 'startsWithinMs'> | undefined>;
  /** A package of npm in a version that was asked for. */
  fetched(takes: LibraryVersion): Promise<FoundLibrary>;
  /** The Node program. */
  node: string;
}

const COMMAND = 'cmd:';

/** What `--lock spec` means. Rejects with a LockSpecError. */
export async function resolveLock(spec: string, context: LockContext): Promise<LockSource> {
  if (spec.startsWith(COMMAND)) {
    return { kind: 'command', clientArgv: await commandArgv(spec.slice(COMMAND.length), context.cwd) };
  }
  const unfit = whyNotChosen(spec);
  if (unfit !== undefined) throw new LockSpecError(unfit);
  const builtin = context.builtin(spec);
  if (builtin?.library) return publishedLock(spec, builtin, builtin.library, context);
  if (builtin) {
    const { modulePath, topologies, hasPackage } = builtin;
    if (hasPackage && context.withPackages)
      return { kind: 'file', clientArgv: startOf(await bundle(modulePath, context), context), topologies };
    return { kind: 'builtin', clientArgv: clientProgram([context.node, context.clientMain, modulePath]), topologies };
  }
  const external = await context.external(spec);
  const note = unpinnedNote(spec);
  if (external) return { kind: 'external', ...external, ...(note !== undefined && { note }) };
  if (!looksLikeFile(spec)) throw new LockSpecError(unknownName(spec, context.builtinNames));
  const file = await moduleFile(spec, context.cwd);
  return { kind: 'file', clientArgv: startOf(await bundleWithNodeRedis(spec, file, context), context) };
}

/**
 * The files of the user's that a lock is made of: a module with what it imports, packages left out, or what a program's command
 * names. None of a lock that the tool brings. Rejects with a LockSpecError.
 */
export async function sourcesOf(spec: string, context: Pick<LockContext, 'cwd' | 'clientMain'>): Promise<string[]> {
  if (spec.startsWith(COMMAND)) {
    const argv = await commandArgv(spec.slice(COMMAND.length), context.cwd);
    return argv.filter(isAbsolute);
  }
  if (!looksLikeFile(spec)) return [];
  const file = await moduleFile(spec, context.cwd);
  return bundledFiles(file, context);
}

function startOf(bundled: string, { node, clientMain }: LockContext): string[] {
  return clientProgram([node, '--enable-source-maps', clientMain, bundled]);
}

/** One module of the adapter and the library that the user's project has, or the client. */
async function publishedLock(
  name: string,
  { modulePath, topologies }: BuiltinModule,
  library: Library,
  context: LockContext,
): Promise<LockSource> {
  const takes = otherVersion(name);
  const found = takes ? await havingVersion(name, context.fetched(takes)) : findLibrary(library, context.cwd);
  if (typeof found === 'string') throw new LockSpecError(`--lock ${name}: ${found}`);
  const bundled =
    library === nodeRedis
      ? await bundleForNodeRedis(modulePath, found, context)
      : await bundle(modulePath, context, [libraryFrom(found)]);
  const unpinned = unpinnedNote(name);
  const note = `${name} is ${found.version} (${found.folder})${unpinned === undefined ? '' : `\n${unpinned}`}`;
  return { kind: 'file', clientArgv: startOf(bundled, context), topologies, note };
}

// ------------------------------------------------------------------------------------------------------------ names

/** Whether it is a module or a program of the user's, and no name. */
export function isOnesOwn(spec: string): boolean {
  return spec.startsWith(COMMAND) || looksLikeFile(spec);
}

/** Whether it is to be taken for a module's path. */
export function looksLikeFile(spec: string): boolean {
  return spec.startsWith('.') || isAbsolute(spec) || MODULE_EXTENSIONS.includes(extname(spec));
}

/**
 * The first of `places` from which a lock's file is found; what is no file is the same from everywhere. Undefined: it is not there.
 */
export function placeOfLock(spec: string, places: readonly string[]): string | undefined {
  return places.find((place) => !looksLikeFile(spec) || existsSync(resolve(place, spec)));
}

export function unknownName(spec: string, names: readonly string[]): string {
  const { name } = parseLockSpec(spec);
  return `unknown lock "${name}"; ${insteadOf(name, names, { list: 'list locks' })} (a lock of your own: ./file.ts, or 'cmd:./program')`;
}

// --------------------------------------------------------------------------------------------------------- programs

async function commandArgv(command: string, cwd: string): Promise<string[]> {
  const [program, ...args] = parseArgsStringToArgv(command);
  if (program === undefined)
    throw new LockSpecError(`--lock ${COMMAND} needs a program, as in 'cmd:./my-client --flag'`);
  const path = program.includes('/') ? resolve(cwd, program) : await onPath(program);
  if (path === undefined) throw new LockSpecError(`--lock ${COMMAND} ${program}: no such program on PATH`);
  const wrong = await whyNotExecutable(path);
  if (wrong) throw new LockSpecError(`--lock ${COMMAND} ${program}: ${wrong}`);
  // A client runs in a folder of its own, so `python3 client.py` must name the file that the user means.
  return [path, ...(await Promise.all(args.map((arg) => absoluteIfFile(arg, cwd))))];
}

async function onPath(program: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, program);
    if (folder !== '' && (await whyNotExecutable(path)) === undefined) return path;
  }
  return undefined;
}

async function whyNotExecutable(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return `${path} does not exist`;
  if (!found.isFile()) return `${path} is not a file`;
  const executable = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  return executable ? undefined : `${path} is not executable (chmod +x it, or name its interpreter)`;
}

async function absoluteIfFile(arg: string, cwd: string): Promise<string> {
  if (arg.startsWith('-') || isAbsolute(arg)) return arg;
  const path = resolve(cwd, arg);
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? path : arg;
}

// ------------------------------------------------------------------------------------------------------------ files

async function moduleFile(spec: string, cwd: string): Promise<string> {
  const path = resolve(cwd, spec);
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new LockSpecError(`--lock ${spec}: ${path} does not exist${await nearestModule(path, spec)}`);
  if (!found.isFile()) throw new LockSpecError(`--lock ${spec}: ${path} is not a file`);
  if (!MODULE_EXTENSIONS.includes(extname(path))) {
    const known = MODULE_EXTENSIONS.join(', ');
    throw new LockSpecError(`--lock ${spec}: not a module (${known}); for a program write 'cmd:${spec}'`);
  }
  return path;
}

/** The module beside the missing one that was probably meant, as `spec` would name it. */
async function nearestModule(path: string, spec: string): Promise<string> {
  const beside = await readdir(dirname(path)).catch(() => []);
  const modules = beside.filter((name) => MODULE_EXTENSIONS.includes(extname(name)));
  const near = nearestName(basename(path), modules);
  return near === undefined ? '' : `; did you mean ${spec.slice(0, -basename(spec).length)}${near}?`;
}

/** Takes the place of `lock-impl/third-party/here.ts`. */
function libraryFrom({ version, importedAs, from }: FoundLibrary): Plugin {
  const contents = [
    `export const versionHere = () => ${JSON.stringify(version)};`,
    `export const importHere = () => import(${JSON.stringify(importedAs)});`,
  ].join('\n');
  return {
    name: 'library-from',
    setup(build) {
      build.onLoad({ filter: /\/lock-impl\/third-party\/here\.[jt]s$/, namespace: 'file' }, () => ({
        contents,
        resolveDir: from,
      }));
    },
  };
}

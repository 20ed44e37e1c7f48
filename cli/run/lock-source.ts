/**
 * From what a user gives as `--lock` to the command that starts one lock client: a built-in name, a TypeScript or
 * JavaScript file anywhere on the disk, a lock library of another language, or `cmd:` and a program that speaks the
 * protocol.
 *
 * It promises one clear line for everything that can be seen without running the lock. What only running shows (no
 * default export, a program that does not answer) is the handshake's to tell. Nothing here is ever given to a shell.
 */
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { delimiter, dirname, extname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ImportKind, Loader, Message, OnLoadResult, OnResolveArgs, OnResolveResult, Plugin } from 'esbuild';
import { parseArgsStringToArgv } from 'string-argv';
import type { BuiltinModule } from '../../lock-impl/index.js';
import type { Library } from '../../lock-impl/third-party/library.js';
import { type FoundLibrary, findLibrary } from './published-library.js';

/** A lock that cannot be used; the message is one line for the user. */
export class LockSpecError extends Error {
  override readonly name = 'LockSpecError';
}

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

/** How a module of the user's is made one file. */
export interface BundleContext {
  /** What paths in messages start from. */
  cwd: string;
  /** Where the file may be written. */
  outFolder: string;
  /** The compiled client program, `dist/harness/client/main.js`: beside it is the ioredis that the tool brings. */
  clientMain: string;
  /** What it gets for `lock-torture`; absent: what locks need of it. */
  own?: string;
  /** Packages go into the bundle, too, because where the lock will run they are not. */
  withPackages?: boolean;
}

export interface LockContext extends Omit<BundleContext, 'own'> {
  /** Where the user stands: relative paths start here. */
  cwd: string;
  builtin(name: string): BuiltinModule | undefined;
  builtinNames: readonly string[];
  /** A lock library of another language, built if it is not yet; undefined where none is called that. */
  external(name: string): Promise<Pick<LockSource, 'clientArgv' | 'topologies' | 'startsWithinMs'> | undefined>;
  /** The Node program. */
  node: string;
}

const COMMAND = 'cmd:';
const MODULE_EXTENSIONS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'];

/** What `--lock spec` means. Rejects with a LockSpecError. */
export async function resolveLock(spec: string, context: LockContext): Promise<LockSource> {
  if (spec.startsWith(COMMAND)) {
    return { kind: 'command', clientArgv: await commandArgv(spec.slice(COMMAND.length), context.cwd) };
  }
  const builtin = context.builtin(spec);
  if (builtin?.library) return publishedLock(spec, builtin, builtin.library, context);
  if (builtin) {
    const clientArgv = [context.node, context.clientMain, builtin.modulePath];
    return { kind: 'builtin', clientArgv, topologies: builtin.topologies };
  }
  const external = await context.external(spec);
  if (external) return { kind: 'external', ...external };
  if (!looksLikeFile(spec)) throw new LockSpecError(unknownName(spec, context.builtinNames));
  const file = await moduleFile(spec, context.cwd);
  return { kind: 'file', clientArgv: startOf(await bundle(file, context), context) };
}

function startOf(bundled: string, { node, clientMain }: LockContext): string[] {
  return [node, '--enable-source-maps', clientMain, bundled];
}

/** One module of the adapter and the library that the user's project has. */
async function publishedLock(
  name: string,
  { modulePath, topologies }: BuiltinModule,
  library: Library,
  context: LockContext,
): Promise<LockSource> {
  const found = findLibrary(library, context.cwd);
  if (typeof found === 'string') throw new LockSpecError(`--lock ${name}: ${found}`);
  const bundled = await bundle(modulePath, context, [libraryFrom(found)]);
  const note = `${name} is ${found.version} (${found.folder})`;
  return { kind: 'file', clientArgv: startOf(bundled, context), topologies, note };
}

// ------------------------------------------------------------------------------------------------------------ names

/** Whether it is to be taken for a module's path. */
export function looksLikeFile(spec: string): boolean {
  return spec.startsWith('.') || isAbsolute(spec) || MODULE_EXTENSIONS.includes(extname(spec));
}

function unknownName(spec: string, names: readonly string[]): string {
  const near = names.filter((name) => name.includes(spec) || editDistance(spec, name) <= Math.max(2, spec.length / 3));
  const suggestion = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are: ${names.join(', ')}`;
  return `unknown lock "${spec}"; ${suggestion} (a lock of your own: ./file.ts, or 'cmd:./program')`;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
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
  if (!found) throw new LockSpecError(`--lock ${spec}: ${path} does not exist`);
  if (!found.isFile()) throw new LockSpecError(`--lock ${spec}: ${path} is not a file`);
  if (!MODULE_EXTENSIONS.includes(extname(path))) {
    const known = MODULE_EXTENSIONS.join(', ');
    throw new LockSpecError(`--lock ${spec}: not a module (${known}); for a program write 'cmd:${spec}'`);
  }
  return path;
}

/**
 * One module out of the user's own source files. Packages stay where they are and are loaded from there, so that native
 * add-ons and packages that read their own files work.
 */
export async function bundle(file: string, context: BundleContext, plugins: readonly Plugin[] = []): Promise<string> {
  const outfile = join(context.outFolder, 'lock.mjs');
  // Loaded only when needed: it costs more than the rest of the start together.
  const esbuild = await import('esbuild');
  try {
    await esbuild.build({
      entryPoints: [file],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      sourcemap: 'inline',
      absWorkingDir: dirname(file),
      logLevel: 'silent',
      banner: { js: requireFor(file) },
      define: Object.fromEntries(Object.entries(OWN_PLACE).map(([free, [name]]) => [free, name])),
      plugins: [...plugins, leavePackagesWhereTheyAre(context), keepOwnPlace],
    });
  } catch (error) {
    const messages = (error as { errors?: Message[] }).errors;
    if (!messages?.[0]) throw error;
    throw new LockSpecError(describe(messages[0], file, context.cwd));
  } finally {
    await esbuild.stop();
  }
  return outfile;
}

/** An ES module has no `require`; CommonJS files in the bundle need one, and that of the user's folder. */
function requireFor(file: string): string {
  const url = JSON.stringify(pathToFileURL(file).href);
  return `import { createRequire as lockCreateRequire } from 'node:module'; const require = lockCreateRequire(${url});`;
}

function describe(message: Message, file: string, cwd: string): string {
  const { location, text } = message;
  const at = location ? resolve(dirname(file), location.file) : file;
  const inside = relative(cwd, at);
  const name = inside.startsWith('..') ? at : inside;
  return location ? `${name}:${location.line}:${location.column + 1}: ${text}` : `${name}: ${text}`;
}

/** What a module may ask about its own place, the name it gets instead in the bundle, and its value. */
const OWN_PLACE: Record<string, [name: string, valueFor: (path: string) => string]> = {
  'import.meta.url': ['lockModuleUrl', (path) => pathToFileURL(path).href],
  'import.meta.dirname': ['lockModuleFolder', dirname],
  'import.meta.filename': ['lockModuleFile', (path) => path],
  __dirname: ['lockModuleFolder', dirname],
  __filename: ['lockModuleFile', (path) => path],
};

const LOADERS: Record<string, Loader> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
};

/** Lets a module that reads files next to itself find them although the bundle lies elsewhere. */
const keepOwnPlace: Plugin = {
  name: 'keep-own-place',
  setup(build) {
    build.onLoad(
      { filter: /\.[cm]?[jt]s$/, namespace: 'file' },
      async ({ path }): Promise<OnLoadResult | undefined> => {
        const source = await readFile(path, 'utf8');
        if (!/import\.meta|__dirname|__filename/.test(source)) return undefined;
        const values = new Map(
          Object.values(OWN_PLACE).map(([name, valueFor]) => [name, JSON.stringify(valueFor(path))]),
        );
        const names = [...values].map(([name, value]) => `${name} = ${value}`).join(', ');
        // On the first line itself, so that line numbers stay; behind a hashbang they would be a comment.
        const contents = `const ${names}; ${source.replace(/^#!/, '//')}`;
        return { contents, loader: LOADERS[extname(path)]!, resolveDir: dirname(path) };
      },
    );
  },
};

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

function leavePackagesWhereTheyAre({ clientMain, own, withPackages = false }: BundleContext): Plugin {
  // Bundled rather than external: it is a few lines without state, and CommonJS files could not require it.
  const tool = own ?? fileURLToPath(new URL('../../lock-impl/define-lock.js', pathToFileURL(clientMain)));
  const asked = Symbol('asked by this plugin');
  return {
    name: 'leave-packages-where-they-are',
    setup(build) {
      build.onResolve({ filter: /\.node$/ }, ({ path, resolveDir, kind }) => {
        if (!path.startsWith('.') && !isAbsolute(path)) return undefined;
        if (withPackages)
          return { errors: [{ text: `${path} is a native add-on, which cannot be put into a container` }] };
        return leftOutside(resolve(resolveDir, path), kind);
      });
      build.onResolve({ filter: /^[^./]/ }, async (args: OnResolveArgs): Promise<OnResolveResult | undefined> => {
        const { path, importer, resolveDir, kind, pluginData } = args;
        if (pluginData === asked || kind === 'entry-point') return undefined;
        if (isBuiltin(path)) return { path, external: true };
        if (path === 'lock-torture') return { path: tool };
        const found = await build.resolve(path, { importer, resolveDir, kind, pluginData: asked });
        if (found.errors.length === 0) return withPackages ? { path: found.path } : leftOutside(found.path, kind);
        // A lock without a package of its own can still use the client that the tool brings.
        if (path === 'ioredis') {
          const brought = createRequire(clientMain).resolve('ioredis');
          return withPackages ? { path: brought } : leftOutside(brought, kind);
        }
        // esbuild itself knows what may be missing: what is required in a `try`.
        if (withPackages) return undefined;
        return { errors: found.errors.map(({ text, notes }) => ({ text, notes })) };
      });
    },
  };
}

/** Loaded at run time from where it is, unless Node cannot load it by itself. */
function leftOutside(path: string, kind: ImportKind): OnResolveResult {
  if (['.ts', '.mts', '.cts', '.tsx', '.json'].includes(extname(path))) return { path };
  const required = kind === 'require-call' || kind === 'require-resolve';
  return { path: required ? path : pathToFileURL(path).href, external: true };
}

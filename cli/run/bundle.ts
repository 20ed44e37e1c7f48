/**
 * One module out of a lock or a config of the user's and what it imports of the user's own. Packages stay where they are.
 */
import { readFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, extname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type {
  BuildOptions,
  BuildResult,
  ImportKind,
  Loader,
  Message,
  OnLoadResult,
  OnResolveArgs,
  OnResolveResult,
  Plugin,
} from 'esbuild';
import { withEsbuild } from './esbuild.js';

/** A lock that cannot be used; the message is one line for the user. */
export class LockSpecError extends Error {
  override readonly name = 'LockSpecError';
}

/** The module that a lock's file became, below the folder that was asked for. */
export const BUNDLE = 'lock.mjs';

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
  /** What a native add-on cannot be where packages go in, as in "cannot ...". */
  addOnsCannot?: string;
}

const LOADERS: Record<string, Loader> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
};
/** What a module's name ends in. */
export const MODULE_EXTENSIONS = Object.keys(LOADERS);

/**
 * One module out of the user's own source files. Packages stay where they are and are loaded from there, so that native
 * add-ons and packages that read their own files work.
 */
export async function bundle(
  file: string,
  context: BundleContext,
  plugins: readonly Plugin[] = [],
  output: Pick<BuildOptions, 'inject'> = {},
): Promise<string> {
  const outfile = join(context.outFolder, BUNDLE);
  await build(file, context, plugins, { ...output, outfile, sourcemap: 'inline' });
  return outfile;
}

/** The files that would go into that module: those of the user's, without the tool's own and without packages. */
export async function bundledFiles(file: string, context: Omit<BundleContext, 'outFolder'>): Promise<string[]> {
  const { metafile } = await build(file, context, [], { write: false, metafile: true });
  const inputs = Object.keys(metafile!.inputs).map((path) => resolve(dirname(file), path));
  const own = toolFor(context);
  return inputs.filter((path) => path !== own);
}

async function build(
  file: string,
  context: Omit<BundleContext, 'outFolder'>,
  plugins: readonly Plugin[],
  output: BuildOptions,
): Promise<BuildResult> {
  const options: BuildOptions = {
    ...output,
    entryPoints: [file],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    absWorkingDir: dirname(file),
    logLevel: 'silent',
    banner: { js: requireFor(file) },
    define: Object.fromEntries(Object.entries(OWN_PLACE).map(([free, [name]]) => [free, name])),
    plugins: [...plugins, leavePackagesWhereTheyAre(context), keepOwnPlace],
  };
  try {
    return await withEsbuild((esbuild) => esbuild.build(options));
  } catch (error) {
    const messages = (error as { errors?: Message[] }).errors;
    if (!messages?.[0]) throw error;
    throw new LockSpecError(describe(messages[0], file, context.cwd));
  }
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

/** A file that imports one of these is a test, or closes over one: in the process of a client there is none. */
const TEST_RUNNERS: ReadonlySet<string> = new Set([
  'vitest',
  '@jest/globals',
  'jest',
  'node:test',
  'lock-torture/vitest',
  'lock-torture/jest',
]);

function ofATest(path: string): string {
  return `a lock cannot import ${path}: every client loads it in a process of its own, where there is no test; put it into a file without it`;
}

/** What `lock-torture` is for it. Bundled: it is a few lines without state, and CommonJS files could not require it. */
function toolFor({ own, clientMain }: Omit<BundleContext, 'outFolder'>): string {
  return own ?? fileURLToPath(new URL('../../lock-impl/define-lock.js', pathToFileURL(clientMain)));
}

function leavePackagesWhereTheyAre(context: Omit<BundleContext, 'outFolder'>): Plugin {
  const { clientMain, withPackages = false, addOnsCannot = 'be put into a container' } = context;
  const tool = toolFor(context);
  const asked = Symbol('asked by this plugin');
  return {
    name: 'leave-packages-where-they-are',
    setup(build) {
      build.onResolve({ filter: /\.node$/ }, ({ path, resolveDir, kind }) => {
        if (!path.startsWith('.') && !isAbsolute(path)) return undefined;
        if (withPackages) return { errors: [{ text: `${path} is a native add-on, which cannot ${addOnsCannot}` }] };
        return leftOutside(resolve(resolveDir, path), kind);
      });
      build.onResolve({ filter: /^[^./]/ }, async (args: OnResolveArgs): Promise<OnResolveResult | undefined> => {
        const { path, importer, resolveDir, kind, pluginData } = args;
        if (pluginData === asked || kind === 'entry-point') return undefined;
        if (TEST_RUNNERS.has(path)) return { errors: [{ text: ofATest(path) }] };
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

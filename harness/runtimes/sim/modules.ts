/**
 * What the code of a lock can load in the world, and its instances: like a process of its own, every client has the lock's
 * modules for itself. What the world does not own is refused by name, because it would wait in real time, or be different when
 * it is repeated.
 */
import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { compileFunction } from 'node:vm';
import { notThere, refuse } from './current-world.js';
import { ownModule } from './own-modules.js';
import { type OwnProcess, ownProcess } from './own-process.js';

/** Modules that only compute, or whose clocks, timers, randomness and network are the world's (`globals.ts`). */
const OWNED = new Set([
  'assert',
  'assert/strict',
  'async_hooks',
  'buffer',
  'console',
  'constants',
  'diagnostics_channel',
  'events',
  'path',
  'path/posix',
  'punycode',
  'querystring',
  'stream',
  'stream/promises',
  'string_decoder',
  'sys',
  'timers',
  'timers/promises',
  'url',
  'util',
  'util/types',
]);

/** One instance of a lock's module: what it exports. Throws what the module throws. */
export type LockModule = (own: OwnProcess) => Record<string, unknown>;

/** A name, not a path. */
const IS_PACKAGE = /^[@\w]/;

const PARAMETERS = ['module', 'exports', 'require', 'process', '__filename', '__dirname'];

/** `path`: a CommonJS module that is one file, but for `shared`: packages that are loaded once for all, by their own names. */
export function lockModule(path: string, shared: Readonly<Record<string, unknown>>): LockModule {
  const code = readFileSync(path, 'utf8');
  const compiled = compileFunction(code, PARAMETERS, { filename: path });
  const load = createRequire(import.meta.url);
  return (own) => {
    const itself = ownProcess(own);
    let isLoaded = false;
    const require = (asked: string): unknown => {
      if (Object.hasOwn(shared, asked)) return shared[asked];
      const name = asked.replace(/^node:/, '');
      if (name === 'process') return itself;
      if (name === 'module') return { createRequire: () => require };
      const ours = ownModule(name, own.hostname, (known) => load(`node:${known}`) as object);
      if (ours) return ours;
      if (OWNED.has(name)) return load(`node:${name}`);
      if (!isBuiltin(asked) && IS_PACKAGE.test(asked)) throw notInstalled(asked);
      // What loads one in case it is there can do without; what wants one later would do its work otherwise.
      if (!isLoaded) throw notThere(`the module ${asked}`);
      return refuse(`the module ${asked}`);
    };
    const made: { exports: Record<string, unknown> } = { exports: {} };
    compiled(made, made.exports, require, itself, path, '/data');
    isLoaded = true;
    return made.exports;
  };
}

/** What Node says of a package that is not there. All that are there are in the lock's one file. */
function notInstalled(name: string): Error {
  return Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' });
}

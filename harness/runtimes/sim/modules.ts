/**
 * What the code of a lock can load in the world, and its instances: like a process of its own, every client has the lock's
 * modules for itself. What the world does not own is refused by name, because it would wait in real time, or be different when
 * it is repeated.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import { OutsideOfTheWorldError } from './world.js';

/** Modules that only compute, or whose clocks, timers, randomness and network are the world's (`globals.ts`). */
const OWNED = new Set([
  'assert',
  'assert/strict',
  'async_hooks',
  'buffer',
  'console',
  'constants',
  'crypto',
  'diagnostics_channel',
  'events',
  'net',
  'path',
  'path/posix',
  'perf_hooks',
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

/** Loaded as they are, because ioredis names them; nothing of them is reached in a run without TLS and host names. */
const NAMED_ONLY = new Set(['tls', 'dns']);

/** What of a process its own code sees. */
export interface OwnProcess {
  pid: number;
  hostname: string;
  exit(code: number): void;
}

/** One instance of a lock's module: what it exports. Throws what the module throws. */
export type LockModule = (own: OwnProcess) => Record<string, unknown>;

const PARAMETERS = ['module', 'exports', 'require', 'process', '__filename', '__dirname'];

/** `path`: a CommonJS module that is one file, but for `shared`: packages that are loaded once for all, by their own names. */
export function lockModule(path: string, shared: Readonly<Record<string, unknown>>): LockModule {
  const code = readFileSync(path, 'utf8');
  const compiled = compileFunction(code, PARAMETERS, { filename: path });
  const load = createRequire(import.meta.url);
  return (own) => {
    const ownProcess = Object.create(process, {
      pid: { value: own.pid },
      ppid: { value: 1 },
      env: { value: {} },
      argv: { value: ['node', 'lock'] },
      exit: { value: (code = 0) => own.exit(code) },
      kill: { value: () => refuse('process.kill') },
    });
    const require = (asked: string): unknown => {
      if (Object.hasOwn(shared, asked)) return shared[asked];
      const name = asked.replace(/^node:/, '');
      if (name === 'process') return ownProcess;
      if (name === 'module') return { createRequire: () => require };
      if (name === 'os') return { ...(load('node:os') as object), hostname: () => own.hostname };
      if (OWNED.has(name) || NAMED_ONLY.has(name)) return load(`node:${name}`);
      return refuse(`the module ${asked}`);
    };
    const made: { exports: Record<string, unknown> } = { exports: {} };
    compiled(made, made.exports, require, ownProcess, path, '/data');
    return made.exports;
  };
}

function refuse(what: string): never {
  throw new OutsideOfTheWorldError(`the simulated world does not have ${what}, which this lock wants`);
}

/** What works in threads or asks the machine, and is there without being loaded. */
export function refuseUnowned(): void {
  const unowned = ['fetch', 'WebSocket', 'EventSource', 'BroadcastChannel', 'Worker'];
  for (const name of unowned) {
    if (!(name in globalThis)) continue;
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value: () => refuse(name) });
  }
}

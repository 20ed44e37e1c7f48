/**
 * What a lock's code has of Node's modules where these would ask the machine: of what works in threads, of what would be another
 * when it is repeated, it has none, and calling it ends the hunt by its name; the rest is the same for every client, or its host's.
 */
import crypto from 'node:crypto';
import os from 'node:os';
import { CORES } from './cores.js';
import { refusing, theWorld } from './current-world.js';

type Descriptors = Record<string, PropertyDescriptor>;

/** In threads, or from the machine's randomness. */
const REFUSED_OF_CRYPTO = [
  'pbkdf2',
  'scrypt',
  'hkdf',
  'generateKey',
  'generateKeySync',
  'generateKeyPair',
  'generateKeyPairSync',
  'generatePrime',
  'generatePrimeSync',
  'checkPrime',
  'createECDH',
  'createDiffieHellman',
  'createDiffieHellmanGroup',
  'getDiffieHellman',
  'publicEncrypt',
];

let ownCrypto: object | undefined;

/** Made when a lock first asks for it: by then `globals.ts` has replaced what it replaces of the module. */
function cryptoOfLocks(): object {
  ownCrypto ??= derived(crypto, {
    // Not configurable, so that the module itself keeps them.
    webcrypto: { get: () => globalThis.crypto },
    getRandomValues: { get: () => globalThis.crypto.getRandomValues },
    subtle: { get: () => globalThis.crypto.subtle },
    ...refusals('crypto', REFUSED_OF_CRYPTO),
  });
  return ownCrypto;
}

const GIBIBYTES = 2 ** 30;
const HOME = '/root';

function ownOs(hostname: string): object {
  const core = { model: 'sim', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } };
  const answers: Record<string, () => unknown> = {
    hostname: () => hostname,
    cpus: () => Array.from({ length: CORES }, () => ({ ...core, times: { ...core.times } })),
    availableParallelism: () => CORES,
    totalmem: () => 4 * GIBIBYTES,
    freemem: () => 2 * GIBIBYTES,
    loadavg: () => [0, 0, 0],
    uptime: () => theWorld().timeline.nowNs / 1e9,
    networkInterfaces: () => ({}),
    homedir: () => HOME,
    tmpdir: () => '/tmp',
    userInfo: () => ({ username: 'lock', uid: 0, gid: 0, shell: null, homedir: HOME }),
    release: () => 'sim',
    version: () => 'sim',
    getPriority: () => 0,
    setPriority: () => undefined,
  };
  return derived(os, Object.fromEntries(Object.entries(answers).map(([name, value]) => [name, { value }])));
}

/** Loaded because libraries name them (ioredis 5 has `fs` for its own version); all that they do is refused. */
const NAMED_ONLY = new Set(['dns', 'dns/promises', 'fs', 'fs/promises', 'tls']);

/** Undefined where Node's own will do. `load` gets Node's. */
export function ownModule(name: string, hostname: string, load: (name: string) => object): object | undefined {
  if (name === 'crypto') return cryptoOfLocks();
  if (name === 'os') return ownOs(hostname);
  if (name === 'net') return derived(load('net'), refusals('net', ['createServer', 'Server']));
  // Loggers ask it before they colour what they print.
  if (name === 'tty') return derived({ isatty: () => false }, refusals('tty', ['ReadStream', 'WriteStream']));
  if (name === 'perf_hooks') {
    const refused = ['PerformanceObserver', 'monitorEventLoopDelay'];
    return derived(load('perf_hooks'), refusals('perf_hooks', refused));
  }
  return NAMED_ONLY.has(name) ? onlyNamed(name, load(name)) : undefined;
}

/** Its functions are there, for libraries that look, and refuse; what they have of others (`dns.promises`) likewise. */
function onlyNamed(name: string, module: object): object {
  const known = module as Record<string, unknown>;
  const members = Object.keys(known).map((key): [string, unknown] => {
    const value = known[key];
    if (typeof value === 'function') return [key, refusing(`${name}.${key}`)];
    const isPart = key === 'promises' && typeof value === 'object' && value !== null;
    return [key, isPart ? onlyNamed(`${name}.${key}`, value) : value];
  });
  return Object.fromEntries(members);
}

function refusals(module: string, names: readonly string[]): Descriptors {
  return Object.fromEntries(names.map((name) => [name, { value: refusing(`${module}.${name}`) }]));
}

/** All that the module has is its own: what is compiled from `import * as` takes no more than that. */
function derived(module: object, changes: Descriptors): object {
  const enumerable = Object.entries(changes).map(([name, change]) => [name, { ...change, enumerable: true }]);
  return Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(module), ...Object.fromEntries(enumerable) },
  );
}

/** What of the globals would be in threads, the machine's, or another when it is repeated. */
const REFUSED_GLOBALS = ['fetch', 'WebSocket', 'EventSource', 'BroadcastChannel', 'Worker', 'MessageChannel'];

/**
 * Replaces globals, for good, in a process that does nothing else. Nothing is ever collected in the world, as it may be anywhere: when
 * something is, is the machine's affair.
 */
export function replaceUnowned(): void {
  for (const name of REFUSED_GLOBALS) if (name in globalThis) put(globalThis, name, refusing(name));
  put(Atomics, 'wait', refusing('Atomics.wait'));
  for (const name of ['compile', 'instantiate', 'compileStreaming', 'instantiateStreaming'])
    put(WebAssembly, name, refusing(`WebAssembly.${name}`));
  for (const name of ['mark', 'measure']) put(performance, name, refusing(`performance.${name}`));
  put(globalThis, 'WeakRef', KeptReference);
  put(globalThis, 'FinalizationRegistry', NothingCollected);
  const { format } = Object.getOwnPropertyDescriptors(Intl.DateTimeFormat.prototype);
  Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', {
    configurable: true,
    get(this: Intl.DateTimeFormat) {
      const bound = format!.get!.call(this) as (date: unknown) => string;
      return (date: unknown = Date.now()) => bound(date);
    },
  });
}

class KeptReference {
  readonly [Symbol.toStringTag] = 'WeakRef';

  constructor(private readonly referent: object) {}

  deref(): object {
    return this.referent;
  }
}

class NothingCollected {
  readonly [Symbol.toStringTag] = 'FinalizationRegistry';

  register(): void {}

  unregister(): boolean {
    return false;
  }
}

function put(on: object, name: string, value: unknown): void {
  Object.defineProperty(on, name, { configurable: true, writable: true, value });
}

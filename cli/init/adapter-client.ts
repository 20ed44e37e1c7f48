/** How the adapter that `init` writes gets a client for the lock, and what it imports for that. */
import type { FoundLock } from './find-lock.js';
import { type Argument, hasRole } from './roles.js';

export interface AdapterOptions {
  lock: FoundLock;
  /** What the adapter imports it from: `../src/lock.js`. */
  importedAs: string;
  /** As the user calls the file. */
  file: string;
  topology: string;
  typescript: boolean;
  /** Whose client it takes. */
  client: 'ioredis' | 'redis';
  /** It uses this version of redlock. */
  redlockMajor?: number;
  /** Environment variables by which it finds Redis, where it makes its own client. */
  environment: readonly string[];
}

/** The adapter cannot be written; the message says what to change in the lock. */
export class NoAdapterError extends Error {
  override readonly name = 'NoAdapterError';
}

export function refuseWhatCannotBe(
  { file, topology, environment, client }: AdapterOptions,
  all: Argument[],
  ownClient: boolean,
): void {
  const isOneAddress = topology === 'single' || topology === 'replica';
  if (ownClient && environment.length === 0)
    throw new NoAdapterError(
      `${file} makes its own Redis client, whose address nothing can set: let the lock take the client as a parameter, or read process.env.REDIS_URL`,
    );
  if ((ownClient || hasRole(all, 'url')) && !isOneAddress)
    throw new NoAdapterError(
      `${file} takes one address, and ${topology} has several: let the lock take the client as a parameter, or name --topology single`,
    );
  if (topology !== 'redlock') return;
  if (client === 'redis' || !hasRole(all, 'clients', 'redlock'))
    throw new NoAdapterError(
      `${file} takes one client, and the nodes of redlock have one each: name --topology single, or let the lock take a list of ioredis clients`,
    );
}

const ADDRESS_URL = `\`redis://\${host}:\${port}\``;
const ADDRESS = [
  "if (!('node' in topology.description)) throw new Error('this lock takes one address');",
  'const { host, port } = topology.description.node;',
];

export function clientLines(options: AdapterOptions, all: Argument[], ownClient: boolean): string[] {
  const { topology, typescript, client, environment, lock, importedAs, file } = options;
  // Another version of the client may have other types.
  const cast = (expression: string) => (typescript ? `(${expression}) as never` : expression);
  if (ownClient) {
    const set = environment.map((name) => `process.env.${name} = ${environmentValue(name)};`);
    const names =
      lock.made === 'functions'
        ? [lock.acquire, lock.release, lock.using].flatMap((one) => (one ? [one.name] : []))
        : [];
    const what =
      lock.exported === 'default'
        ? `{ default: ${imported(lock, file)} }`
        : `{ ${names.length > 0 ? [...new Set(names)].join(', ') : imported(lock, file)} }`;
    return [
      ...ADDRESS,
      '// Before it is imported, because it makes its client then.',
      ...set,
      `const ${what} = await import('${importedAs}');`,
    ];
  }
  if (hasRole(all, 'url')) return [...ADDRESS, `const url = ${ADDRESS_URL};`];
  if (topology === 'redlock') {
    const made = hasRole(all, 'redlock') ? ['const redlock = new Redlock(clients);'] : [];
    return [
      '// An ioredis client of each node, some of which may be down.',
      `const clients = ${cast('await topology.nodes()')};`,
      ...made,
    ];
  }
  if (client === 'redis')
    return [
      '// A client of the package redis that never sends a command twice, and gives up on each in time.',
      `const redis = ${cast('await topology.nodeRedis()')};`,
    ];
  const made = hasRole(all, 'redlock') ? ['const redlock = new Redlock([redis]);'] : [];
  return [
    '// An ioredis client that never sends a command twice, and gives up on each in time.',
    `const redis = ${cast('await topology.redis()')};`,
    ...made,
  ];
}

function environmentValue(name: string): string {
  if (/port/i.test(name)) return 'String(port)';
  return /host|addr/i.test(name) ? 'host' : ADDRESS_URL;
}

export function importsOf(options: AdapterOptions, all: Argument[], ownClient: boolean, importedAs: string): string[] {
  const { lock, file } = options;
  const names =
    lock.made === 'functions'
      ? [...new Set([lock.acquire, lock.release, lock.using].flatMap((one) => (one ? [one.name] : [])))].filter(
          (name) => lock.exported !== 'default' || name !== (lock.acquire ?? lock.using)!.name,
        )
      : [];
  const ofDefault = lock.exported === 'default' ? imported(lock, file) : '';
  const ofNames = lock.made === 'functions' ? names.sort().join(', ') : ofDefault === '' ? lock.exported : '';
  const what = [ofDefault, ofNames === '' ? '' : `{ ${ofNames} }`].filter(Boolean).join(', ');
  return [
    ...(hasRole(all, 'redlock') ? ["import Redlock from 'redlock';"] : []),
    ...(ownClient ? [] : [`import ${what} from '${importedAs}';`]),
  ];
}

/** What the lock is called in the adapter. */
export function imported({ exported, made, acquire, using }: FoundLock, file: string): string {
  if (exported !== 'default') return exported;
  if (made === 'functions') return (acquire ?? using)!.name;
  const words = nameOfFile(file)
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean);
  const name = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
  if (made === 'new') return /^[A-Za-z]/.test(name) ? name : 'Lock';
  return made === 'call' ? `make${name}` : `the${name}`;
}

export function nameOfFile(file: string): string {
  return file
    .split('/')
    .at(-1)!
    .replace(/\.[cm]?[jt]sx?$/, '');
}

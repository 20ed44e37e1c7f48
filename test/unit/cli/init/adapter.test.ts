/** The adapter that `init` writes for a lock of the user's: what it calls, with what, and what it cannot know. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type InitFlags, initCommand } from '../../../../cli/init/init-command.js';
import { KINDS, type Kind, LOCKS, type LockOf, lockIn } from '../../../support/init-projects.js';

let folder: string;
let said: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-torture-adapter-'));
  said = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    said += text;
    return true;
  });
  for (const name of ['ioredis', 'redis', 'redlock', 'redis-semaphore']) library(name, '5.0.0');
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const read = (path: string) => readFileSync(join(folder, path), 'utf8');
/** As far as it is looked at: nothing of it is called. */
const library = (name: string, version: string) => {
  write(`node_modules/${name}/package.json`, JSON.stringify({ name, version, main: 'index.js' }));
  write(`node_modules/${name}/index.js`, 'module.exports = class {};');
};

/** The adapter for a lock of this text, without its comments. */
async function adapterOf(source: string, flags: Partial<InitFlags> = {}, path = 'src/lock.js'): Promise<string> {
  write(path, source);
  const all = { lock: `./${path}`, example: false, yes: true, force: true, dryRun: false, ...flags };
  expect(await initCommand(all, folder)).toBe(0);
  const [name] = readdirSync(join(folder, 'lock-torture')).filter((one) => /^lock\.m?[jt]s$/.test(one));
  return read(`lock-torture/${name}`).replace(/^ *\/\/.*\n/gm, '');
}

describe('the adapter', () => {
  it.each([
    {
      what: 'a class that is given a client of ioredis, a key and milliseconds',
      source: `import Redis from 'ioredis';
export class RedisLock {
  constructor(redis) { this.redis = redis; }
  async acquire(key, ttlMs) { return null; }
  async release(key, token) { return true; }
}`,
      has: [
        "import { RedisLock } from '../src/lock.js';",
        'const redis = await topology.redis();',
        'const lock = new RedisLock(redis);',
        'async acquire(key, { leaseMs }) {',
        'const held = await lock.acquire(key, leaseMs);',
        'if (!held) return null;',
        'await lock.release(key, held);',
      ],
    },
    {
      what: 'functions of CommonJS, whose owner the caller draws, and seconds',
      source: `const Redis = require('ioredis');
async function acquireLock(redis, resource, owner, ttlSeconds) { return (await redis.set(resource, owner, 'EX', ttlSeconds, 'NX')) === 'OK'; }
async function releaseLock(redis, resource, owner) { return 1; }
module.exports = { acquireLock, releaseLock };`,
      has: [
        "import { acquireLock, releaseLock } from '../src/lock.js';",
        'const owner = topology.randomValue();',
        'const held = await acquireLock(redis, key, owner, Math.ceil(leaseMs / 1_000));',
        'await releaseLock(redis, key, owner);',
      ],
    },
    {
      what: 'a lease whose unit shows only where it is used',
      source: `export const createLock = (client) => ({
  async lock(name, ttl) { return (await client.set(name, '1', 'EX', ttl, 'NX')) && 'token'; },
  unlock: async (name) => { await client.del(name); },
});
import 'ioredis';`,
      has: [
        'const lock = await createLock(redis);',
        'await lock.lock(key, Math.ceil(leaseMs / 1_000));',
        'await lock.unlock(key);',
      ],
    },
    {
      what: 'a class that is made for one key and lease, with options',
      source: `import 'ioredis';
export default class Mutex {
  constructor({ client, key, ttl = 5000 }) { this.client = client; }
  async acquire() { return true; }
  async release() { return true; }
}`,
      has: [
        "import Lock from '../src/lock.js';",
        'const lock = new Lock({ client: redis, key, ttl: leaseMs });\n        const held = await lock.acquire();',
        'await lock.release();',
      ],
    },
    {
      what: 'options that are not taken apart',
      source: `import 'ioredis';
export class L {
  constructor(redis, options) { this.redis = redis; this.options = options; }
  async acquire(key) { return this.redis.set(key, 't', 'PX', this.options.ttl, 'NX'); }
  async release(key) { return true; }
}`,
      has: ['const lock = new L(redis, { ttl: leaseMs });\n        const held = await lock.acquire(key);'],
    },
    {
      what: 'what throws where it is refused',
      source: `import 'ioredis';
export class LockBusyError extends Error {}
export class L {
  constructor(redis) { this.redis = redis; }
  async acquire(key, ttlMs) { if (busy) throw new LockBusyError(key); return { release: async () => {} }; }
}`,
      has: ["if (error.constructor.name === 'LockBusyError') return null;", 'await held.release();'],
    },
    {
      what: 'what holds the lock while a function runs',
      source: `import 'ioredis';
export async function withLock(redis, key, ttlMs, fn) { return fn(); }`,
      has: ['const whole = withLock(redis, key, leaseMs, whileHeld);', 'whole.catch(failed);'],
    },
    {
      what: 'a module that makes its client of the environment',
      source: `import Redis from 'ioredis';
const redis = new Redis(process.env.REDIS_URL);
export async function acquire(key, ttlMs) { return null; }
export async function release(key, token) { return true; }`,
      has: [
        `process.env.REDIS_URL = \`redis://\${host}:\${port}\`;`,
        "const { acquire, release } = await import('../src/lock.js');",
        'const held = await acquire(key, leaseMs);',
      ],
    },
    {
      what: 'a mutex of redis-semaphore, which is made for each hold',
      source: `import { Mutex } from 'redis-semaphore';
export const mutexFor = (redis, key) => new Mutex(redis, key, { lockTimeout: 4000 });`,
      has: [
        'const lock = await mutexFor(redis, key);\n        const held = await lock.tryAcquire();',
        'await lock.release();',
      ],
    },
    {
      what: 'redlock 5, whose votes say no',
      source: `import Redlock from 'redlock';
export class L {
  constructor(redlock) { this.redlock = redlock; }
  acquire(resource, ttl) { return this.redlock.acquire([resource], ttl); }
}`,
      has: [
        "import Redlock from 'redlock';",
        'const redlock = new Redlock([redis]);',
        'if (await isRefusal(error)) return null;',
        'return held.release().then(',
      ],
    },
    {
      what: 'redlock on independent nodes, where no majority is a no',
      flags: { topology: 'redlock' },
      source: `import Redlock from 'redlock';
export function makeLock(clients) { const redlock = new Redlock(clients); return { acquire: (key, ttl) => redlock.acquire([key], ttl) }; }`,
      has: [
        'const clients = await topology.nodes();',
        'const lock = await makeLock(clients);',
        "if (error.name === 'ExecutionError') return null;",
      ],
    },
  ])('calls $what', async ({ source, has, flags }) => {
    const text = await adapterOf(source, flags);
    for (const line of has) expect(text).toContain(line);
    expect(text).not.toMatch(/TODO|\bundefined\b(?! \|\|)/);
  });

  it('is for redlock 4 where the project has that', async () => {
    library('redlock', '4.2.0');
    const text = await adapterOf(`const Redlock = require('redlock');
module.exports = class { constructor(redis) { this.redlock = new Redlock([redis]); } lock(key, ttl) { return this.redlock.lock(key, ttl); } };`);
    expect(text).toContain("if (error.name === 'LockError') return null;");
    expect(text).toContain('await held.unlock();');
    expect(text).not.toContain('isRefusal');
  });

  it('guesses the usual names where nothing tells them, and init says what to look at', async () => {
    write('src/other.js', '');
    const text = await adapterOf(
      "import 'ioredis';\nexport * from './other.js';\nexport class Thing { start() {} }",
      {},
    );
    expect(text).toContain('const lock = new Thing(redis);');
    expect(text).toContain('await lock.acquire(key, leaseMs);');
    expect(text).toContain('await lock.release(key, held);');
    expect(said).toContain(
      'Check in lock-torture/lock.mjs:\n- src/lock.js shows no function that acquires: `lock.acquire(key, leaseMs)` and `lock.release(key, held)` are a guess.\n',
    );
  });

  it('says which argument it cannot give, which lease it uses, and what a silent release hides', async () => {
    await adapterOf(`import 'ioredis';
export class L {
  constructor(redis, logger) {}
  async acquire(key) { return this.redis.set(key, 't', 'PX', 3000, 'NX'); }
  async release(key) { await this.redis.del(key); }
}`);
    expect(said).toContain('L gets nothing for `logger`: give what it needs.');
    expect(said).toContain("The lock takes no lease: the config says 3000 ms, as the lock's own code does.");
    expect(said).toContain('`release` returns nothing, so a release that came too late is not known to be one.');
    expect(read('lock-torture.config.mjs')).toContain("lease: '3000ms',");
    expect(read('lock-torture/lock.test.mjs')).toContain("lease: '3000ms',");
    // Several holds within its time.
    expect(read('lock-torture/lock.test.mjs')).toContain("timeLimit: '12s',");
  });

  it('is not written for a lock that was written for this tool', async () => {
    write('my-lock.js', "import { defineLock } from 'lock-torture';\nexport default defineLock({});");
    await initCommand({ lock: './my-lock.js', example: false, yes: true, force: false, dryRun: false }, folder);
    expect(read('lock-torture.config.mjs')).toContain("lock: './my-lock.js'");
    expect(readdirSync(join(folder, 'lock-torture'))).toEqual(['lock.test.mjs']);
    expect(read('lock-torture/lock.test.mjs')).toContain("new URL('../my-lock.js', import.meta.url)");
  });
});

describe("a lock that takes a client of Redis' own package", () => {
  const OF_REDIS = `import { createClient } from 'redis';
export class L { constructor(client) {} async acquire(key, ttlMs) {} async release(key, token) {} }`;

  it.each(['single', 'replica', 'sentinel', 'cluster'])(
    'gets that of the run on %s, and makes none',
    async (topology) => {
      const adapter = await adapterOf(OF_REDIS, { topology });
      expect(adapter).toContain('const redis = await topology.nodeRedis();');
      expect(adapter).not.toMatch(/createClient|from 'redis'|close\(/);
    },
  );
});

describe('what init refuses in one line', () => {
  const OWN_CLIENT = `import Redis from 'ioredis';
const redis = new Redis();
export async function acquire(key, ttlMs) {}
export async function release(key, token) {}`;
  const ONE_CLIENT =
    "import 'ioredis';\nexport class L { constructor(redis) {} acquire(key, ttl) {} release(key, token) {} }";

  it.each<[string, string, Partial<InitFlags>, string]>([
    [
      'a client at a fixed address',
      OWN_CLIENT,
      {},
      'src/lock.js makes its own Redis client, whose address nothing can set: let the lock take the client as a parameter, or read process.env.REDIS_URL',
    ],
    [
      'an address where there are several',
      OWN_CLIENT.replace('new Redis()', 'new Redis(process.env.REDIS_URL)'),
      { topology: 'sentinel' },
      'src/lock.js takes one address, and sentinel has several: let the lock take the client as a parameter, or name --topology single',
    ],
    [
      'one client for five nodes',
      ONE_CLIENT,
      { topology: 'redlock' },
      'src/lock.js takes one client, and the nodes of redlock have one each: name --topology single, or let the lock take a list of ioredis clients',
    ],
    [
      'nothing that is exported',
      'const x = 1;',
      {},
      'src/lock.js exports nothing: export your lock, or the function that makes it',
    ],
    [
      'a topology of no Redis',
      ONE_CLIENT,
      { topology: 'sentinal' },
      '--topology: "sentinal" is none that init knows; did you mean sentinel? there are single, replica, sentinel, cluster, redlock',
    ],
    ['a name', ONE_CLIENT, { lock: 'set-nx-px' }, "--lock set-nx-px: name your lock's file, such as ./src/lock.ts"],
    [
      'a program',
      ONE_CLIENT,
      { lock: 'cmd:./x' },
      "--lock cmd:./x: a program needs no adapter: run it by lock-torture --lock 'cmd:./x'",
    ],
    ['two of them', ONE_CLIENT, { example: true }, '--example writes a lock of its own: leave out --lock'],
  ])('%s', async (_, source, flags, message) => {
    await expect(adapterOf(source, flags)).rejects.toThrow(
      new RegExp(`^${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`),
    );
    expect(readdirSync(folder).sort()).toEqual(['node_modules', 'src']);
  });

  it('a file that is not there, with the one that was meant', async () => {
    write('src/lock.js', ONE_CLIENT);
    const flags = { lock: './src/lokc.js', example: false, yes: true, force: false, dryRun: false };
    await expect(initCommand(flags, folder)).rejects.toThrow(
      /src\/lokc\.js does not exist; did you mean \.\/src\/lock\.js\?$/,
    );
  });

  it('a question that nobody can be asked, with the file that looks like a lock', async () => {
    write('src/my-lock.js', ONE_CLIENT);
    vi.spyOn(process, 'stdin', 'get').mockReturnValue({ isTTY: false } as typeof process.stdin);
    await expect(initCommand({ example: false, yes: true, force: false, dryRun: false }, folder)).rejects.toThrow(
      /^no terminal to ask in: name your lock \(--lock \.\/src\/my-lock\.js --yes\), or write an example \(--example --yes\)$/,
    );
  });
});

describe('the config', () => {
  const LOCK =
    "import 'ioredis';\nexport class L { constructor(redis) {} acquire(key, ttl) {} release(key, token) {} }";

  it.each(['sentinel', 'replica', 'cluster'])(
    'lets pass on %s what that loses by itself, and says so',
    async (topology) => {
      await adapterOf(LOCK, { topology });
      const config = read('lock-torture.config.mjs');
      expect(config).toContain(`  topology: '${topology}',\n`);
      expect(config).toContain("  failOn: 'lock',\n");
      expect(config).toContain(`This lets through: grants that ${topology} loses in a failover`);
      expect(config).toMatch(/\/\/ No lock on \w+ is safe in every failover: Redis answers before its replicas know\./);
      expect(config).not.toContain('nemesis');
    },
  );

  it('lets nothing pass where every grant is kept: faults that break every lock are left out by name', async () => {
    await adapterOf(LOCK, { topology: 'single' });
    const config = read('lock-torture.config.mjs');
    expect(config).not.toContain('failOn');
    expect(config).toContain("  persistence: 'aof-always',\n");
    expect(config).toMatch(/nemesis: \['kill', /);
  });
});

describe('beside what is there', () => {
  const LOCK =
    "import 'ioredis';\nexport class L { constructor(redis) {} acquire(key, ttl) {} release(key, token) {} }";

  it('adds scripts and ignored folders, in the form that the files have', async () => {
    write('package.json', '{\n\t"name": "theirs",\n\t"scripts": {\n\t\t"torture": "mine"\n\t}\n}');
    write('.gitignore', 'node_modules\n/runs');
    await adapterOf(LOCK);
    expect(read('package.json')).toBe(
      '{\n\t"name": "theirs",\n\t"scripts": {\n\t\t"torture": "mine",\n\t\t"test:torture": "node --test lock-torture/lock.test.mjs"\n\t}\n}',
    );
    expect(read('.gitignore')).toBe('node_modules\n/runs\nhunts/\n');
    expect(said).toContain('to be added to:    package.json (scripts test:torture)\n');
    said = '';
    await adapterOf(LOCK, { force: false });
    expect(said).toMatch(/^kept, it is there: lock-torture\/lock\.mjs$/m);
    expect(said).not.toMatch(/package\.json|\.gitignore/);
  });

  it('replaces what is there only by --force', async () => {
    write('lock-torture/lock.mjs', 'mine');
    expect(await adapterOf(LOCK, { force: false })).toBe('mine');
    expect(await adapterOf(LOCK, { force: true })).toContain('defineLock');
    expect(said).toMatch(/^to be replaced: {4}lock-torture\/lock\.mjs$/m);
  });

  it('says what a job needs whose package.json names a file of this machine', async () => {
    write(
      'package.json',
      JSON.stringify({ devDependencies: { 'lock-torture': 'file:../elsewhere/lock-torture-0.1.0.tgz' } }),
    );
    write('node_modules/lock-torture/package.json', '{}');
    await adapterOf(LOCK);
    expect(said).toContain(
      'For jobs: package.json names ../elsewhere/lock-torture-0.1.0.tgz, which no other machine has. Copy both tarballs to packed/, and then: npm i -D ./packed/*.tgz\nCommit package.json, its lockfile and packed/: the job in .github/workflows installs from them.\n',
    );
    expect(said).not.toContain('npm run packages');
  });
});

describe.each(Object.keys(KINDS) as Kind[])('%s', (kind) => {
  it.each(Object.keys(LOCKS) as LockOf[])('with %s: the lock is found, sound or broken', async (lock) => {
    const { extension, packageJson } = KINDS[kind];
    write('package.json', JSON.stringify({ ...packageJson, dependencies: LOCKS[lock].packages }));
    for (const broken of [false, true]) {
      const text = await adapterOf(lockIn(kind, lock, { broken }), {}, `src/lock.${extension}`);
      expect(text).toContain("from '../src/lock.js';");
      expect(said).not.toMatch(/are a guess|gets nothing/);
    }
    expect(said).toContain('The lease is given in milliseconds.');
  });
});

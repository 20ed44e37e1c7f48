/** Projects of strangers that have a lock: what `init` meets. Each kind of project, and each client that a lock may be written with. */

export type Kind = 'TypeScript with vitest' | 'ESM with node:test' | 'CommonJS with jest';
export type LockOf = 'ioredis' | 'node-redis' | 'redlock';

export const KINDS: Readonly<
  Record<Kind, { extension: string; packageJson: object; runner: 'vitest' | 'jest' | 'node' }>
> = {
  'TypeScript with vitest': {
    extension: 'ts',
    packageJson: { type: 'module', devDependencies: { typescript: '5', vitest: '4' }, scripts: { test: 'vitest run' } },
    runner: 'vitest',
  },
  'ESM with node:test': { extension: 'js', packageJson: { type: 'module' }, runner: 'node' },
  'CommonJS with jest': { extension: 'js', packageJson: { devDependencies: { jest: '30' } }, runner: 'jest' },
};

interface Source {
  packages: Readonly<Record<string, string>>;
  imports: readonly (readonly [what: string, from: string])[];
  exports: readonly string[];
  code: string;
  /** What is replaced in it, and by what, so that it is wrong. */
  broken: readonly [from: string, to: string];
  /** How a class says of what type its client is, in TypeScript. */
  typed?: readonly (readonly [from: string, to: string])[];
}

/** Sound locks, as they stand in applications. */
export const LOCKS: Readonly<Record<LockOf, Source>> = {
  ioredis: {
    packages: { ioredis: '5' },
    // At run time, too: a client of its own where it is given none.
    imports: [
      ['{ randomUUID }', 'node:crypto'],
      ['{ Redis }', 'ioredis'],
    ],
    exports: ['RedisLock'],
    code: `
const RELEASE = \`
if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("del", KEYS[1])
end
return 0\`;

/** A lock on one Redis: \`await lock.acquire('orders', 5_000)\`. */
class RedisLock {
  constructor(redis, options = {}) {
    this.redis = redis ?? new Redis();
    this.prefix = options.prefix ?? '';
  }

  /** The token, or null where somebody else holds it. */
  async acquire(name, ttlMs) {
    const token = randomUUID();
    const answer = await this.redis.set(this.prefix + name, token, 'PX', ttlMs, 'NX');
    return answer === 'OK' ? token : null;
  }

  async release(name, token) {
    return (await this.redis.eval(RELEASE, 1, this.prefix + name, token)) === 1;
  }
}
`,
    broken: [
      '(await this.redis.eval(RELEASE, 1, this.prefix + name, token))',
      '(await this.redis.del(this.prefix + name))',
    ],
    typed: [
      ['class RedisLock {', 'class RedisLock {\n  redis: Redis;\n  prefix: string;\n'],
      ['(redis, options = {})', '(redis: Redis | undefined, options: { prefix?: string } = {})'],
      ['acquire(name, ttlMs)', 'acquire(name: string, ttlMs: number)'],
      ['release(name, token)', 'release(name: string, token: string)'],
    ],
  },
  'node-redis': {
    packages: { redis: '5' },
    imports: [['{ randomUUID }', 'node:crypto']],
    exports: ['acquireLock', 'releaseLock'],
    code: `
const UNLOCK = 'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) else return 0 end';

async function acquireLock(client, key, { ttl = 10_000 } = {}) {
  const token = randomUUID();
  const answer = await client.set(key, token, { condition: 'NX', expiration: { type: 'PX', value: ttl } });
  return answer === 'OK' ? token : null;
}

async function releaseLock(client, key, token) {
  return client.eval(UNLOCK, { keys: [key], arguments: [token] });
}
`,
    broken: ['client.eval(UNLOCK, { keys: [key], arguments: [token] })', 'client.del(key)'],
    typed: [
      ['(client, key, {', '(client: any, key: string, {'],
      ['(client, key, token)', '(client: any, key: string, token: string)'],
    ],
  },
  redlock: {
    packages: { ioredis: '5', redlock: '5.0.0-beta.2' },
    imports: [['Redlock', 'redlock']],
    exports: ['LockService'],
    code: `
class LockService {
  constructor(clients) {
    // As an import of a CommonJS package gives it.
    this.redlock = new (Redlock.default ?? Redlock)(clients, { retryCount: 2 });
  }

  lock(resource, ttl) {
    return this.redlock.acquire([resource], ttl);
  }
}
`,
    // Goes on without a lock where it gets none.
    broken: [
      'this.redlock.acquire([resource], ttl)',
      'this.redlock.acquire([resource], ttl).catch(() => ({ release: async () => {} }))',
    ],
    typed: [
      ['class LockService {', 'class LockService {\n  redlock: any;\n'],
      ['(Redlock.default ?? Redlock)(clients,', '((Redlock as any).default ?? Redlock)(clients as any,'],
      ['constructor(clients)', 'constructor(clients: unknown[])'],
      ['lock(resource, ttl)', 'lock(resource: string, ttl: number)'],
    ],
  },
};

/** The text of the lock's file in a project of that kind. */
export function lockIn(kind: Kind, lock: LockOf, { broken = false } = {}): string {
  const {
    imports,
    exports,
    code,
    broken: [from, to],
    typed = [],
  } = LOCKS[lock];
  let own = broken ? replaced(code, from, to) : code;
  if (kind === 'TypeScript with vitest') for (const [untyped, type] of typed) own = replaced(own, untyped, type);
  if (kind !== 'CommonJS with jest') {
    const lines = imports.map(([what, name]) => `import ${what} from '${name}';\n`);
    return `${lines.join('')}${own}\nexport { ${exports.join(', ')} };\n`;
  }
  const lines = imports.map(([what, name]) => `const ${what} = require('${name}');\n`);
  return `${lines.join('')}${own}\nmodule.exports = { ${exports.join(', ')} };\n`;
}

function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the lock has no longer "${from}"`);
  return text.replace(from, to);
}

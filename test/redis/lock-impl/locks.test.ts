/**
 * The locks themselves, each client a process of its own, against real Redis servers: what they promise.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveLock } from '../../../cli/run/lock-source.js';
import { clientProgram } from '../../../harness/client/program.js';
import type { TopologyDescription } from '../../../harness/vocabulary/topology.js';
import {
  fileServer,
  fileServers,
  freshKey,
  goneFrom,
  ownServers,
  redlockOf,
  SHORT_LEASE_MS,
} from '../../support/file-servers.js';
import { clientMain, connectedClient, LockClientProcess, nowNs, projectFolder } from '../../support/lock-client.js';
import { withClients } from '../../support/lock-clients.js';
import { single } from '../../support/locks-here.js';
import { startRedis, type TestRedis, until } from '../../support/redis-server.js';

const server = fileServer();
const nodes = fileServers(5);

const pythonClient = resolve(projectFolder, 'lock-impl/external/python/lock_client.py');

async function connectedPython(topology: TopologyDescription, commandTimeoutMs = 1_000): Promise<LockClientProcess> {
  const client = new LockClientProcess(['python3', pythonClient]);
  expect(await client.init(topology, { commandTimeoutMs })).toMatchObject({ type: 'ok' });
  return client;
}

const onOneServer: Record<string, (topology: TopologyDescription) => Promise<LockClientProcess>> = {
  'set-nx-px': (topology) => connectedClient('set-nx-px', topology),
  ifeq: (topology) => connectedClient('ifeq', topology),
  delex: (topology) => connectedClient('delex', topology),
  fcall: (topology) => connectedClient('fcall', topology),
};

/** What any sound lease lock on one server does. */
function excludesOnOneServer(connect: (topology: TopologyDescription) => Promise<LockClientProcess>): void {
  test('excludes, and can be acquired again after the release', () =>
    withClients(
      () => connect(single(server)),
      async ({ a, b, key }) => {
        const grant = await a.acquire(key);
        expect(grant.type).toBe('ok');
        expect(grant.value.grantSent).toBeGreaterThanOrEqual(grant.began!);
        expect(grant.value.grantSent).toBeLessThanOrEqual(grant.ended!);
        expect(grant.value.validForMs).toBeLessThan(4_948);
        expect(await b.acquire(key)).toMatchObject({ type: 'fail', reason: 'held' });
        expect((await a.release(grant.id)).type).toBe('ok');
        expect(await a.release(grant.id)).toMatchObject({ type: 'fail', reason: `unknown-hold: ${grant.id}` });
        expect((await b.acquire(key)).type).toBe('ok');
      },
    ));

  test('expires; the late release fails and leaves the next holder alone', () =>
    withClients(
      () => connect(single(server)),
      async ({ a, b, key }) => {
        const late = await a.acquire(key, SHORT_LEASE_MS);
        await goneFrom(server, key);
        expect((await b.acquire(key, 60_000)).type).toBe('ok');
        expect(await a.extend(late.id, 5_000)).toMatchObject({ type: 'fail', reason: 'not-owner' });
        expect(await a.release(late.id)).toMatchObject({ type: 'fail', reason: 'not-owner' });
        expect(await server.redis.exists(key)).toBe(1);
        expect(await server.redis.pttl(key)).toBeGreaterThan(30_000);
      },
    ));

  test('extends: a new lease from when the extension was sent', async () => {
    await using a = await connect(single(server));
    const key = freshKey();
    const grant = await a.acquire(key, 10_000);
    const extended = await a.extend(grant.id, 60_000);
    expect(extended.type).toBe('ok');
    expect(extended.value.sent).toBeGreaterThanOrEqual(extended.began!);
    expect(extended.value.sent).toBeLessThanOrEqual(extended.ended!);
    expect(await server.redis.pttl(key)).toBeGreaterThan(50_000);
  });

  test('waits for a holder, and only for the given wait', () =>
    withClients(
      () => connect(single(server)),
      async ({ a, b, key }) => {
        const grant = await a.acquire(key);
        const refused = await b.acquire(key, 5_000, 200);
        expect(refused).toMatchObject({ type: 'fail', reason: 'held' });
        expect(refused.ended! - refused.began!).toBeGreaterThanOrEqual(200e6);
        const waiting = b.acquire(key, 5_000, 10_000);
        await a.release(grant.id);
        expect((await waiting).type).toBe('ok');
      },
    ));

  test('says so when the server is gone', async () => {
    await using own = await startRedis();
    await using client = await connect(single(own));
    await own.kill();
    await until('it has noticed', async () => {
      const answer = await client.acquire(freshKey());
      expect(answer.type).not.toBe('ok');
      return answer.type === 'fail' && /^unreachable/.test(answer.reason!);
    });
  });
}

describe.each(Object.entries(onOneServer))('%s', (_name, connect) => excludesOnOneServer(connect));

describe('python', { tags: ['python'] }, () => excludesOnOneServer(connectedPython));

describe('fcall', () => {
  test('goes on where the server has lost its functions: the hold was not', async () => {
    await using own = await startRedis();
    await using client = await connectedClient('fcall', single(own));
    const key = freshKey();
    const grant = await client.acquire(key);
    await own.redis.call('FUNCTION', 'FLUSH');
    expect(await client.extend(grant.id, 60_000)).toMatchObject({ type: 'ok' });
    expect(await own.redis.pttl(key)).toBeGreaterThan(30_000);
    await own.redis.call('FUNCTION', 'FLUSH');
    expect(await client.release(grant.id)).toMatchObject({ type: 'ok' });
    expect(await own.redis.exists(key)).toBe(0);
  });

  test('a replica has its functions, which nobody loaded there', async () => {
    await using primary = await startRedis('r1', ['--repl-diskless-sync-delay', '0']);
    await using replica = await startRedis('r2', ['--replicaof', primary.endpoint.host, String(primary.endpoint.port)]);
    await using client = await connectedClient('fcall', single(primary));
    expect(await client.acquire(freshKey())).toMatchObject({ type: 'ok' });
    await until('they are there', async () => {
      const libraries = (await replica.redis.call('FUNCTION', 'LIST')) as unknown[];
      return JSON.stringify(libraries).includes('locktorture_take');
    });
  });
});

test('set-nx-px: a grant that comes when its lease is over is given back', async () => {
  await using client = await connectedClient('set-nx-px', single(server));
  const key = freshKey();
  await server.redis.call('CLIENT', 'PAUSE', '60000', 'WRITE');
  const late = client.acquire(key, 40);
  await until('its command waits', async () => /blocked_clients:[^0]/.test(await server.redis.info('clients')));
  const sinceNs = nowNs();
  await until('the lease is over', () => nowNs() - sinceNs > 40e6);
  await server.redis.call('CLIENT', 'UNPAUSE');
  expect(await late).toMatchObject({ type: 'fail', reason: 'granted-late' });
});

describe('redlock', () => {
  /** It waits for a node for a hundredth of the lease, and at most 200 ms: as long as it can. */
  const LEASE_MS = 20_000;
  const held = async (key: string) =>
    (await Promise.all(nodes.map((node) => node.redis.exists(key)))).reduce((sum, n) => sum + n, 0);

  test('excludes, on all nodes; releases everywhere', () =>
    withClients(
      () => connectedClient('redlock', redlockOf(nodes)),
      async ({ a, b, key }) => {
        const grant = await a.acquire(key, LEASE_MS);
        expect(grant.type).toBe('ok');
        expect(grant.value.grantSent).toBeGreaterThanOrEqual(grant.began!);
        expect(await held(key)).toBe(5);
        expect(await b.acquire(key, LEASE_MS)).toMatchObject({ type: 'fail', reason: 'held' });
        expect((await a.extend(grant.id, 60_000)).type).toBe('ok');
        expect(await nodes[4]!.redis.pttl(key)).toBeGreaterThan(50_000);
        expect((await a.release(grant.id)).type).toBe('ok');
        expect(await held(key)).toBe(0);
        expect((await b.acquire(key, LEASE_MS)).type).toBe('ok');
      },
    ));

  test('a split vote grants no client and leaves nothing behind', async () => {
    await using client = await connectedClient('redlock', redlockOf(nodes));
    const key = freshKey();
    for (const node of nodes.slice(0, 3)) await node.redis.set(key, 'somebody');
    expect(await client.acquire(key, LEASE_MS)).toMatchObject({ type: 'fail', reason: 'no-quorum' });
    expect(await held(key)).toBe(3);
  });

  test('works with a minority dead, also from the start; not with a majority', async () => {
    await using own = await ownServers(3);
    const [first, second, third] = own.nodes as [TestRedis, TestRedis, TestRedis];
    await third.kill();
    await using client = await connectedClient('redlock', redlockOf(own.nodes), { commandTimeoutMs: 3_000 });
    // The dead one takes its whole time-out out of the lease.
    const grant = await client.acquire('k', 60_000);
    expect(grant).toMatchObject({ type: 'ok' });
    expect((await client.release(grant.id)).type).toBe('ok');
    await second.kill();
    // The first try may have met the dying connection.
    const refused = await until('both are known to be gone', async () => {
      const answer = await client.acquire('k');
      expect(answer.type).not.toBe('ok');
      return answer.type === 'fail' && answer;
    });
    expect(refused.reason).toBe('unreachable');
    expect(await first.redis.exists('k')).toBe(0);
  });

  test('a stopped minority costs a little time, not the lock', async () => {
    await using client = await connectedClient('redlock', redlockOf(nodes), { commandTimeoutMs: 30_000 });
    const key = freshKey();
    nodes[4]!.process.kill('SIGSTOP');
    try {
      // It waits for 200 ms for a node. A machine may be too busy for that, so that it tries again.
      const grant = await client.acquire(key, LEASE_MS, 50_000);
      expect(grant.type).toBe('ok');
      // It did not wait for as long as a command may take.
      expect(grant.ended! - grant.began!).toBeLessThan(20_000e6);
      expect((await client.release(grant.id)).type).toBe('ok');
    } finally {
      nodes[4]!.process.kill('SIGCONT');
    }
  });
});

describe('the Python client', { tags: ['python'] }, () => {
  test('completes the handshake, tells its clock, refuses what it does not know', async () => {
    await using client = new LockClientProcess(['python3', pythonClient]);
    const hello = await client.init(single(server));
    expect(hello).toMatchObject({
      type: 'ok',
      value: { lock: 'python-set-nx-px', features: ['extend', 'clock'], topologies: ['single', 'replica'] },
    });
    const { value } = await client.request({ op: 'clock' });
    expect(Math.abs(value.wallMs - Date.now())).toBeLessThan(5_000);
    const unsupported = await client.request({ op: 'conquer' } as never);
    expect(unsupported).toMatchObject({ type: 'fail', reason: 'unsupported: operation conquer' });
  });

  test('excludes clients in other languages', async () => {
    await using python = await connectedPython(single(server));
    await using node = await connectedClient('set-nx-px', single(server));
    const key = freshKey();
    const grant = await python.acquire(key);
    expect((await node.acquire(key)).type).toBe('fail');
    await python.release(grant.id);
    expect((await node.acquire(key)).type).toBe('ok');
    expect((await python.acquire(key)).type).toBe('fail');
  });

  test('behind a virtual address, with a password', async () => {
    await using own = await startRedis('r1', [], undefined, 'open sesame');
    const replica: TopologyDescription = { kind: 'replica', node: own.endpoint, password: 'open sesame' };
    await using python = await connectedPython(replica);
    await using node = await connectedClient('set-nx-px', replica);
    const grant = await python.acquire('k');
    expect(await node.acquire('k')).toMatchObject({ type: 'fail', reason: 'held' });
    expect((await python.release(grant.id)).type).toBe('ok');
    expect((await node.acquire('k')).type).toBe('ok');
    await using stranger = new LockClientProcess(['python3', pythonClient]);
    expect(await stranger.init({ ...replica, password: 'guess' })).toMatchObject({ type: 'fail', reason: 'wrongpass' });
  });

  test('leaves a primary that was demoted: behind the same address there is another by now', async () => {
    await using own = await startRedis();
    await using client = await connectedPython({ kind: 'replica', node: own.endpoint });
    const connections = async () => Number(/total_connections_received:(\d+)/.exec(await own.redis.info('stats'))![1]);
    const before = await connections();
    await own.redis.replicaof('127.0.0.1', '1');
    expect(await client.acquire('k')).toMatchObject({ type: 'fail', reason: 'readonly' });
    await own.redis.replicaof('NO', 'ONE');
    expect((await client.acquire('k')).type).toBe('ok');
    expect(await connections()).toBe(before + 1);
  });

  test('refuses a Cluster by name', async () => {
    await using client = new LockClientProcess(['python3', pythonClient]);
    expect(await client.init({ kind: 'cluster', nodes: [server.endpoint] })).toMatchObject({
      type: 'fail',
      reason: 'lock: python-set-nx-px makes no sense on cluster',
    });
  });

  test('says info when the server does not answer', async () => {
    await using own = await startRedis();
    await using client = await connectedPython(single(own), 200);
    own.process.kill('SIGSTOP');
    const answer = await client.acquire('k');
    own.process.kill('SIGCONT');
    expect(answer).toMatchObject({ type: 'info', reason: expect.stringMatching(/^Doubt: no answer/) });
  });

  test('ends with its standard input, in the middle of a wait', async () => {
    await using client = await connectedPython(single(server));
    const key = freshKey();
    await server.redis.set(key, 'somebody');
    void client.acquire(key, 5_000, 60_000).catch(() => {});
    const exited = once(client.process, 'exit');
    client.process.stdin.end();
    expect((await exited)[0]).toBe(0);
  });
});

describe("a user's lock, from any folder", () => {
  let outside: string;
  beforeAll(() => {
    outside = mkdtempSync(join(tmpdir(), 'lock-torture-user-'));
  });
  afterAll(() => rmSync(outside, { recursive: true, force: true }));

  /** Writes the files, resolves `--lock ./<spec>` in their folder and lets two processes of it contend. */
  async function contend(folder: string, files: Record<string, string>, spec: string): Promise<string[]> {
    const cwd = join(outside, folder);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), text);
    }
    const outFolder = mkdtempSync(join(outside, 'run-'));
    const builtin = () => undefined;
    const external = async () => undefined;
    const context = {
      cwd,
      outFolder,
      builtin,
      builtinNames: [],
      external,
      fetched: () => Promise.reject(new Error()),
      clientMain,
      node: process.execPath,
    };
    const { clientArgv } = await resolveLock(spec, context);
    await using a = new LockClientProcess(clientArgv);
    await using b = new LockClientProcess(clientArgv);
    const hello = await a.init(single(server));
    expect(hello, a.stderr).toMatchObject({ type: 'ok' });
    await b.init(single(server));
    const key = freshKey();
    const outcomes = [await a.acquire(key), await b.acquire(key)];
    return [hello.value.lock, ...outcomes.map((outcome) => outcome.type)];
  }

  test('TypeScript without any package, with a module and a script file beside it', async () => {
    const files = {
      'my-lock.ts': `
        import { readFileSync } from 'node:fs';
        import { defineLock, type LockHold } from 'lock-torture';
        import { ReplyError } from 'ioredis';
        import { owner } from './owner';
        const release: string = readFileSync(new URL('./release.lua', import.meta.url), 'utf8');
        if (typeof ReplyError !== 'function') throw new Error('no ioredis');
        export default defineLock({
          name: 'mine',
          async connect(topology) {
            const redis = await topology.redis();
            return {
              async acquire(key, { leaseMs }): Promise<LockHold | null> {
                const mine = owner(topology.randomValue());
                if ((await redis.set(key, mine, 'PX', leaseMs, 'NX')) === null) return null;
                return { release: async () => (await redis.eval(release, 1, key, mine)) === 1 };
              },
            };
          },
        });`,
      'owner.ts': "export const owner = (value: string): string => 'owner-' + value;",
      'release.lua': "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0",
    };
    expect(await contend('typescript', files, './my-lock.ts')).toEqual(['mine', 'ok', 'fail']);
  });

  test('the one in docs/write-your-own-lock.md', async () => {
    const [, code] = /```ts\n(.*?)```/s.exec(
      readFileSync(resolve(projectFolder, 'docs/write-your-own-lock.md'), 'utf8'),
    )!;
    expect(code!.trim().split('\n').length).toBeLessThanOrEqual(27);
    expect(await contend('tutorial', { 'my-lock.ts': code! }, './my-lock.ts')).toEqual(['my-lock', 'ok', 'fail']);
  });

  test('CommonJS with a package of its own', async () => {
    const files = {
      'package.json': '{ "name": "app", "type": "commonjs" }',
      'node_modules/short-lease/package.json': '{ "name": "short-lease", "main": "index.js" }',
      'node_modules/short-lease/index.js':
        "exports.where = __dirname; exports.set = (r, k, v, ms) => r.set(k, v, 'PX', ms, 'NX');",
      'lib/lock.js': `
        const path = require('node:path');
        const { set, where } = require('short-lease');
        const { refused } = require('lock-torture');
        if (where !== path.resolve(__dirname, '../node_modules/short-lease')) throw new Error('moved: ' + where);
        module.exports = {
          name: 'common',
          async connect(topology) {
            const redis = await topology.redis();
            return {
              async acquire(key, { leaseMs }) {
                if (!(await set(redis, key, 'me', leaseMs))) throw refused('somebody has it');
                return { release: () => redis.del(key).then((n) => n === 1) };
              },
            };
          },
        };`,
    };
    expect(await contend('commonjs', files, 'lib/lock.js')).toEqual(['common', 'ok', 'fail']);
  });
});

describe('the conversation in docs/protocol.md', () => {
  const text = readFileSync(resolve(projectFolder, 'docs/protocol.md'), 'utf8');
  // Further ones are of features that not every client has.
  const whole = text.slice(text.indexOf('## A whole conversation'), text.indexOf('## Lifetime'));
  const lines = [...whole.matchAll(/^([→←]) (\{.*\})$/gm)].map(([, way, json]) => ({
    way,
    message: JSON.parse(json!),
  }));
  const requests = lines.filter(({ way }) => way === '→').map(({ message }) => message);
  const answers = lines.filter(({ way }) => way === '←').map(({ message }) => message);
  /** What a client may leave out or choose for itself. */
  const shape = ({ id, type, value, reason }: Record<string, unknown>) => ({
    id,
    type,
    reason,
    fields: Object.keys((value as object | undefined) ?? {}).sort(),
  });

  const programs: Record<string, () => LockClientProcess> = {
    'set-nx-px': () =>
      new LockClientProcess(
        clientProgram([process.execPath, clientMain, `${projectFolder}/dist/lock-impl/set-nx-px.js`]),
      ),
  };

  async function isKeptBy(start: () => LockClientProcess): Promise<void> {
    expect(requests.map((request) => request.op)).toEqual(['init', 'acquire', 'extend', 'release', 'release', 'clock']);
    await using client = start();
    const heard: Record<string, unknown>[] = [];
    for (const { id: _id, ...body } of requests) {
      if (body.op === 'init') body.topology.node = server.endpoint;
      heard.push((await client.request(body)) as unknown as Record<string, unknown>);
    }
    expect(heard.map(shape)).toEqual(answers.map(shape));
  }

  test.each(Object.entries(programs))('is the one that %s has', (_name, start) => isKeptBy(start));

  test('is the one that python has', { tags: ['python'] }, () =>
    isKeptBy(() => new LockClientProcess(['python3', pythonClient])),
  );
});

test('the compiled files that the clients need are there', () => {
  const { status } = spawnSync(process.execPath, [clientMain], { input: '' });
  expect(status).toBe(2);
});

test('the client program is one file with everything that it imports', () => {
  const imports = readFileSync(clientMain, 'utf8').matchAll(/^import .*? from ["']([^"']+)["'];/gm);
  const names = [...imports].map(([, name]) => name!);
  expect(names).toContain('node:module');
  expect(names.filter((name) => !isBuiltin(name))).toEqual([]);
});

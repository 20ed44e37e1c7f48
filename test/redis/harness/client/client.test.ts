/**
 * The lock client process against real Redis servers: the handshake, the stamps, and above all what it says when a
 * connection, a server or the process itself is struck.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint, TopologyDescription } from '../../../../harness/vocabulary/topology.js';
import { SHORT_LEASE_MS } from '../../../support/file-servers.js';
import { connectedClient, nowNs, projectFolder, startClient } from '../../../support/lock-client.js';
import { freePort, startCluster, startRedis, type TestRedis, until } from '../../../support/redis-server.js';
import { startProxy } from '../../../support/tcp-proxy.js';

const fixture = (name: string) => resolve(projectFolder, 'test/fixtures/locks', name);
const single = (node: Endpoint): TopologyDescription => ({ kind: 'single', node });
const nowhere = single({ name: 'r1', host: '127.0.0.1', port: 1 });

describe('handshake', () => {
  test('names the lock, its features and topologies', async () => {
    await using server = await startRedis();
    await using client = startClient('set-nx-px');
    const { type, value } = await client.init(single(server.endpoint));
    expect({ type, value }).toEqual({
      type: 'ok',
      value: {
        lock: 'set-nx-px',
        features: ['extend', 'clock', 'resource', 'stop-at', 'callers', 'cancel'],
        topologies: ['single', 'replica', 'sentinel', 'cluster'],
      },
    });
  });

  test.each(['setnx', 'semaphore'])('of %s says that nothing ends its holds', async (lock) => {
    await using server = await startRedis();
    await using client = startClient(lock);
    expect((await client.init(single(server.endpoint))).value).toMatchObject({ lease: 'none' });
  });

  test('says when a place in its queue ends', async () => {
    await using server = await startRedis();
    await using client = startClient('fair');
    expect((await client.init(single(server.endpoint))).value).toMatchObject({ deadlines: { place: 'lease' } });
  });

  test.each([
    ['no-default.mjs', /^lock: .*no-default\.mjs: there is no default export, only lock; a lock module ends in/],
    ['no-connect.mjs', /no function `connect`/],
    ['bad-topologies.mjs', /`topologies` is not an array of strings/],
    ['throws-while-loading.mjs', /cannot be loaded: cannot even load \(\/.*\/throws-while-loading\.mjs:\d+:\d+\)$/],
    ['not-there.mjs', /cannot be loaded: Cannot find module/],
    ['connect-fails.mjs', /^lock: its connect\(\) threw no licence key \(\/.*\/connect-fails\.mjs:4:11\)$/],
  ])('fails with a clear reason: %s', async (file, reason) => {
    await using client = startClient(fixture(file));
    const answer = await client.init(nowhere);
    expect(answer.type).toBe('fail');
    expect(answer.reason).toMatch(reason);
  });

  test('fails on a topology on which the lock makes no sense', async () => {
    await using client = startClient('redlock');
    expect(await client.init(nowhere)).toMatchObject({
      type: 'fail',
      reason: 'lock: redlock makes no sense on single, only on redlock, redlock-sentinel',
    });
  });

  test('names the server that cannot be reached', async () => {
    await using client = startClient('set-nx-px');
    const port = await freePort();
    const answer = await client.init(single({ name: 'r1', host: '127.0.0.1', port }));
    expect(answer.type).toBe('fail');
    expect(answer.reason).toMatch(
      new RegExp(`^unreachable: Redis at r1 127\\.0\\.0\\.1:${port} was not ready .*ECONNREFUSED`),
    );
  });

  test('operations before init and a second init fail', async () => {
    await using client = startClient(fixture('misbehaving.mjs'));
    expect((await client.acquire('throws')).reason).toMatch(/^not-initialised/);
    expect((await client.init(nowhere)).type).toBe('ok');
    expect(await client.init(nowhere)).toMatchObject({ type: 'fail', reason: 'init came twice' });
  });
});

describe('what the lock does becomes what the client says', () => {
  test.each([
    ['throws', 'info', 'first line'],
    ['throws-undefined', 'info', 'undefined'],
    ['no-release', 'info', 'bug: acquire returned a hold without a function `release`'],
    ['no-object', 'info', 'bug: acquire returned string, not a hold or null'],
    ['bad-token', 'info', 'bug: acquire returned a hold whose token is not a number'],
    ['bigint-token', 'info', 'bug: acquire returned a hold whose token is not a number'],
  ])('acquire: %s', async (key, type, reason) => {
    await using client = await connectedClient(fixture('misbehaving.mjs'), nowhere);
    expect(await client.acquire(key)).toMatchObject({ type, reason });
  });

  test('release: false is not-owner, an error is info; extend: null is a failure', async () => {
    await using client = await connectedClient(fixture('misbehaving.mjs'), nowhere);
    const notMine = await client.acquire('not-mine');
    expect(await client.release(notMine.id)).toMatchObject({ type: 'fail', reason: 'not-owner' });
    expect(await client.release(notMine.id)).toMatchObject({ type: 'fail', reason: `unknown-hold: ${notMine.id}` });
    const throwing = await client.acquire('release-throws');
    expect(await client.extend(throwing.id, 1_000)).toMatchObject({
      type: 'fail',
      reason: expect.stringMatching(/^unsupported/),
    });
    expect(await client.release(throwing.id)).toMatchObject({ type: 'info', reason: 'lost the server' });
    const notExtended = await client.acquire('extend-null');
    expect(await client.extend(notExtended.id, 1_000)).toMatchObject({ type: 'fail', reason: 'not-owner' });
    expect((await client.release(notExtended.id)).type).toBe('ok');
    expect(await client.extend(99, 1)).toMatchObject({ type: 'fail', reason: 'unknown-hold: 99' });
  });

  test('the signal aborts when the wait and two command time-outs are over', async () => {
    await using client = await connectedClient(fixture('misbehaving.mjs'), nowhere, { commandTimeoutMs: 50 });
    const answer = await client.acquire('until-aborted', 5_000, 100);
    expect(answer).toMatchObject({ type: 'fail', reason: 'held' });
    expect(answer.ended! - answer.began!).toBeGreaterThanOrEqual(195e6);
  });

  test('the signal aborts at once when nobody waits any more', async () => {
    await using client = await connectedClient(fixture('misbehaving.mjs'), nowhere, { commandTimeoutMs: 30_000 });
    const asked = client.acquire('until-aborted', 5_000, 60_000);
    const cancelled = await client.request({ op: 'cancel', acquire: client.nextId - 1 });
    expect(cancelled.type).toBe('ok');
    expect(await asked).toMatchObject({ type: 'fail', reason: 'held' });
    expect(await client.request({ op: 'cancel', acquire: 1 })).toMatchObject({
      type: 'fail',
      reason: expect.stringMatching(/^answered/),
    });
  });

  test('one that goes on when nobody waits any more has no answer, and what it grants then goes to nobody', async () => {
    await using server = await startRedis();
    await using proxy = await startProxy(server.endpoint);
    await using client = await connectedClient('set-nx-px', single(proxy.endpoint), { commandTimeoutMs: 60 });
    proxy.mode = 'cut';
    const asked = client.acquire('k', 5_000, 60_000);
    await client.request({ op: 'cancel', acquire: client.nextId - 1 });
    expect((await asked).type).toBe('info');
  });

  test('several callers at once: each is answered for itself, and knows its own commands only', async () => {
    await using server = await startRedis();
    await using client = await connectedClient('set-nx-px', single(server.endpoint));
    const first = client.request({ op: 'acquire', key: 'k', leaseMs: 5_000, waitMs: 0, caller: 'a' });
    const granted = await first;
    const waits = client.request({ op: 'acquire', key: 'k', leaseMs: 5_000, waitMs: 10_000, caller: 'b' });
    const other = await client.request({ op: 'acquire', key: 'other', leaseMs: 5_000, waitMs: 0, caller: 'c' });
    expect([granted.type, other.type]).toEqual(['ok', 'ok']);
    expect((await client.release(granted.id)).type).toBe('ok');
    const then = await waits;
    expect(then.type).toBe('ok');
    // The attempt that was granted left after the release, whatever others sent for the key meanwhile.
    expect(then.value.grantSent).toBeGreaterThan(other.ended!);
  });

  test('the same lock of two callers is nested by neither', async () => {
    await using server = await startRedis();
    await using client = await connectedClient('reentrant', single(server.endpoint));
    const ask = (caller: string) => client.request({ op: 'acquire', key: 'k', leaseMs: 5_000, waitMs: 0, caller });
    expect([(await ask('a')).type, (await ask('a')).type, (await ask('b')).type]).toEqual(['ok', 'ok', 'fail']);
  });

  test('the clock is the wall clock', async () => {
    await using client = await connectedClient(fixture('misbehaving.mjs'), nowhere);
    const { value } = await client.request({ op: 'clock' });
    expect(Math.abs(value.wallMs - Date.now())).toBeLessThan(5_000);
  });

  test('an unknown operation fails', async () => {
    await using client = await connectedClient(fixture('misbehaving.mjs'), nowhere);
    expect(await client.request({ op: 'conquer' } as never)).toMatchObject({
      type: 'fail',
      reason: expect.stringMatching(/^unsupported/),
    });
  });
});

describe('notices', () => {
  test('step inside the operation; renewed and lost only after the grant was answered', async () => {
    await using client = await connectedClient(fixture('notices.mjs'), nowhere);
    const grant = await client.acquire('k');
    expect(grant.value.token).toBe(34);
    const early = await client.notice('renewed');
    expect(early).toMatchObject({ hold: grant.id, leaseMs: 5_000 });
    expect(client.order).toEqual(['0', 'step', '1', 'renewed']);
    expect(client.notices[0]).toMatchObject({ type: 'step', name: 'before-grant', hold: grant.id });

    await client.extend(grant.id, 5_000);
    const lost = await client.notice('lost');
    expect(lost).toMatchObject({ hold: grant.id, reason: 'renewal refused' });
    expect(lost.at).toBeGreaterThan(grant.ended!);
  });

  test('whatever the lock prints goes to standard error', async () => {
    await using client = await connectedClient(fixture('noisy.mjs'), nowhere);
    expect(await client.acquire('k')).toMatchObject({ type: 'fail', reason: 'held' });
    expect(client.lines).toHaveLength(2);
    await until('everything is printed', () => client.stderr.includes('acquiring'));
    const elsewhere = ['written to standard output', 'written to descriptor 1'];
    for (const printed of ['printed while loading', "connecting { some: 'object' }", ...elsewhere]) {
      expect(client.stderr).toContain(printed);
    }
  });
});

describe('stamps', () => {
  test('lie between sending and reading, with the grant in between', async () => {
    await using server = await startRedis();
    await using client = await connectedClient('set-nx-px', single(server.endpoint));
    const grant = await client.acquire('k', 5_000);
    const inOrder = [grant.sent, grant.began!, grant.value.grantSent, grant.ended!, grant.read];
    expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
    const spentMs = (grant.ended! - grant.value.grantSent) / 1e6;
    expect(grant.value.validForMs).toBeLessThan(5_000 - 52);
    expect(grant.value.validForMs).toBeGreaterThan(5_000 - 53 - spentMs);
  });

  test('grantSent is that of the try that was granted, not of the first', async () => {
    await using server = await startRedis();
    await using client = await connectedClient('set-nx-px', single(server.endpoint));
    await server.redis.set('k', 'somebody');
    const waiting = client.acquire('k', 5_000, 60_000);
    await until('it has tried twice', async () => (await setsOf(server)) > 2);
    const freedNs = nowNs();
    await server.redis.del('k');
    const grant = await waiting;
    expect(grant.type).toBe('ok');
    expect(grant.began!).toBeLessThan(freedNs);
    expect(grant.value.grantSent).toBeGreaterThan(freedNs);
  });

  test('a holder that slept through its lease begins its release when it wakes', async () => {
    await using server = await startRedis();
    await using client = await connectedClient('set-nx-px', single(server.endpoint));
    const grant = await client.acquire('k', SHORT_LEASE_MS);
    client.process.kill('SIGSTOP');
    await until('the client is stopped', () => state(client.process.pid!) === 'T');
    const answer = client.release(grant.id);
    await until('the lease is over', async () => (await server.redis.exists('k')) === 0);
    const woken = nowNs();
    client.process.kill('SIGCONT');
    const release = await answer;
    expect(release).toMatchObject({ type: 'fail', reason: 'not-owner' });
    expect(release.began!).toBeGreaterThan(woken);
    expect(release.sent).toBeLessThan(woken);
  });
});

/** The same lock over each client that locks are given. */
const clients = [
  ['ioredis', 'set-nx-px'],
  ['node-redis 5', fixture('node-redis-5.mjs')],
  ['node-redis 6', fixture('node-redis-6.mjs')],
] as const;

describe.concurrent.each(clients)('a connection of %s is lost', (_client, lock) => {
  test('with the command unanswered: info, though the server did it', async () => {
    await using server = await startRedis();
    await using proxy = await startProxy(server.endpoint);
    await using client = await connectedClient(lock, single(proxy.endpoint), { commandTimeoutMs: 10_000 });
    proxy.mode = 'no-replies';
    const answer = client.acquire('k', 60_000);
    await until('the server has granted it', async () => (await server.redis.exists('k')) === 1);
    proxy.mode = 'pass';
    proxy.closeAll();
    expect(await answer).toMatchObject({ type: 'info', reason: 'reconnect' });
    // Nothing was sent again: on the new connection the client's own grant is in its way.
    const again = await until('connected again', async () => {
      const next = await client.acquire('k', 60_000);
      return next.reason !== 'unreachable' && next;
    });
    expect(again).toMatchObject({ type: 'fail', reason: 'held' });
    const sets = Buffer.concat(proxy.forwarded)
      .toString()
      .match(/\$3\r\nset\r\n/gi);
    expect(sets).toHaveLength(2);
  });

  test('so is a release', async () => {
    await using server = await startRedis();
    await using proxy = await startProxy(server.endpoint);
    await using client = await connectedClient(lock, single(proxy.endpoint), { commandTimeoutMs: 10_000 });
    const grant = await client.acquire('k', 60_000);
    proxy.mode = 'no-replies';
    const answer = client.release(grant.id);
    await until('the server has released it', async () => (await server.redis.exists('k')) === 0);
    proxy.closeAll();
    expect(await answer).toMatchObject({ type: 'info', reason: 'reconnect' });
  });

  test('with nothing under way: no operation is affected', async () => {
    await using server = await startRedis();
    await using proxy = await startProxy(server.endpoint);
    await using client = await connectedClient(lock, single(proxy.endpoint));
    const grant = await client.acquire('k', 60_000);
    proxy.closeAll();
    await until('connected again', () => proxy.opened > 1);
    const release = await until('ready again', async () => {
      const answer = await client.release(grant.id);
      return answer.reason !== 'unreachable' && answer;
    });
    expect(release.type).toBe('ok');
  });

  test('silently: info after the time-out, and the client leaves the dead socket', async () => {
    await using server = await startRedis();
    await using proxy = await startProxy(server.endpoint);
    await using client = await connectedClient(lock, single(proxy.endpoint), { commandTimeoutMs: 200 });
    proxy.mode = 'cut';
    expect(await client.acquire('k')).toMatchObject({ type: 'info' });
    // The time-outs of the command and of its socket end at the same moment: one more command may slip in between.
    const off = await until('off the dead socket', async () => {
      const answer = await client.acquire('k');
      expect(answer.type).not.toBe('ok');
      return answer.type === 'fail' && answer;
    });
    expect(off.reason).toBe('unreachable');
    proxy.mode = 'pass';
    const later = await until('connected again', async () => {
      const answer = await client.acquire('k');
      return answer.type === 'ok' && answer;
    });
    expect(later.value.validForMs).toBeGreaterThan(4_000);
  });
});

describe.concurrent.each(clients)('a server of %s is struck', (_client, lock) => {
  test('dead: certainly not held; back: the client finds it without help', async () => {
    await using server = await startRedis();
    await using client = await connectedClient(lock, single(server.endpoint));
    await server.kill();
    const refused = await until('the client has noticed', async () => {
      const answer = await client.acquire('k');
      expect(answer.type).not.toBe('ok');
      return answer.type === 'fail' && answer;
    });
    expect(refused.reason).toBe('unreachable');
    await server.restart();
    await until('granted again', async () => (await client.acquire('k')).type === 'ok');
  });

  test('demoted: READONLY is a certain answer, and the client looks for the primary anew', async () => {
    await using server = await startRedis();
    await using client = await connectedClient(lock, single(server.endpoint));
    const connections = async () => ((await server.redis.client('LIST')) as string).match(/\bid=\d+/g)!;
    const before = await connections();
    await server.redis.replicaof('127.0.0.1', '1');
    expect(await client.acquire('k')).toMatchObject({ type: 'fail', reason: 'readonly' });
    await until('it reconnected', async () => (await connections()).some((id) => !before.includes(id)));
    await server.redis.replicaof('NO', 'ONE');
    await until('granted again', async () => (await client.acquire('k')).type === 'ok');
  });

  test('its slots are served by nobody for a while: no mistake of the lock, which goes on when they are served again', async () => {
    await using server = await startRedis(
      'r1',
      '--cluster-enabled yes --cluster-announce-ip 127.0.0.1 --cluster-node-timeout 500'.split(' '),
    );
    const serve = (command: string) => server.redis.call('CLUSTER', command, 0, 16383);
    const isServed = async () => ((await server.redis.call('CLUSTER', 'SLOTS')) as unknown[]).length === 1;
    await serve('ADDSLOTSRANGE');
    await until('served', isServed);
    await using client = await connectedClient(lock, { kind: 'cluster', nodes: [server.endpoint] });
    await until('granted', async () => (await client.acquire('before')).type === 'ok');
    await serve('DELSLOTSRANGE');
    // As often as it takes a client to hear of it.
    const reasons = new Set<string | undefined>();
    for (let n = 0; n < 20; n++) {
      const answer = await client.acquire('meanwhile', 5_000, 20);
      expect(answer.type).not.toBe('ok');
      reasons.add(answer.reason);
    }
    // One command may be under way when a client leaves a node of which it hears that it serves nothing.
    expect([...reasons].filter((reason) => !/^(clusterdown|unreachable|reconnect)$/.test(reason ?? ''))).toEqual([]);
    await serve('ADDSLOTSRANGE');
    await until('granted again', async () => (await client.acquire('after')).type === 'ok');
  });

  test('Sentinel: the client follows a failover within a moment of the promotion', async () => {
    await using primary = await startRedis('r1');
    const { port } = primary.endpoint;
    await using replica = await startRedis('r2', [
      '--replicaof',
      '127.0.0.1',
      `${port}`,
      '--repl-diskless-sync-delay',
      '0',
    ]);
    await until('replicating', async () => (await replica.redis.info('replication')).includes('master_link_status:up'));
    await using sentinel = await startRedis(
      's1',
      [],
      `sentinel monitor m 127.0.0.1 ${port} 1\nsentinel down-after-milliseconds m 300\nsentinel failover-timeout m 3000`,
    );
    await sentinel.redis.call('SENTINEL', 'DEBUG', 'INFO-PERIOD', '100');
    await until('Sentinel knows the replica', async () => {
      const known = (await sentinel.redis.call('SENTINEL', 'REPLICAS', 'm')) as unknown[];
      return known.length === 1;
    });
    const topology: TopologyDescription = { kind: 'sentinel', masterName: 'm', sentinels: [sentinel.endpoint] };
    await using client = await connectedClient(lock, topology);
    expect((await client.acquire('before')).type).toBe('ok');
    await primary.kill();
    const promoted = until('promoted', async () => {
      const [, newPort] = (await sentinel.redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'm')) as string[];
      return newPort === `${replica.endpoint.port}` && Number(process.hrtime.bigint());
    });
    const followed = until('followed', async () => {
      const answer = await client.acquire('after');
      return answer.type === 'ok' && answer.ended!;
    });
    const delayMs = ((await followed) - (await promoted)) / 1e6;
    console.log(`followed the failover ${delayMs.toFixed(0)} ms after the promotion`);
    // About 100 ms on an idle machine.
    expect(delayMs).toBeLessThan(10_000);
    expect(await replica.redis.exists('after')).toBe(1);
  });
});

describe.each(clients)('a Cluster of %s', (_client, lock) => {
  const password = 'open sesame';
  let nodes: [TestRedis, TestRedis, TestRedis];
  beforeAll(async () => {
    nodes = (await startCluster(password)) as typeof nodes;
  });
  afterAll(() => Promise.all(nodes.map((node) => node[Symbol.asyncDispose]())));
  const described = (): TopologyDescription => ({
    kind: 'cluster',
    nodes: nodes.map((node) => node.endpoint),
    password,
  });
  /** Slots 3430 and 15621. */
  const [OF_FIRST, OF_SECOND] = ['lock:1', 'lock:2'] as const;

  test('locks live where their slots are', async () => {
    await using a = await connectedClient(lock, described());
    await using b = await connectedClient(lock, described());
    for (const key of [OF_FIRST, OF_SECOND]) {
      const grant = await a.acquire(key);
      expect(grant.type).toBe('ok');
      expect(grant.value.grantSent).toBeGreaterThanOrEqual(grant.began!);
      expect(await b.acquire(key)).toMatchObject({ type: 'fail', reason: 'held' });
      expect((await a.extend(grant.id, 60_000)).type).toBe('ok');
      expect((await a.release(grant.id)).type).toBe('ok');
    }
    const served = async (node: TestRedis) =>
      /cmdstat_set:calls=(\d+)/.exec(await node.redis.info('commandstats'))?.[1];
    expect([await served(nodes[0]), await served(nodes[1])]).toEqual(['2', '2']);
  });

  test('a slot that has moved is followed, by the command that discovers the move', async () => {
    await using client = await connectedClient(lock, described());
    expect((await client.acquire(OF_SECOND)).type).toBe('ok');
    await nodes[1].redis.del(OF_SECOND);
    const slot = Number(await nodes[1].redis.call('CLUSTER', 'KEYSLOT', OF_SECOND));
    const ids = await Promise.all(nodes.map(({ redis }) => redis.call('CLUSTER', 'MYID')));
    const giveTo = async (id: unknown) => {
      // Above what its last owner still says of the slot in messages that are on their way.
      await nodes[id === ids[0] ? 0 : 1].redis.call('CLUSTER', 'BUMPEPOCH');
      for (const { redis } of [nodes[0], nodes[1]]) await redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(id));
    };
    await giveTo(ids[0]);
    expect(await client.acquire(OF_SECOND, 60_000)).toMatchObject({ type: 'ok' });
    expect(await nodes[0].redis.exists(OF_SECOND)).toBe(1);
    await nodes[0].redis.del(OF_SECOND);
    await giveTo(ids[1]);
  });

  test('a connection that is lost with the command unanswered: info, and nothing is sent again', async () => {
    await using client = await connectedClient(lock, described(), { commandTimeoutMs: 10_000 });
    const [{ redis }] = nodes;
    await redis.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    const before = await blocked(redis);
    const answer = client.acquire(OF_FIRST);
    await until('the command waits', async () => (await blocked(redis)) > before);
    await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    expect(await answer).toMatchObject({ type: 'info', reason: 'reconnect' });
    await redis.call('CLIENT', 'UNPAUSE');
    const later = await until('the client is back', async () => {
      const grant = await client.acquire(OF_FIRST);
      return grant.reason !== 'unreachable' && grant;
    });
    // Killed before it was run: sent again, it would be in the way now.
    expect(later.type).toBe('ok');
    await client.release(later.id);
  });

  test('a primary dies: certain refusals until its replica has replaced it, and then it is found at once', async () => {
    await using client = await connectedClient(lock, described());
    await until(
      'the nodes agree',
      async () => new Set(await Promise.all(nodes.map(({ redis }) => ownersOf(redis)))).size === 1,
    );
    await nodes[0].kill();
    // Both of two primaries are needed for an election, so the replica is promoted by a command.
    await nodes[2].redis.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
    const promoted = until('promoted', async () => {
      const info = String(await nodes[2].redis.info('replication'));
      const ok = String(await nodes[2].redis.call('CLUSTER', 'INFO')).includes('cluster_state:ok');
      return info.includes('role:master') && ok && Number(process.hrtime.bigint());
    });
    const followed = until('followed', async () => {
      const answer = await client.acquire(OF_FIRST);
      if (answer.type !== 'ok')
        expect(answer).toMatchObject({
          type: 'fail',
          reason: expect.stringMatching(/^(unreachable|clusterdown)$/),
        });
      return answer.type === 'ok' && answer.ended!;
    });
    const delayMs = ((await followed) - (await promoted)) / 1e6;
    console.log(`followed the promotion within ${delayMs.toFixed(0)} ms`);
    expect(delayMs).toBeLessThan(10_000);
    expect(await nodes[2].redis.exists(OF_FIRST)).toBe(1);
  });

  /** Which port has which slots, as a node knows it. */
  const ownersOf = async (redis: TestRedis['redis']) => {
    const ranges = (await redis.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
    return JSON.stringify(ranges.map(([from, to, [, port]]) => [from, to, port]).sort());
  };
  const blocked = async (redis: TestRedis['redis']) =>
    Number(/blocked_clients:(\d+)/.exec(await redis.info('clients'))![1]);
});

describe('the end', () => {
  test('the process ends with its standard input, in the middle of a wait', async () => {
    await using server = await startRedis();
    await using client = await connectedClient('set-nx-px', single(server.endpoint));
    await server.redis.set('k', 'somebody');
    void client.acquire('k', 5_000, 60_000).catch(() => {});
    await until('it is waiting', async () => (await setsOf(server)) > 2);
    const exited = once(client.process, 'exit');
    client.process.stdin.end();
    expect((await exited)[0]).toBe(0);
  });

  test('a line that is no request ends it with an error on standard error', async () => {
    await using client = startClient('set-nx-px');
    const exited = once(client.process, 'exit');
    client.process.stdin.write('hello\n');
    expect((await exited)[0]).toBe(2);
    expect(client.stderr).toContain('not a request');
  });
});

/** How many SETs the server has carried out or refused. */
async function setsOf(server: TestRedis): Promise<number> {
  return Number(/cmdstat_set:calls=(\d+)/.exec(await server.redis.info('commandstats'))?.[1] ?? 0);
}

/** R, S, T, Z: the kernel's word. */
function state(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]![0]!;
}

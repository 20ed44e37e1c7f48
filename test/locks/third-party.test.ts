/**
 * Published libraries as they are, behind their adapters, against real Redis servers: what they do, and what they tell.
 *
 * Most of them take two seconds to give up, or wait for a lease to end, so they do it side by side: a test that stops or
 * kills servers has its own.
 */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { TopologyDescription } from '../../harness/vocabulary/topology.js';
import { publishedLocks } from '../../lock-impl/third-party/index.js';
import { installedVersion, libraries } from '../../lock-impl/third-party/library.js';
import {
  fileServer,
  fileServers,
  freshKey,
  goneFrom,
  ownServers,
  redlockOf,
  SHORT_LEASE_MS,
} from '../support/file-servers.js';
import { connectedClient, nowNs, startClient } from '../support/lock-client.js';
import { withClients } from '../support/lock-clients.js';
import { single } from '../support/locks-here.js';
import { skipWhere } from '../support/needs.js';
import { startRedis, type TestRedis, until } from '../support/redis-server.js';

const { nodeMajorMin } = libraries['redlock-universal'];
const haveUniversal =
  Number.parseInt(process.version.slice(1), 10) >= nodeMajorMin &&
  installedVersion(libraries['redlock-universal']) !== undefined;

const server = fileServer();
const nodes = fileServers(3);

/** On which keys a lock called `key` lies. */
const mutexKey = (lock: string, key: string) => (lock.includes('redis-semaphore') ? `mutex:${key}` : key);
const isOn = (redis: TestRedis, key: string) =>
  until(`${key} is there`, async () => (await redis.redis.exists(key)) === 1);

type Case = [lock: string, where: string, topology: () => TopologyDescription, servers: () => TestRedis[]];
const onOne = (lock: string): Case => [lock, 'one server', () => single(server), () => [server]];
const onThree = (lock: string): Case => [lock, 'three nodes', () => redlockOf(nodes), () => nodes];
const named = (lock: string) => `third-party/${lock}`;

const extended = ['redlock-4', 'redlock-5', 'sesamecare-redlock', ...(haveUniversal ? ['redlock-universal'] : [])];
const renewing = ['redlock-5-using', 'sesamecare-redlock-using'];
const locksOnOne = [...extended, ...renewing, 'redis-semaphore-mutex'].map(named).map(onOne);
const locksOnThree = [
  ...extended,
  ...renewing,
  'redlock-5-using-default-client',
  'redis-semaphore-redlock-mutex',
  'redis-semaphore-redlock-mutex-default-client',
]
  .map(named)
  .map(onThree);

describe.concurrent('what any lock does', () => {
  test.each([...locksOnOne, ...locksOnThree])(
    '%s on %s excludes, and can be acquired again after the release',
    async (lock, _where, topology, servers) => {
      await using a = await connectedClient(lock, topology());
      await using b = await connectedClient(lock, topology());
      const key = freshKey();
      const grant = await a.acquire(key, 30_000);
      expect(grant.type).toBe('ok');
      expect(grant.value.grantSent).toBeGreaterThanOrEqual(grant.began!);
      expect(grant.value.grantSent).toBeLessThanOrEqual(grant.ended!);
      // Some go on as soon as a majority has answered.
      for (const one of servers()) await isOn(one, mutexKey(lock, key));
      const refused = await b.acquire(key, 30_000);
      expect(refused.type).toBe('fail');
      expect(refused.reason).toMatch(/^(held|no-quorum)$/);
      expect((await a.release(grant.id)).type).toBe('ok');
      for (const one of servers()) await goneFrom(one, mutexKey(lock, key));
      expect((await b.acquire(key, 30_000)).type).toBe('ok');
    },
  );

  const withExtend = [...extended.map(named).map(onOne), ...extended.map(named).map(onThree)];

  test.each(withExtend)(
    '%s on %s expires; the late release fails and leaves the next holder alone',
    async (lock, _where, topology, servers) => {
      await using a = await connectedClient(lock, topology());
      await using b = await connectedClient(lock, topology());
      const key = freshKey();
      const late = await a.acquire(key, SHORT_LEASE_MS);
      for (const one of servers()) await goneFrom(one, key);
      expect((await b.acquire(key, 60_000)).type).toBe('ok');
      expect(await a.extend(late.id, 5_000)).toMatchObject({ type: 'fail', reason: 'not-owner' });
      expect(await a.release(late.id)).toMatchObject({ type: 'fail', reason: 'not-owner' });
      for (const one of servers()) expect(await one.redis.pttl(key)).toBeGreaterThan(30_000);
    },
  );

  test.each(withExtend)('%s on %s extends', async (lock, _where, topology, servers) => {
    await using client = await connectedClient(lock, topology());
    const key = freshKey();
    const grant = await client.acquire(key, 5_000);
    expect((await client.extend(grant.id, 60_000)).type).toBe('ok');
    for (const one of servers()) await until('it has the new lease', async () => (await one.redis.pttl(key)) > 50_000);
    expect((await client.release(grant.id)).type).toBe('ok');
  });
});

describe.concurrent('validity, where the library reports it', () => {
  test.each(['redlock-4', 'redlock-5', 'sesamecare-redlock'].map(named))(
    '%s: the lease less its drift',
    async (lock) => {
      await using client = await connectedClient(lock, redlockOf(nodes));
      const { value } = await client.acquire(freshKey(), 60_000);
      expect(value.validForMs).toBeGreaterThan(50_000);
      expect(value.validForMs).toBeLessThanOrEqual(60_000 - 602);
    },
  );

  /** A majority answers when the lease is over. */
  async function slowMajority(lock: string) {
    await using own = await ownServers(3);
    const [first, ...others] = own.nodes as [TestRedis, TestRedis, TestRedis];
    await using client = await connectedClient(lock, redlockOf(own.nodes), { commandTimeoutMs: 30_000 });
    for (const node of others) await node.redis.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    const voting = client.acquire('k', SHORT_LEASE_MS, 20_000);
    await isOn(first, mutexKey(lock, 'k'));
    await goneFrom(first, mutexKey(lock, 'k'));
    for (const node of others) await node.redis.call('CLIENT', 'UNPAUSE');
    const answer = await voting;
    expect(answer.type).toBe('ok');
    return { validForMs: answer.value.validForMs, afterMs: (answer.ended! - answer.value.grantSent) / 1e6 };
  }

  test.each(['redlock-5', 'sesamecare-redlock'].map(named))('%s grants what is over already', async (lock) => {
    const { validForMs, afterMs } = await slowMajority(lock);
    expect(afterMs).toBeGreaterThan(SHORT_LEASE_MS);
    expect(validForMs).toBeLessThan(0);
  });

  test('redis-semaphore grants what has already expired, and reports no validity', async () => {
    const { validForMs, afterMs } = await slowMajority('third-party/redis-semaphore-redlock-mutex');
    expect(afterMs).toBeGreaterThan(SHORT_LEASE_MS);
    expect(validForMs).toBeUndefined();
  });

  test.each(['redlock-4', ...(haveUniversal ? ['redlock-universal'] : [])].map(named))(
    '%s looks, and tries again',
    async (lock) => {
      const { validForMs, afterMs } = await slowMajority(lock);
      expect(afterMs).toBeLessThan(SHORT_LEASE_MS);
      if (lock.endsWith('redlock-4')) expect(validForMs).toBeGreaterThan(0);
    },
  );
});

// The libraries renew late in a lease, so it is a long one.
describe.concurrent('renewal', () => {
  test.each([
    ...[...renewing, 'redis-semaphore-mutex'].map(named).map(onOne),
    ...[
      ...renewing,
      'redis-semaphore-redlock-mutex',
      'redlock-5-using-default-client',
      'redis-semaphore-redlock-mutex-default-client',
    ]
      .map(named)
      .map(onThree),
  ])(
    '%s on %s renews before the lease is over, tells each, and stops with the release',
    async (lock, _where, topology, servers) => {
      await using client = await connectedClient(lock, topology());
      const key = freshKey();
      const leaseMs = 6_000;
      const grant = await client.acquire(key, leaseMs);
      const renewals = () => client.notices.filter(({ type }) => type === 'renewed');
      await until('it was renewed twice', () => renewals().length >= 2);
      for (const [nth, { at }] of renewals().entries()) {
        expect((at - grant.value.grantSent) / 1e6).toBeLessThan((nth + 1) * leaseMs);
      }
      for (const one of servers()) expect(await one.redis.exists(mutexKey(lock, key))).toBe(1);
      expect((await client.release(grant.id)).type).toBe('ok');
      expect(client.notices.filter(({ type }) => type === 'lost')).toEqual([]);
      for (const one of servers()) await goneFrom(one, mutexKey(lock, key));
    },
  );

  test.each([
    ['redis-semaphore-mutex', /^Lost mutex for key mutex:/],
    ['redlock-5-using', /unable to achieve a quorum/],
    ['sesamecare-redlock-using', /unable to achieve a quorum/],
  ] as const)('%s says that it was lost, when somebody else has the key', async (name, reason) => {
    await using client = await connectedClient(named(name), single(server));
    const key = freshKey();
    await client.acquire(key, SHORT_LEASE_MS);
    await server.redis.set(mutexKey(name, key), 'somebody');
    expect((await client.notice('lost')).reason).toMatch(reason);
    expect(await server.redis.get(mutexKey(name, key))).toBe('somebody');
  });
});

test.concurrent('redlock-4 gives the lock back when an extension fails, and the loss is reported', async () => {
  await using client = await connectedClient('third-party/redlock-4', redlockOf(nodes));
  const key = freshKey();
  const grant = await client.acquire(key, 30_000);
  for (const node of nodes.slice(1)) await node.redis.set(key, 'somebody');
  expect(await client.extend(grant.id, 30_000)).toMatchObject({ type: 'fail', reason: 'not-owner' });
  expect(await nodes[0]!.redis.exists(key)).toBe(0);
  expect((await client.notice('lost')).reason).toMatch(/^Exceeded 10 attempts to lock the resource/);
});

describe.concurrent('redis-semaphore', () => {
  test('a late release does not report that it is late, and leaves the next holder alone', async () => {
    await using client = await connectedClient('third-party/redis-semaphore-mutex', single(server));
    const key = freshKey();
    const grant = await client.acquire(key);
    await server.redis.set(`mutex:${key}`, 'somebody');
    expect((await client.release(grant.id)).type).toBe('ok');
    expect(await server.redis.get(`mutex:${key}`)).toBe('somebody');
  });

  test('waits for the given wait', () =>
    withClients(
      () => connectedClient('third-party/redis-semaphore-mutex', single(server)),
      async ({ a, b, key }) => {
        const grant = await a.acquire(key);
        const refused = await b.acquire(key, 5_000, 200);
        expect(refused).toMatchObject({ type: 'fail', reason: 'held' });
        expect(refused.ended! - refused.began!).toBeGreaterThanOrEqual(199e6);
        const waiting = b.acquire(key, 5_000, 10_000);
        await a.release(grant.id);
        expect((await waiting).type).toBe('ok');
      },
    ));

  test('a refresh that fails ends the process', async () => {
    await using own = await startRedis();
    await using client = await connectedClient('third-party/redis-semaphore-mutex', single(own));
    const exited = once(client.process, 'exit');
    expect((await client.acquire('k', SHORT_LEASE_MS)).type).toBe('ok');
    await own.kill();
    expect((await exited)[0]).toBe(1);
    expect(client.stderr).toMatch(/ECONNREFUSED|closed|writeable/i);
  });

  test('two permits of its semaphore', async () => {
    const lock = 'third-party/redis-semaphore-semaphore';
    await using a = await connectedClient(lock, single(server));
    await using b = await connectedClient(lock, single(server));
    const key = freshKey();
    const grant = await a.acquire(key);
    expect((await a.acquire(key)).type).toBe('ok');
    expect(await b.acquire(key)).toMatchObject({ type: 'fail', reason: 'held' });
    expect((await a.release(grant.id)).type).toBe('ok');
    expect((await b.acquire(key)).type).toBe('ok');
  });

  test('one node that hangs keeps the refresh of its RedlockMutex waiting: two clients hold, and the first is not told', async () => {
    await using own = await ownServers(3);
    const [first, second, third] = own.nodes as [TestRedis, TestRedis, TestRedis];
    const topology = redlockOf(own.nodes);
    // The first has the clients that `new Redis(host)` gives; the second gives up on a node that does not answer.
    await using a = await connectedClient('third-party/redis-semaphore-redlock-mutex-default-client', topology);
    await using b = await connectedClient('third-party/redis-semaphore-redlock-mutex', topology, {
      commandTimeoutMs: 3_000,
    });
    expect((await a.acquire('k', 6_000)).type).toBe('ok');
    third.process.kill('SIGSTOP');
    await goneFrom(first, 'mutex:k');
    await goneFrom(second, 'mutex:k');
    expect((await b.acquire('k', 60_000)).type).toBe('ok');
    // Its refresh waits for the third node's answer.
    expect(a.notices).toEqual([]);
    third.process.kill('SIGCONT');
    expect((await a.notice('lost')).reason).toBe('Lost redlock-mutex for key mutex:k');
  });
});

describe.concurrent('a lost majority', () => {
  test.each(
    [
      'redlock-4',
      'redlock-5',
      'sesamecare-redlock',
      'redis-semaphore-redlock-mutex',
      ...(haveUniversal ? ['redlock-universal'] : []),
    ].map(named),
  )('%s does not grant', async (lock) => {
    await using own = await ownServers(3);
    await using client = await connectedClient(lock, redlockOf(own.nodes));
    for (const node of own.nodes.slice(1)) await node.kill();
    // The first tries may have met the dying connections.
    const refused = await until('both are known to be gone', async () => {
      const answer = await client.acquire('k', 500);
      expect(answer.type).not.toBe('ok');
      return answer.type === 'fail' && answer;
    });
    expect(refused.reason).toMatch(/^(no-quorum|held)$/);
    // Long before its lease is over, what the node that is left granted is given back: some libraries do that after
    // they have answered.
    expect((await client.acquire('given-back', 60_000)).type).toBe('fail');
    await goneFrom(own.nodes[0]!, mutexKey(lock, 'given-back'));
  });

  test.each(['redlock-5-using', 'sesamecare-redlock-using'].map(named))(
    '%s tells its holder, when the lease is long over',
    async (lock) => {
      await using own = await ownServers(3);
      await using client = await connectedClient(lock, redlockOf(own.nodes));
      const leaseMs = SHORT_LEASE_MS;
      const { value } = await client.acquire('k', leaseMs);
      for (const node of own.nodes.slice(1)) await node.kill();
      const { at } = await client.notice('lost');
      expect((at - value.grantSent) / 1e6).toBeGreaterThan(leaseMs);
    },
  );

  test('redlock-5-using over clients with default settings does not tell while the nodes hang', async () => {
    await using own = await ownServers(3);
    await using client = await connectedClient('third-party/redlock-5-using-default-client', redlockOf(own.nodes));
    const leaseMs = SHORT_LEASE_MS;
    await client.acquire('k', leaseMs);
    for (const node of own.nodes.slice(1)) node.process.kill('SIGSTOP');
    await goneFrom(own.nodes[0]!, 'k');
    // For as long again as three leases.
    await own.nodes[0]!.redis.set('three leases', '', 'PX', 3 * leaseMs);
    await goneFrom(own.nodes[0]!, 'three leases');
    expect(client.notices.filter(({ type }) => type === 'lost')).toEqual([]);
    const continuedNs = nowNs();
    for (const node of own.nodes.slice(1)) node.process.kill('SIGCONT');
    expect((await client.notice('lost')).at).toBeGreaterThan(continuedNs);
  });

  test('redis-semaphore tells its holder', async () => {
    await using own = await ownServers(3);
    await using client = await connectedClient('third-party/redis-semaphore-redlock-mutex', redlockOf(own.nodes));
    await client.acquire('k', SHORT_LEASE_MS);
    for (const node of own.nodes.slice(1)) await node.kill();
    expect((await client.notice('lost')).reason).toBe('Lost redlock-mutex for key mutex:k');
  });
});

test.concurrent.each(Object.keys(publishedLocks).filter((name) => !name.endsWith('redlock-universal')))(
  '%s says which version it is',
  async (lock) => {
    await using client = startClient(lock);
    const topology = publishedLocks[lock]!.topologies.includes('single') ? single(server) : redlockOf(nodes);
    const { value } = await client.init(topology);
    const [version] = publishedLocks[lock]!.summary.split(':');
    expect(value).toMatchObject({ lock, features: expect.arrayContaining([version]) });
  },
);

const whenTooOld = skipWhere(haveUniversal ? 'this Node is new enough' : undefined);
test('redlock-universal is refused by name where this Node is too old for it', whenTooOld, async () => {
  await using client = startClient('third-party/redlock-universal');
  expect(await client.init(single(server))).toMatchObject({
    type: 'fail',
    reason: expect.stringMatching(
      /^lock: redlock-universal(@\S+)?: it needs Node.js 22 or newer, and this is v\d+\.\d+\.\d+$/,
    ),
  });
});

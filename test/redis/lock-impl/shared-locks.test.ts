/** Locks over several keys, nodes and permits, against real Redis servers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CommandLog } from '../../../harness/client/command-log.js';
import { topologyAccess } from '../../../harness/client/topology-access.js';
import type { AcquireOptions, TopologyAccess } from '../../../harness/vocabulary/lock.js';
import type { TopologyDescription } from '../../../harness/vocabulary/topology.js';
import { CountDownLatch } from '../../../lock-impl/count-down-latch.js';
import { MultiLock } from '../../../lock-impl/multi.js';
import { ExpirablePermits } from '../../../lock-impl/permit-expirable.js';
import { Semaphore } from '../../../lock-impl/semaphore.js';
import {
  fileServer,
  fileServers,
  freshKey,
  ownServers,
  redlockOf,
  SHORT_LEASE_MS,
} from '../../support/file-servers.js';
import { connectedClient } from '../../support/lock-client.js';
import { withClients } from '../../support/lock-clients.js';
import { single } from '../../support/locks-here.js';
import { startCluster, startRedis, type TestRedis, until } from '../../support/redis-server.js';

const server = fileServer();
const nodes = fileServers(5);
let access: TopologyAccess;
beforeAll(() => {
  access = accessTo(single(server));
});
afterAll(async () => (await access.redis()).disconnect());

/** What a lock gets, for locks that are used in this process. */
function accessTo(topology: TopologyDescription, commandTimeoutMs = 10_000): TopologyAccess {
  const options = { client: 'test', leaseMs: 5_000, commandTimeoutMs, seed: 1 };
  return topologyAccess(topology, options, new CommandLog(), { step: async () => {}, renewed: () => {} });
}

function asks(leaseMs = 5_000, waitMs = 0): AcquireOptions {
  return { leaseMs, waitMs, signal: new AbortController().signal };
}

/** How many of `keys` are there. */
async function taken(redis: TestRedis, ...keys: string[]): Promise<number> {
  return redis.redis.exists(...keys);
}

async function takenOn(some: readonly TestRedis[], key: string): Promise<number[]> {
  return Promise.all(some.map((node) => taken(node, key)));
}

function partsOf(key: string): [string, string, string] {
  return [key, `${key}:b`, `${key}:c`];
}

/** `wait-replicated` waits for half of this for an acknowledgement. */
const patient = { commandTimeoutMs: 6_000 };

/** What every lock with a lease here does on one server. */
describe.concurrent.each(['multi', 'fenced', 'wait-replicated'])('%s', (lock) => {
  test('excludes, says for how long, and can be acquired again after the release', () =>
    withClients(
      () => connectedClient(lock, single(server)),
      async ({ a, b, key }) => {
        const grant = await a.acquire(key);
        expect(grant.type).toBe('ok');
        expect(grant.value.grantSent).toBeGreaterThanOrEqual(grant.began!);
        expect(grant.value.grantSent).toBeLessThanOrEqual(grant.ended!);
        expect(grant.value.validForMs).toBeGreaterThan(1_000);
        expect(grant.value.validForMs).toBeLessThan(4_948);
        expect(await b.acquire(key)).toMatchObject({ type: 'fail', reason: 'held' });
        expect((await a.release(grant.id)).type).toBe('ok');
        expect((await b.acquire(key)).type).toBe('ok');
      },
    ));

  test('expires; the late release fails and leaves the next holder alone', () =>
    withClients(
      () => connectedClient(lock, single(server)),
      async ({ a, b, key }) => {
        const late = await a.acquire(key, SHORT_LEASE_MS);
        await until('the lease is over', async () => (await taken(server, ...partsOf(key))) === 0);
        expect((await b.acquire(key, 60_000)).type).toBe('ok');
        expect(await a.extend(late.id, 5_000)).toMatchObject({ type: 'fail', reason: 'not-owner' });
        expect(await a.release(late.id)).toMatchObject({ type: 'fail', reason: 'not-owner' });
        expect(await server.redis.pttl(key)).toBeGreaterThan(30_000);
      },
    ));

  test('extends', async () => {
    await using a = await connectedClient(lock, single(server));
    const key = freshKey();
    const grant = await a.acquire(key, 10_000);
    const extended = await a.extend(grant.id, 60_000);
    expect(extended.type).toBe('ok');
    expect(extended.value.validForMs).toBeGreaterThan(50_000);
    expect(await server.redis.pttl(key)).toBeGreaterThan(50_000);
  });
});

describe.concurrent('multi', () => {
  test('has all parts, with one owner, or none', async () => {
    await using client = await connectedClient('multi', single(server));
    const key = freshKey();
    const grant = await client.acquire(key);
    const owners = await server.redis.mget(...partsOf(key));
    expect(owners[0]).toMatch(/^[0-9a-f]{40}$/);
    expect(new Set(owners).size).toBe(1);
    await client.release(grant.id);
    expect(await taken(server, ...partsOf(key))).toBe(0);
    for (const part of partsOf(key)) {
      await server.redis.set(part, 'somebody');
      expect(await client.acquire(key)).toMatchObject({ type: 'fail', reason: 'held' });
      expect(await taken(server, ...partsOf(key))).toBe(1);
      await server.redis.del(part);
    }
  });

  test('it is no longer held once a part is lost; the other parts are still given back', async () => {
    await using client = await connectedClient('multi', single(server));
    const key = freshKey();
    const [first] = partsOf(key);
    const grant = await client.acquire(key);
    await server.redis.set(first, 'somebody');
    expect(await client.extend(grant.id, 5_000)).toMatchObject({ type: 'fail', reason: 'not-owner' });
    expect(await client.release(grant.id)).toMatchObject({ type: 'fail', reason: 'not-owner' });
    expect(await taken(server, ...partsOf(key))).toBe(1);
    expect(await server.redis.get(first)).toBe('somebody');
  });

  test('opposite orders do not deadlock, and exclude', async () => {
    const redis = await access.redis();
    const [a, b] = [freshKey(), freshKey()].map((key) => ({ redis, key })) as [
      { redis: typeof redis; key: string },
      { redis: typeof redis; key: string },
    ];
    let inside = 0;
    const work = async (parts: (typeof a)[]) => {
      const lock = new MultiLock(access, parts);
      for (let i = 0; i < 15; i++) {
        const hold = await lock.acquire(asks(5_000, 15_000));
        inside += 1;
        expect(inside).toBe(1);
        await redis.ping();
        inside -= 1;
        expect(await hold.release()).toBe(true);
      }
    };
    await Promise.all([work([a, b]), work([b, a])]);
  });

  test('a client that dies between two parts holds them for a lease at most', async () => {
    await using dying = await connectedClient('multi', single(server));
    await using other = await connectedClient('multi', single(server));
    const key = freshKey();
    void dying.acquire(key, 6_000).catch(() => {});
    await dying.notice('step');
    await dying[Symbol.asyncDispose]();
    expect(await taken(server, key)).toBe(1);
    expect((await other.acquire(key, 5_000, 30_000)).type).toBe('ok');
  });

  test('a part that does not answer is a doubt; the others are given back', async () => {
    await using dead = await startRedis();
    const deadAccess = accessTo(single(dead), 200);
    const key = freshKey();
    const parts = [
      { redis: await access.redis(), key },
      { redis: await deadAccess.redis(), key },
    ];
    dead.process.kill('SIGSTOP');
    await expect(new MultiLock(access, parts).acquire(asks())).rejects.toThrow(/^Command timed out$/);
    expect(await taken(server, key)).toBe(0);
    dead.process.kill('SIGCONT');
    parts[1]!.redis.disconnect();
  });
});

describe.concurrent('redlock-multi', () => {
  test('excludes, on all nodes; releases everywhere; extends', () =>
    withClients(
      () => connectedClient('redlock-multi', redlockOf(nodes)),
      async ({ a, b, key }) => {
        const grant = await a.acquire(key);
        expect(grant.type).toBe('ok');
        // It has no idea for how long.
        expect(grant.value.validForMs).toBeUndefined();
        expect(await takenOn(nodes, key)).toEqual([1, 1, 1, 1, 1]);
        expect(await b.acquire(key)).toMatchObject({ type: 'fail', reason: 'held' });
        expect((await a.extend(grant.id, 60_000)).type).toBe('ok');
        expect(await nodes[4]!.redis.pttl(key)).toBeGreaterThan(50_000);
        expect((await a.release(grant.id)).type).toBe('ok');
        expect(await takenOn(nodes, key)).toEqual([0, 0, 0, 0, 0]);
        expect((await b.acquire(key)).type).toBe('ok');
      },
    ));

  test('a split vote grants no client and leaves nothing behind', async () => {
    await using client = await connectedClient('redlock-multi', redlockOf(nodes));
    const key = freshKey();
    for (const node of nodes.slice(2)) await node.redis.set(key, 'somebody');
    expect(await client.acquire(key)).toMatchObject({ type: 'fail', reason: 'no-quorum' });
    expect(await takenOn(nodes, key)).toEqual([0, 0, 1, 1, 1]);
  });

  /** Three servers, the third of which answers nothing that writes until `goOn`. */
  async function slowThirdNode() {
    const own = await ownServers(3);
    const { redis } = own.nodes[2]!;
    await redis.call('CLIENT', 'PAUSE', '600000', 'WRITE');
    return { ...own, goOn: () => redis.call('CLIENT', 'UNPAUSE') };
  }

  test('grants when the lease is over, while another client holds: both are told that they hold it', async () => {
    await using slow = await slowThirdNode();
    const { nodes } = slow;
    await using a = await connectedClient('redlock-multi', redlockOf(nodes), { commandTimeoutMs: 60_000 });
    await using b = await connectedClient('redlock-multi', redlockOf(nodes), { commandTimeoutMs: 60_000 });
    const haveFirstTwo = async (which: string) => (await takenOn(nodes.slice(0, 2), 'k')).join() === which;
    const first = a.acquire('k', SHORT_LEASE_MS);
    await until('it has the first two', () => haveFirstTwo('1,1'));
    await until('their lease is over', () => haveFirstTwo('0,0'));
    const second = b.acquire('k', 60_000);
    await until('the other has the first two', () => haveFirstTwo('1,1'));
    await slow.goOn();
    const { type, ended, value } = await first;
    expect([type, (await second).type]).toEqual(['ok', 'ok']);
    expect((ended! - value.grantSent) / 1e6).toBeGreaterThan(SHORT_LEASE_MS);
  });

  test('redlock, by contrast, leaves the slow node aside and grants while the lease runs', async () => {
    const leaseMs = 60_000;
    await using slow = await slowThirdNode();
    await using a = await connectedClient('redlock', redlockOf(slow.nodes), { commandTimeoutMs: 120_000 });
    // It waits for 200 ms for a node. A machine may be too busy for that, so that it tries again.
    const { type, ended, value } = await a.acquire('k', leaseMs, 50_000);
    expect(type).toBe('ok');
    expect((ended! - value.grantSent) / 1e6).toBeLessThan(leaseMs);
  });

  /** Two of three nodes are stopped while it tries, and continued when it has given up. */
  async function stoppedMajority(lock: string) {
    // Started for this: their statistics show what reached them.
    await using own = await ownServers(3);
    const [first, second, third] = own.nodes as [TestRedis, TestRedis, TestRedis];
    await using client = await connectedClient(lock, redlockOf(own.nodes), { commandTimeoutMs: 5_000 });
    for (const node of [second, third]) node.process.kill('SIGSTOP');
    const answer = await client.acquire('k', 10_000);
    for (const node of [second, third]) node.process.kill('SIGCONT');
    const seen = async ({ redis }: TestRedis, name: string) =>
      (await redis.info('commandstats')).includes(`cmdstat_${name}:`);
    await until('what was sent is carried out', () => seen(second, 'set'));
    await until('the first has its part back', () => seen(first, 'eval'));
    if (lock === 'redlock') await until('the second, too', () => seen(second, 'eval'));
    return { answer, left: await takenOn(own.nodes, 'k') };
  }

  test('gives back only what it got: a node whose answer did not come stays taken', async () => {
    const { answer, left } = await stoppedMajority('redlock-multi');
    expect(answer.type).not.toBe('ok');
    expect(left.slice(0, 2)).toEqual([0, 1]);
  });

  test('redlock, by contrast, gives back on all nodes', async () => {
    const { answer, left } = await stoppedMajority('redlock');
    expect(answer).toMatchObject({ type: 'fail', reason: 'unreachable' });
    expect(left.slice(0, 2)).toEqual([0, 0]);
  });
});

describe.concurrent('fenced', () => {
  test('tokens rise with every grant, whichever client gets it and however the last one ended', () =>
    withClients(
      () => connectedClient('fenced', single(server)),
      async ({ a, b, key }) => {
        const first = await a.acquire(key);
        expect((await b.acquire(key)).type).toBe('fail');
        await a.release(first.id);
        const second = await b.acquire(key, SHORT_LEASE_MS);
        await until('it is over', async () => (await taken(server, key)) === 0);
        const third = await a.acquire(key);
        expect([first, second, third].map(({ value }) => value.token)).toEqual([1, 2, 3]);
        expect(await server.redis.pttl(`{${key}}:fence`)).toBe(-1);
      },
    ));

  test('a counter that was lost issues tokens twice', async () => {
    await using client = await connectedClient('fenced', single(server));
    const key = freshKey();
    const first = await client.acquire(key);
    await server.redis.del(key, `{${key}}:fence`);
    const second = await client.acquire(key);
    expect(second.value.token).toBe(first.value.token);
  });

  test('a counter that is not a number grants nothing', async () => {
    await using client = await connectedClient('fenced', single(server));
    const key = freshKey();
    await server.redis.set(`{${key}}:fence`, 'no number');
    expect(await client.acquire(key)).toMatchObject({ type: 'fail', reason: 'err' });
    expect(await taken(server, key)).toBe(0);
  });
});

describe('wait-replicated', () => {
  let primary: TestRedis;
  let replica: TestRedis;
  beforeAll(async () => {
    primary = await startRedis('r1', ['--repl-diskless-sync-delay', '0']);
    replica = await startRedis('r2');
    await replica.redis.replicaof('127.0.0.1', primary.endpoint.port);
    await until('the replica follows', async () => (await replica.redis.info()).includes('master_link_status:up'));
    await until('and acknowledges', async () => (await primary.redis.wait(1, 20)) === 1);
  });
  afterAll(async () => {
    await Promise.all([primary, replica].map((one) => one[Symbol.asyncDispose]()));
  });
  const behindAddress = (): TopologyDescription => ({ kind: 'replica', node: primary.endpoint });
  async function whileStopped<T>(work: () => Promise<T>): Promise<T> {
    replica.process.kill('SIGSTOP');
    try {
      return await work();
    } finally {
      replica.process.kill('SIGCONT');
    }
  }

  test('a replica has it when it is granted', async () => {
    await using client = await connectedClient('wait-replicated', behindAddress(), patient);
    const key = freshKey();
    const grant = await client.acquire(key, 60_000);
    expect(await taken(replica, key)).toBe(1);
    expect(grant.type).toBe('ok');
    expect(client.order).toContain('step');
    expect((await client.extend(grant.id, 60_000)).type).toBe('ok');
    expect(await replica.redis.pttl(key)).toBeGreaterThan(50_000);
  });

  test('is rolled back when no replica acknowledges', async () => {
    await using client = await connectedClient('wait-replicated', behindAddress(), patient);
    const key = freshKey();
    const answer = await whileStopped(() => client.acquire(key));
    expect(answer).toMatchObject({ type: 'fail', reason: 'not-replicated' });
    expect(await taken(primary, key)).toBe(0);
  });

  test('an extension that no replica acknowledges fails', async () => {
    await using client = await connectedClient('wait-replicated', behindAddress(), patient);
    const grant = await client.acquire(freshKey(), 60_000);
    const answer = await whileStopped(() => client.extend(grant.id, 60_000));
    expect(answer).toMatchObject({ type: 'fail', reason: 'not-replicated' });
    expect((await client.release(grant.id)).type).toBe('ok');
  });

  test('with no replica connected the check is off', async () => {
    await using client = await connectedClient('wait-replicated', behindAddress(), patient);
    await replica.redis.replicaof('NO', 'ONE');
    try {
      await until('it is gone', async () => (await primary.redis.info('replication')).includes('connected_slaves:0'));
      const grant = await client.acquire(freshKey());
      expect(grant.type).toBe('ok');
      expect((await client.extend(grant.id, 60_000)).type).toBe('ok');
    } finally {
      await replica.redis.replicaof('127.0.0.1', primary.endpoint.port);
    }
  });
});

describe.concurrent('semaphore', () => {
  test('two hold, and a third when one has returned its permit', async () => {
    const [a, b, c] = await Promise.all([1, 2, 3].map(() => connectedClient('semaphore', single(server))));
    await using _a = a!;
    await using _b = b!;
    await using _c = c!;
    const key = freshKey();
    const grant = await a!.acquire(key);
    expect((await b!.acquire(key)).type).toBe('ok');
    expect(await c!.acquire(key)).toMatchObject({ type: 'fail', reason: 'held' });
    expect((await a!.release(grant.id)).type).toBe('ok');
    expect((await c!.acquire(key)).type).toBe('ok');
    expect((await a!.acquire(key)).type).toBe('fail');
  });

  test('a crash leaks a permit for ever', async () => {
    await using dying = await connectedClient('semaphore', single(server));
    await using other = await connectedClient('semaphore', single(server));
    const key = freshKey();
    expect((await dying.acquire(key, 50)).type).toBe('ok');
    await dying[Symbol.asyncDispose]();
    expect((await other.acquire(key)).type).toBe('ok');
    expect(await other.acquire(key, 50, 200)).toMatchObject({ type: 'fail', reason: 'held' });
    expect(await server.redis.pttl(key)).toBe(-1);
  });

  test('a permit that is returned twice makes one permit too many', async () => {
    const redis = await access.redis();
    const semaphore = new Semaphore(access, { redis, key: freshKey(), permits: 1 });
    const hold = await semaphore.acquire(asks());
    expect([await hold.release(), await hold.release()]).toEqual([true, true]);
    await semaphore.acquire(asks());
    await semaphore.acquire(asks());
    await expect(semaphore.acquire(asks())).rejects.toThrow('refused: held');
  });

  test('after the server forgot, the old holder has nothing to return', async () => {
    await using client = await connectedClient('semaphore', single(server));
    const key = freshKey();
    const grant = await client.acquire(key);
    await server.redis.del(key);
    expect(await client.release(grant.id)).toMatchObject({ type: 'fail', reason: 'not-owner' });
    expect(await taken(server, key)).toBe(0);
  });
});

describe.concurrent('permit-expirable', () => {
  test('two hold, and a third when one has returned its permit', () =>
    withClients(
      () => connectedClient('permit-expirable', single(server)),
      async ({ a, b, key }) => {
        const first = await a.acquire(key);
        const second = await a.acquire(key);
        expect([first.type, second.type]).toEqual(['ok', 'ok']);
        expect(await b.acquire(key)).toMatchObject({ type: 'fail', reason: 'held' });
        expect((await a.extend(first.id, 5_000)).type).toBe('ok');
        expect((await a.release(first.id)).type).toBe('ok');
        expect((await b.acquire(key)).type).toBe('ok');
        expect((await b.acquire(key)).type).toBe('fail');
      },
    ));

  test('the permit of a client that died returns after its lease', async () => {
    await using dying = await connectedClient('permit-expirable', single(server));
    await using other = await connectedClient('permit-expirable', single(server));
    const key = freshKey();
    const grants = [await dying.acquire(key, 8_000), await dying.acquire(key, 8_000)];
    expect(grants.map(({ type }) => type)).toEqual(['ok', 'ok']);
    await dying[Symbol.asyncDispose]();
    expect((await other.acquire(key)).type).toBe('fail');
    expect((await other.acquire(key, 5_000, 30_000)).type).toBe('ok');
  });

  test('a fast clock takes permits that are still held', async () => {
    const redis = await access.redis();
    let aheadMs = 0;
    const permits = new ExpirablePermits(access, {
      redis,
      key: freshKey(),
      permits: 1,
      wallMs: () => Date.now() + aheadMs,
    });
    const robbed = await permits.acquire(asks(60_000));
    await expect(permits.acquire(asks(60_000))).rejects.toThrow('refused: held');
    aheadMs = 30_000;
    await expect(permits.acquire(asks(60_000))).rejects.toThrow('refused: held');
    aheadMs = 61_000;
    const robber = await permits.acquire(asks(60_000));
    // The first one has not been told, and its lease still runs.
    expect(robbed.validForMs).toBeGreaterThan(40_000);
    expect(await robbed.extend!(60_000)).toBeNull();
    expect(await robbed.release()).toBe(false);
    expect(await robber.release()).toBe(true);
  });
});

describe.concurrent('count-down latch', () => {
  test('opens for all waiters when it was counted down to zero', async () => {
    const latch = new CountDownLatch(access, await access.redis(), freshKey());
    expect(await latch.opened(0)).toBe(true);
    expect(await latch.close(3)).toBe(true);
    expect(await latch.close(7)).toBe(false);
    const waiting = [latch.opened(60_000), latch.opened(60_000)];
    expect(await latch.countDown()).toBe(2);
    expect(await latch.countDown()).toBe(1);
    expect(await latch.opened(30)).toBe(false);
    expect(await latch.countDown()).toBe(0);
    expect(await Promise.all(waiting)).toEqual([true, true]);
    expect(await latch.countDown()).toBe(0);
    expect(await latch.close(1)).toBe(true);
    await expect(latch.close(0)).rejects.toThrow(RangeError);
  });

  test('a server that forgets opens it', async () => {
    const key = freshKey();
    const latch = new CountDownLatch(access, await access.redis(), key);
    await latch.close(1);
    await server.redis.del(key);
    expect(await latch.opened(0)).toBe(true);
  });
});

describe('on a Cluster', () => {
  let cluster: TestRedis[];
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(async () => {
    await Promise.all(cluster.map((one) => one[Symbol.asyncDispose]()));
  });
  const topology = (): TopologyDescription => ({ kind: 'cluster', nodes: cluster.map((node) => node.endpoint) });

  test.each(['multi', 'fenced', 'wait-replicated', 'permit-expirable'])(
    '%s: grants, extends, releases, wherever the key lies',
    async (lock) => {
      await using client = await connectedClient(lock, topology(), patient);
      for (const key of ['a', 'b', 'c', 'd', '{tag}:e']) {
        const grant = await client.acquire(key);
        expect(grant.type, key).toBe('ok');
        expect((await client.extend(grant.id, 5_000)).type).toBe('ok');
        expect((await client.release(grant.id)).type).toBe('ok');
      }
    },
  );

  test('wait-replicated asks the replicas of the node that granted', async () => {
    await using client = await connectedClient('wait-replicated', topology(), patient);
    const [first, second, replica] = cluster as [TestRedis, TestRedis, TestRedis];
    const served = async (node: TestRedis, key: string) => (await node.redis.exists(key).catch(() => 0)) === 1;
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    replica.process.kill('SIGSTOP');
    const answers = [];
    for (const key of keys) answers.push(await client.acquire(key));
    const onSecond = await Promise.all(keys.map((key) => served(second, key)));
    const onFirst = await Promise.all(keys.map((key) => served(first, key)));
    replica.process.kill('SIGCONT');
    // The second has no replica at all; the first has one, which does not answer.
    expect(new Set(onSecond)).toEqual(new Set([true, false]));
    expect(onFirst).toEqual(keys.map(() => false));
    for (const [n, answer] of answers.entries()) {
      if (onSecond[n]) expect(answer.type).toBe('ok');
      else expect(answer).toMatchObject({ type: 'fail', reason: 'not-replicated' });
    }
  });
});

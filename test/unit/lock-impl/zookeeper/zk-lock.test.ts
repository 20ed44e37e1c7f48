/** The locks by ephemeral sequential nodes, over a server that loses connections and sessions when a test says so. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import lock from '../../../../lock-impl/zookeeper/zk-lock.js';
import lostCreate from '../../../../lock-impl/zookeeper/zk-lost-create.js';
import noSessionCheck from '../../../../lock-impl/zookeeper/zk-no-session-check.js';
import { FakeZookeeper } from './fake-zookeeper.js';

const options = (waitMs = 0, leaseMs = 600) => ({ leaseMs, waitMs, signal: new AbortController().signal });
const GET_CHILDREN = 12;

it('who came first holds, the other waits for it to go, and tokens rise', async () => {
  await using fake = await FakeZookeeper.start();
  const [one, other] = await Promise.all(['c1', 'c2'].map((name) => lock.connect(fake.access(name))));
  const first = await one!.acquire('k', options());
  await expect(other!.acquire('k', options())).rejects.toThrow('refused: held');
  expect(fake.places('k')).toHaveLength(1);
  const waiting = other!.acquire('k', options(20_000));
  await vi.waitFor(() => expect(fake.isWatched('k')).toBe(true), { timeout: 10_000 });
  const looks = fake.asked.filter((type) => type === GET_CHILDREN).length;
  await sleep(300);
  // It is woken, and does not look again and again; a renewal of the one before it does not wake it.
  expect(fake.asked.filter((type) => type === GET_CHILDREN)).toHaveLength(looks);
  expect(await first!.release()).toBe(true);
  const second = await waiting;
  expect(second!.token).toBeGreaterThan(first!.token!);
  await second!.release();
  expect(fake.places('k')).toEqual([]);
});

it('finds a node whose making was not answered, and leaves nothing behind', async () => {
  await using fake = await FakeZookeeper.start();
  const client = await lock.connect(fake.access());
  await (await client.acquire('k', options()))!.release();
  fake.losesCreates = 1;
  const hold = await client.acquire('k', options());
  expect(fake.places('k')).toHaveLength(1);
  await hold!.release();
  expect(fake.places('k')).toEqual([]);
});

it('the canary makes another, and waits for its own for ever', async () => {
  await using fake = await FakeZookeeper.start();
  const client = await lostCreate.connect(fake.access());
  await (await client.acquire('k', options()))!.release();
  fake.losesCreates = 1;
  await expect(client.acquire('k', options(300))).rejects.toThrow('refused: held');
  await sleep(1_000);
  expect(fake.places('k')).toHaveLength(1);
  await expect(client.acquire('k', options(100))).rejects.toThrow('refused: held');
});

it('goes on with its session on another connection, and hears when that is over', async () => {
  await using fake = await FakeZookeeper.start();
  const client = await lock.connect(fake.access());
  const hold = await client.acquire('k', options(0, 3_000));
  fake.loseConnections();
  await sleep(300);
  expect(hold!.lost!.aborted).toBe(false);
  expect(fake.places('k')).toHaveLength(1);
  fake.endSessions();
  await sleep(300);
  expect(hold!.lost!.aborted).toBe(true);
  expect(await hold!.release()).toBe(false);
});

it('hears that its node was removed by the next renewal', async () => {
  await using fake = await FakeZookeeper.start();
  const client = await lock.connect(fake.access());
  const hold = await client.acquire('k', options());
  fake.nodes.delete(fake.places('k')[0]!);
  await sleep(450);
  expect(hold!.lost!.aborted).toBe(true);
});

it('the canary takes a new session for the one that has ended', async () => {
  await using fake = await FakeZookeeper.start();
  const renewals: number[] = [];
  const access = { ...fake.access(), renewed: (_: unknown, sentNs: number) => renewals.push(sentNs) };
  const hold = await (await noSessionCheck.connect(access)).acquire('k', options());
  fake.endSessions();
  const endedNs = access.nowNs();
  await sleep(700);
  expect(hold!.lost).toBeUndefined();
  expect(renewals.at(-1)).toBeGreaterThan(endedNs);
});

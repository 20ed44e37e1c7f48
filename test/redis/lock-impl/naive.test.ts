/** Locks not fit for use: they work while nothing goes wrong, and each fails in its own way. */
import { describe, expect, test } from 'vitest';
import setNxPxGetDel from '../../../lock-impl/set-nx-px-get-del.js';
import setnxExpire from '../../../lock-impl/setnx-expire.js';
import { fileServer, freshKey, goneFrom, SHORT_LEASE_MS } from '../../support/file-servers.js';
import { connectedClient } from '../../support/lock-client.js';
import { overtaken, withClients } from '../../support/lock-clients.js';
import { clientHere, diesAt, now, single, stopsAt } from '../../support/locks-here.js';

const server = fileServer();

const connected = (lock: string) => connectedClient(lock, single(server));

describe.concurrent.each(['setnx', 'setnx-expire', 'set-nx-px-del', 'set-nx-px-get-del'])('%s', (lock) => {
  test('excludes, waits, and can be acquired again after the release', () =>
    withClients(
      () => connected(lock),
      async ({ a, b, key }) => {
        const grant = await a.acquire(key);
        expect(grant.type).toBe('ok');
        expect(grant.value.grantSent).toBeGreaterThanOrEqual(grant.began!);
        expect(grant.value.grantSent).toBeLessThanOrEqual(grant.ended!);
        expect(await b.acquire(key)).toMatchObject({ type: 'fail', reason: 'held' });
        const waiting = b.acquire(key, 5_000, 10_000);
        expect((await a.release(grant.id)).type).toBe('ok');
        expect((await waiting).type).toBe('ok');
      },
    ));
});

test.concurrent('setnx: a client that dies while holding holds for ever', () =>
  withClients(
    () => connected('setnx'),
    async ({ a, b, key }) => {
      expect((await a.acquire(key, 50)).type).toBe('ok');
      await a[Symbol.asyncDispose]();
      expect(await server.redis.pttl(key)).toBe(-1);
      expect(await b.acquire(key, 50, 500)).toMatchObject({ type: 'fail', reason: 'held' });
    },
  ));

describe.concurrent('setnx-expire', () => {
  test('a client that dies between SETNX and EXPIRE holds for ever', async () => {
    const death = diesAt('after-setnx');
    await using a = clientHere(server, death.at);
    await using b = await connected('setnx-expire');
    const key = freshKey();
    void (await setnxExpire.connect(a.access)).acquire(key, { ...now, leaseMs: 50 });
    await death.reached;
    expect(await server.redis.pttl(key)).toBe(-1);
    expect(await b.acquire(key, 50, 500)).toMatchObject({ type: 'fail', reason: 'held' });
  });

  test('with both commands carried out it expires', async () => {
    await using a = clientHere(server);
    const key = freshKey();
    const hold = await (await setnxExpire.connect(a.access)).acquire(key, { ...now, leaseMs: SHORT_LEASE_MS });
    expect(hold!.validForMs).toBeLessThan(SHORT_LEASE_MS);
    expect(a.steps).toEqual(['after-setnx', 'granted']);
    await goneFrom(server, key);
  });
});

test.concurrent.each([
  ['setnx-expire', 'ok'],
  ['set-nx-px-del', 'ok'],
  ['set-nx-px-get-del', 'fail'],
  ['set-nx-px', 'fail'],
])('%s: an expired holder releases while the next one holds, and a third comes: %s', (lock, outcome) =>
  withClients(
    () => connected(lock),
    async ({ a, b, c, key }) => {
      const { expired } = await overtaken(server, a, b, key);
      expect((await a.release(expired.id)).type).toBe(outcome);
      expect((await c.acquire(key, 60_000)).type).toBe(outcome);
    },
    3,
  ),
);

test.concurrent('set-nx-px-get-del: a lock that changes hands between GET and DEL is deleted', async () => {
  const pause = stopsAt('before-del');
  await using a = clientHere(server, pause.at);
  await using b = await connected('set-nx-px-get-del');
  await using c = await connected('set-nx-px-get-del');
  const key = freshKey();
  const hold = await (await setNxPxGetDel.connect(a.access)).acquire(key, now);
  const releasing = hold!.release();
  await pause.reached;
  // The lease ends here, as if the pause had outlasted it.
  await server.redis.pexpire(key, 0);
  expect((await b.acquire(key, 60_000)).type).toBe('ok');
  pause.goOn();
  expect(await releasing).toBe(true);
  expect((await c.acquire(key, 60_000)).type).toBe('ok');
});

/** What an answer of etcd's gateway means: done, certainly not done, or nobody knows. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import type { TopologyAccess } from '../../../../harness/vocabulary/lock.js';
import { gatewayOf, NotDoneError } from '../../../../lock-impl/etcd/gateway.js';

async function member(answer: RequestListener): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const accessTo = (...ports: number[]) =>
  ({
    description: { kind: 'etcd', nodes: ports.map((port, n) => ({ name: `e${n + 1}`, host: '127.0.0.1', port })) },
    options: { commandTimeoutMs: 2_000 },
    random: { int: () => 0 },
  }) as unknown as TopologyAccess;

const telling =
  (status: number, body: object): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

async function outcome(answer: RequestListener): Promise<string> {
  await using one = await member(answer);
  return await gatewayOf(accessTo(one.port))
    .ask('kv/txn', {})
    .then(
      (told) => `done ${JSON.stringify(told)}`,
      (error) => `${error instanceof NotDoneError ? 'not done' : 'unknown'}: ${error.message}`,
    );
}

it.each([
  ['an answer', telling(200, { succeeded: true }), 'done {"succeeded":true}'],
  [
    'a lease that is not there',
    telling(404, { code: 5, error: 'requested lease not found' }),
    /^not done: .*not found/,
  ],
  ['no leader', telling(503, { code: 14, error: 'etcdserver: no leader' }), /^not done: /],
  ['a proposal that timed out', telling(503, { code: 14, error: 'etcdserver: request timed out' }), /^unknown: /],
  ['no JSON', (_: unknown, response: { end(text: string): void }) => response.end('<html>'), /^unknown: .*no JSON/],
  ['no answer', () => {}, /^unknown: .*no answer within 2000 ms/],
  ['a connection that breaks', (request: { socket: { destroy(): void } }) => request.socket.destroy(), /^unknown: /],
] as [string, RequestListener, string | RegExp][])('%s', async (_, answer, expected) => {
  expect(await outcome(answer)).toMatch(expected);
});

it('asks another member after one that is not there, which certainly did nothing', async () => {
  const gone = await member(() => {});
  await gone[Symbol.asyncDispose]();
  await using one = await member(telling(200, { count: '1' }));
  const etcd = gatewayOf(accessTo(gone.port, one.port));
  await expect(etcd.ask('kv/range', {})).rejects.toBeInstanceOf(NotDoneError);
  expect(await etcd.ask('kv/range', {})).toEqual({ count: '1' });
});

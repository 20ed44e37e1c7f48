import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { isServedHere, refusedHere, watchRefusals } from '../../../../harness/client/refused-elsewhere.js';

/** A port on which nobody listens any more. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

test('a connection to this host that was refused is seen, whoever made it', async () => {
  const place = watchRefusals();
  expect(place()).toBeUndefined();
  const port = await closedPort();
  const [error] = await once(connect(port, '127.0.0.1'), 'error');
  expect(place()).toBe(`127.0.0.1:${port}`);
  expect(refusedHere(error)).toBe(`127.0.0.1:${port}`);
});

test('where another host was reached, nothing is said of what was refused', async () => {
  const place = watchRefusals((address) => address === '127.0.0.1');
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.2');
  await once(server, 'listening');
  await once(connect(await closedPort(), '127.0.0.1'), 'error');
  expect(place()).toBeDefined();
  const socket = connect((server.address() as { port: number }).port, '127.0.0.2');
  await once(socket, 'connect');
  expect(place()).toBeUndefined();
  socket.destroy();
  server.close();
});

test.each([
  [{ code: 'ECONNREFUSED', address: '10.0.0.1', port: 6379 }, undefined],
  [{ code: 'ETIMEDOUT', address: '127.0.0.1', port: 6379 }, undefined],
  [{ code: 'ECONNREFUSED' }, undefined],
  [undefined, undefined],
  [{ errors: [{ code: 'ECONNREFUSED', address: '::1', port: 1 }] }, '[::1]:1'],
  [{ code: 'ECONNREFUSED', address: '::1', port: 6379 }, '[::1]:6379'],
])('%o: %s', (error, place) => expect(refusedHere(error)).toBe(place));

test.each([
  ['10.1.0.1', false],
  ['127.0.0.1', true],
  ['localhost', true],
])('a topology whose server is at %s: served here is %s', (host, isHere) => {
  const node = { name: 'r1', host, port: 6379 };
  expect(isServedHere({ kind: 'single', node })).toBe(isHere);
  expect(isServedHere({ kind: 'redlock', nodes: [node] })).toBe(isHere);
});

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { programmingError } from '../../../../harness/client/programming-error.js';
import { refusedHere, watchRefusals } from '../../../../harness/client/refused-elsewhere.js';

/** A port on which nobody listens any more. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

test('a connection to this host that was refused is seen, whoever made it, and a mistake of the lock', async () => {
  const place = watchRefusals();
  expect(place()).toBeUndefined();
  const port = await closedPort();
  const [error] = await once(connect(port, '127.0.0.1'), 'error');
  expect(place()).toBe(`127.0.0.1:${port}`);
  expect(refusedHere(error)).toBe(`127.0.0.1:${port}`);
  expect(programmingError(error)).toMatch(/^it connects to 127\.0\.0\.1:\d+, where no server of the run is: /);
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
  [{ code: 'ECONNREFUSED', address: '::1', port: 6379 }, '[::1]:6379'],
])('%o: %s', (error, place) => expect(refusedHere(error)).toBe(place));

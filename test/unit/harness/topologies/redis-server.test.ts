/** The harness's own channel to a server, against one that answers PONG to everything. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { monotonicNs, realClock } from '../../../../harness/runtimes/real-clock.js';
import { lastWords } from '../../../../harness/topologies/last-words.js';
import { RedisServer } from '../../../../harness/topologies/redis-server.js';
import type { Host } from '../../../../harness/vocabulary/host.js';
import { fakeHost } from '../run/fake-client.js';

test('commands given together share one connection, also when the last one was lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-'));
  const path = join(folder, 'redis.sock');
  const sockets: Socket[] = [];
  const listener = createServer((socket) => {
    sockets.push(socket);
    socket.on('data', (chunk) => socket.write('+PONG\r\n'.repeat(String(chunk).match(/^\*/gm)?.length ?? 0)));
    socket.on('error', () => {}); // the other end goes as it likes
  });
  await new Promise<void>((listening) => listener.listen(path, listening));
  const host = {
    ...fakeHost('r1').host,
    writeFile: async () => 'redis.conf',
    exec: async () => ({ exitCode: 0, stdout: '', stderr: '' }),
    dial: () =>
      new Promise<Socket>((connected) => {
        const socket = createConnection(path, () => connected(socket));
      }),
  } as unknown as Host;
  const told: string[] = [];
  const server = new RedisServer({
    kind: 'redis',
    host,
    port: 6379,
    config: [],
    redis: { path: 'redis-server', env: {}, version: '7', origin: 'test' },
    clock: realClock(monotonicNs()),
    afterStart: async (started) => void told.push(started.name),
  });
  await server.start();
  expect(told).toEqual(['r1']);
  expect(sockets).toHaveLength(1);
  const closed = new Promise((done) => sockets[0]!.once('close', done));
  sockets[0]!.destroy();
  await closed;
  // The loss is met by a command, whenever it arrives.
  for (let lost = false; !lost; )
    lost = await server.command('PING').then(
      () => false,
      () => true,
    );
  await Promise.all(Array.from({ length: 5 }, () => server.command('PING')));
  expect(sockets).toHaveLength(2);
  await server.start();
  expect(told).toEqual(['r1', 'r1']);
  await server.stop();
  listener.close();
  rmSync(folder, { recursive: true });
});

test('the last words of a server are its last lines, joined, without process ids and dates', () => {
  const refused = [
    '',
    '*** FATAL CONFIG FILE ERROR (Redis 7.0.15) ***',
    'Reading the configuration file, at line 9',
    ">>> 'frobnicate 1'",
    'Bad directive or wrong number of arguments',
    '',
  ];
  expect(lastWords(refused.join('\n'))).toBe(
    "Reading the configuration file, at line 9 | >>> 'frobnicate 1' | Bad directive or wrong number of arguments",
  );
  const taken = [
    '17:M 21 Nov 2026 16:32:59.123 * Increased maximum number of open files to 10032',
    '17:M 21 Nov 2026 16:32:59.124 # Warning: Could not create server TCP listening socket 10.77.0.2:6379: bind: Address already in use',
    '17:M 21 Nov 2026 16:32:59.125 # Failed listening on port 6379 (tcp), aborting.',
  ];
  expect(lastWords(taken.slice(1).join('\n'))).toBe(
    'Warning: Could not create server TCP listening socket 10.77.0.2:6379: bind: Address already in use | Failed listening on port 6379 (tcp), aborting.',
  );
  expect(lastWords('')).toBe('');
});

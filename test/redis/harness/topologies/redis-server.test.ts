/** A server that is started again: nobody reaches it before it is watched, and nobody is kept from it for long. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterEach, expect, test, vi } from 'vitest';
import { makeAuthority } from '../../../../harness/machine/authority.js';
import { cacheFolder, findRedis } from '../../../../harness/machine/redis-binary.js';
import { monotonicNs, realClock } from '../../../../harness/runtimes/real-clock.js';
import { RedisServer, type RedisServerOptions } from '../../../../harness/topologies/redis-server.js';
import type { Host, HostProcess, ProcessExit } from '../../../../harness/vocabulary/host.js';
import type { Monitoring } from '../../../../harness/vocabulary/topology.js';
import { freePort } from '../../../support/redis-server.js';

/** What is waited for comes at once, but on a busy machine. */
const PATIENT = { timeout: 20_000 };

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

/** This machine's own loopback. */
function localHost(folder: string): Host {
  return {
    name: 'r1',
    address: '127.0.0.2',
    folder,
    spawn: ([command, ...args]: string[], { env }: { env?: Record<string, string> }): HostProcess => {
      const child = spawn(command!, args, { cwd: folder, env: { ...process.env, ...env }, stdio: 'ignore' });
      const exited = new Promise<ProcessExit>((done) => child.once('exit', (code, signal) => done({ code, signal })));
      return {
        pid: child.pid!,
        exited,
        signal: (signal: NodeJS.Signals) => void child.kill(signal),
        state: async () => (child.exitCode === null && child.signalCode === null ? 'running' : 'dead'),
      } as unknown as HostProcess;
    },
    writeFile: async (name: string, data: string, mode?: number) => writeFile(join(folder, name), data, { mode }),
    exec: async ([command, ...args]: string[]) => {
      await once(spawn(command!, args, { cwd: folder, stdio: 'ignore' }), 'exit');
      return { exitCode: 0, stdout: '', stderr: '' };
    },
    dial: async (socket: string) => {
      const stream = createConnection(join(folder, socket));
      await once(stream, 'connect');
      return stream;
    },
  } as unknown as Host;
}

async function started(config: readonly string[] = [], more: Partial<RedisServerOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-'));
  const clock = realClock(monotonicNs());
  const server = new RedisServer({
    kind: 'redis',
    host: localHost(folder),
    port: await freePort(55_000),
    config: ['save ""', ...config],
    redis: await findRedis({ cacheFolder: cacheFolder(), say: () => {} }),
    // Nobody waits for seconds in a test.
    clock: { ...clock, sleep: (ms, signal) => clock.sleep(ms >= 1_000 ? 100 : ms, signal) },
    listensLate: true,
    ...more,
  });
  ended.push(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await server.start();
  return server;
}

async function watch(server: RedisServer): Promise<Monitoring> {
  const monitoring = await server.monitor(() => {});
  monitoring.letClientsIn!();
  return monitoring;
}

async function killed(server: RedisServer): Promise<void> {
  server.process.signal('SIGKILL');
  await server.process.exited;
}

/** What the server answers, or why it does not; `ca`: over TLS, by that authority. */
function reached({ host, port }: RedisServer, ca?: string): Promise<string> {
  return new Promise((done) => {
    const ping = () => socket.write('PING\r\n');
    const socket =
      ca === undefined
        ? createConnection(port, host.address, ping)
        : connectTls({ port, host: host.address, ca }, ping);
    socket.once('close', () => done('closed'));
    socket.once('error', (error) => done((error as NodeJS.ErrnoException).code ?? error.message));
    socket.once('data', (answer) => {
      done(String(answer).trim());
      socket.destroy();
    });
  });
}

/** As if it were there for as long as is waited for nobody. */
const NEVER = realClock(monotonicNs());
const waitsLong = {
  ...NEVER,
  sleep: (ms: number, signal?: AbortSignal) => NEVER.sleep(ms >= 1_000 ? 60_000 : ms, signal),
};

test('one that was watched listens for clients when it is watched again', async () => {
  const server = await started([], { clock: waitsLong });
  expect(await reached(server)).toBe('+PONG');
  await watch(server);
  await killed(server);
  let isBack = false;
  const back = server.start().then(() => {
    isBack = true;
  });
  await vi.waitFor(async () => expect(await server.command('PING')).toBe('PONG'), PATIENT);
  // Followed by somebody who does not record it, as a fault does.
  await vi.waitFor(() => server.monitor(() => {}), PATIENT);
  expect(await reached(server)).toBe('ECONNREFUSED');
  await expect(server.ping()).rejects.toThrow('r1 does not listen for clients yet');
  expect(isBack).toBe(false);
  await watch(server);
  await back;
  expect(await reached(server)).toBe('+PONG');
  await server.ping();
  expect(await server.command('CONFIG', 'GET', 'port')).toEqual(['port', String(server.port)]);
});

test('one that nobody watches again does not wait for ever', async () => {
  const server = await started();
  await watch(server);
  await killed(server);
  await server.start();
  expect(await reached(server)).toBe('+PONG');
});

test('one that nobody ever watched, and one that cannot be told its port, wait for nobody', async () => {
  const unwatched = await started([], { clock: waitsLong });
  await unwatched.monitor(() => {});
  await killed(unwatched);
  await unwatched.start();
  expect(await reached(unwatched)).toBe('+PONG');
  const untold = await started(['rename-command CONFIG ""'], { clock: waitsLong });
  await watch(untold);
  await killed(untold);
  await untold.start();
  expect(await reached(untold)).toBe('+PONG');
});

test('one whose start failed half-way lets its clients in when it is asked again', async () => {
  let fails = false;
  const server = await started([], {
    clock: waitsLong,
    afterStart: async (self) => {
      if (fails) throw new Error(`${self.name} fails`);
    },
  });
  await watch(server);
  await killed(server);
  fails = true;
  await expect(server.start()).rejects.toThrow('r1 fails');
  expect(await reached(server)).toBe('ECONNREFUSED');
  await server.ping();
  expect(await reached(server)).toBe('+PONG');
});

test('a node of a Cluster tells others its own port meanwhile, and takes their word', async () => {
  const config = ['cluster-enabled yes', 'cluster-config-file nodes.conf', 'cluster-announce-ip 127.0.0.2'];
  const server = await started(config, { clock: waitsLong, clusterNode: true });
  const itself = async () =>
    String(await server.command('CLUSTER', 'NODES'))
      .split(' ')
      .slice(0, 2);
  const before = await itself();
  expect(before[1]).toBe(`127.0.0.2:${server.port}@${server.port + 10_000}`);
  await watch(server);
  await killed(server);
  const back = server.start();
  await vi.waitFor(async () => expect(await itself()).toEqual(before), PATIENT);
  expect(await reached(server)).toBe('ECONNREFUSED');
  const bus = createConnection(server.port + 10_000, server.host.address);
  await once(bus, 'connect');
  bus.destroy();
  await watch(server);
  await back;
  expect(await itself()).toEqual(before);
  expect(await reached(server)).toBe('+PONG');
});

test('bytes that are no UTF-8 are the same text in an answer and among the commands, and no other bytes are', async () => {
  const server = await started();
  const stored: (string | undefined)[] = [];
  const monitoring = await server.monitor(({ argv }) => argv[0] === 'SET' && stored.push(argv[2]));
  monitoring.letClientsIn!();
  const socket = createConnection(server.port, server.host.address);
  const answers: unknown[] = [];
  for (const owner of [Buffer.from([0xff, 0x61, 0xc3]), Buffer.from([0xfe, 0x61, 0xc3])]) {
    socket.write(Buffer.concat([Buffer.from('*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\n'), owner, Buffer.from('\r\n')]));
    await once(socket, 'data');
    answers.push(await server.command('GET', 'k'));
  }
  socket.destroy();
  await vi.waitFor(() => expect(stored).toEqual(answers), PATIENT);
  expect(new Set(answers).size).toBe(2);
});

test('one with TLS answers nobody in plain text, and nobody who does not know its authority, also when it is started again', async () => {
  const authority = makeAuthority(Date.now());
  const tls = { authority, addresses: ['127.0.0.2'] };
  const server = await started([], { clock: waitsLong, tls });
  const answers = async () => [
    await reached(server, authority.ca),
    await reached(server, makeAuthority(Date.now()).ca),
    await reached(server),
  ];
  const guarded = ['+PONG', expect.stringMatching(/SIGNATURE|SELF_SIGNED/), expect.stringMatching(/closed|ECONNRESET/)];
  expect(await answers()).toEqual(guarded);
  expect(statSync(join(server.host.folder, 'tls.key')).mode & 0o777).toBe(0o600);

  await watch(server);
  await killed(server);
  const back = server.start();
  await vi.waitUntil(
    () =>
      server.ping().then(
        () => false,
        (error: Error) => /listen/.test(error.message),
      ),
    PATIENT,
  );
  expect(await reached(server, authority.ca)).toBe('ECONNREFUSED');
  await watch(server);
  await back;
  expect(await answers()).toEqual(guarded);
});

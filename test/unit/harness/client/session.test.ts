import { expect, test } from 'vitest';
import { CommandLog } from '../../../../harness/client/command-log.js';
import { Session, type SessionPorts } from '../../../../harness/client/session.js';
import type { LockNotices } from '../../../../harness/client/topology-access.js';
import type { LockClient, TopologyAccess } from '../../../../harness/vocabulary/lock.js';

/** A client whose lock is `lock`; `said` tells what left it in order: lines of the protocol, commands, and stops. */
async function connected(
  lock: (notices: LockNotices, send: (command: string) => void) => LockClient,
  withReasons = false,
) {
  const said: string[] = [];
  let goOn: () => void = () => {};
  let told: LockNotices;
  const ports: SessionPorts = {
    nowNs: () => 1,
    wallMs: () => 1,
    thrownAt: () => undefined,
    after: () => () => {},
    stopHere: () => {
      said.push('stopped');
      return new Promise((resolve) => {
        goOn = resolve;
      });
    },
    write: async (line) =>
      void said.push(
        'name' in line
          ? `at ${line.name}`
          : 'reason' in line && withReasons
            ? `${line.type}: ${line.reason}`
            : `${line.type}`,
      ),
    log: new CommandLog(),
    loadLock: async () => ({ name: 'fake', connect: async () => lock(told, (command) => void said.push(command)) }),
    access: (_topology, _options, notices) => {
      told = notices;
      return {} as TopologyAccess;
    },
    resource: () => {
      throw new Error('there is none');
    },
  };
  const session = new Session(ports);
  const options = { client: 'c1', leaseMs: 1_000, commandTimeoutMs: 500, seed: 1 };
  await session.handle({ id: 0, op: 'init', topology: { kind: 'single' }, options } as never);
  said.length = 0;
  const asked = { key: 'lock:0', leaseMs: 1_000, waitMs: 0 };
  return {
    session,
    said,
    continued: () => goOn(),
    acquire: (id: number, stopAt?: string) =>
      session.handle({ id, op: 'acquire', ...asked, ...(stopAt && { stopAt }) }),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** It takes the lock at its second try, and steps after each. */
const twoTries = ({ step }: LockNotices, send: (command: string) => void): LockClient => ({
  async acquire() {
    for (const command of ['SET', 'SET']) {
      send(command);
      await step('after-set');
    }
    send('PEXPIRE');
    return {
      async release() {
        send('GET');
        await step('before-del');
        send('DEL');
      },
    };
  },
  async close() {},
});

test('stops its process at the step that the operation names, once, before its next command leaves', async () => {
  const client = await connected(twoTries);
  const done = client.acquire(1, 'after-set');
  await settled();
  expect(client.said).toEqual(['SET', 'at after-set', 'stopped']);
  client.continued();
  await done;
  expect(client.said.slice(3)).toEqual(['SET', 'at after-set', 'PEXPIRE', 'ok']);
});

test('stops at no other step, and in no other operation', async () => {
  const client = await connected(twoTries);
  await client.acquire(1);
  await client.acquire(2, 'before-del');
  expect(client.said).not.toContain('stopped');
  client.said.length = 0;
  const released = client.session.handle({ id: 3, op: 'release', hold: 1, stopAt: 'before-del' });
  await settled();
  expect(client.said).toEqual(['GET', 'at before-del', 'stopped']);
  client.continued();
  await released;
  expect(client.said.slice(3)).toEqual(['DEL', 'ok']);
});

test.each([
  ['an acquire that nobody answers', false, ['info: bug: it connects to 127.0.0.1:6379']],
  ['not one after another that returned', true, []],
])('a connection that was refused where no server is ends %s', async (_, hasAnswered, told) => {
  const said: string[] = [];
  const timers: (() => void)[] = [];
  let tries = 0;
  const lock: LockClient = {
    acquire: () => (hasAnswered && tries++ === 0 ? Promise.resolve(null) : new Promise(() => {})),
  };
  const session = new Session({
    nowNs: () => 1,
    wallMs: () => 1,
    thrownAt: () => undefined,
    after: (_ms, then) => {
      timers.push(then);
      return () => timers.splice(timers.indexOf(then), 1);
    },
    refusedElsewhere: () => '127.0.0.1:6379',
    stopHere: () => {},
    write: async (line) => void said.push('reason' in line ? `${line.type}: ${line.reason}` : ''),
    log: new CommandLog(),
    loadLock: async () => ({ name: 'fake', connect: async () => lock }),
    access: () => ({}) as TopologyAccess,
    resource: () => {
      throw new Error('there is none');
    },
  });
  const options = { client: 'c1', leaseMs: 1_000, commandTimeoutMs: 500, seed: 1 };
  await session.handle({ id: 0, op: 'init', topology: { kind: 'single' }, options } as never);
  const asked = { op: 'acquire', key: 'lock:0', leaseMs: 1_000, waitMs: 0 } as const;
  if (hasAnswered) await session.handle({ id: 1, ...asked } as never);
  said.length = 0;
  void session.handle({ id: 2, ...asked } as never);
  await settled();
  for (const look of [...timers]) look();
  await settled();
  expect(said.map((line) => line.split(', ')[0])).toEqual(told);
});

test.each([
  ['before any acquire returned is told as the mistake that it is', false, 'info: bug: it connects to 127.0.0.1:6379'],
  ['later is an outcome like any other', true, 'info: connect ECONNREFUSED 127.0.0.1:6379'],
])('a refused connection to its own host %s', async (_, hasAnswered, told) => {
  const refusal = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:6379'), {
    ...{ code: 'ECONNREFUSED', address: '127.0.0.1', port: 6379 },
  });
  let tries = 0;
  const { session, said } = await connected(
    () => ({
      acquire: () => (hasAnswered && tries++ === 0 ? Promise.resolve(null) : Promise.reject(refusal)),
    }),
    true,
  );
  const asked = { op: 'acquire', key: 'lock:0', leaseMs: 1_000, waitMs: 0 } as const;
  if (hasAnswered) await session.handle({ id: 1, ...asked } as never);
  said.length = 0;
  await session.handle({ id: 2, ...asked } as never);
  expect(said.map((line) => line.split(', ')[0])).toEqual([told]);
});

/** The protected resource: its rules, and its program over a real connection. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ResourceConnection } from '../../../../harness/client/resource-connection.js';
import { Register } from '../../../../harness/resource/register.js';

const PROGRAM = fileURLToPath(new URL('../../../../dist/harness/resource/main.js', import.meta.url));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

describe('a register', () => {
  test('begins at 0, stores what is written, and counts the writes of each key', () => {
    const register = new Register('trusting');
    expect(register.answer({ id: 1, op: 'read', key: 'a' })).toEqual({ id: 1, value: 0, version: 0 });
    expect(register.answer({ id: 2, op: 'write', key: 'a', value: 7 })).toEqual({ id: 2, value: 7, version: 1 });
    expect(register.answer({ id: 3, op: 'write', key: 'a', value: 7, token: 1 })).toMatchObject({ version: 2 });
    expect(register.answer({ id: 4, op: 'read', key: 'b' })).toEqual({ id: 4, value: 0, version: 0 });
  });

  test('that trusts takes an older token, one that checks refuses it, also after a mere read with a newer one', () => {
    const trusting = new Register('trusting');
    trusting.answer({ id: 1, op: 'write', key: 'a', value: 1, token: 34 });
    expect(trusting.answer({ id: 2, op: 'write', key: 'a', value: 2, token: 33 })).toMatchObject({ value: 2 });

    const checking = new Register('checking');
    checking.answer({ id: 1, op: 'write', key: 'a', value: 1, token: 33 });
    checking.answer({ id: 2, op: 'read', key: 'a', token: 34 });
    expect(checking.answer({ id: 3, op: 'write', key: 'a', value: 2, token: 33 })).toEqual({
      id: 3,
      refused: 'stale-token: 33 is older than 34',
    });
    expect(checking.answer({ id: 4, op: 'write', key: 'a', value: 2, token: 34 })).toMatchObject({ version: 2 });
    expect(checking.answer({ id: 5, op: 'write', key: 'b', value: 2, token: 1 })).toMatchObject({ version: 1 });
  });

  test('that checks refuses a client without a token', () => {
    expect(new Register('checking').answer({ id: 1, op: 'read', key: 'a' })).toEqual({ id: 1, refused: 'no-token' });
  });
});

describe('its program', () => {
  test('answers over a connection, and distinguishes certain from uncertain when it is lost', async () => {
    const port = await freePort();
    const server = spawn(process.execPath, [PROGRAM, '127.0.0.1', String(port), 'checking']);
    try {
      await once(server.stdout, 'data');
      const connection = new ResourceConnection({ name: 'resource', host: '127.0.0.1', port }, 5_000);
      expect(await connection.ask({ op: 'write', key: 'a', value: 5, token: 2 })).toEqual({
        type: 'ok',
        value: { value: 5, version: 1 },
      });
      expect(await connection.ask({ op: 'read', key: 'a', token: 1 })).toEqual({
        type: 'fail',
        reason: 'stale-token: 1 is older than 2',
      });
      server.kill('SIGSTOP');
      const lost = connection.ask({ op: 'read', key: 'a', token: 2 });
      server.kill('SIGKILL');
      expect((await lost).type).toBe('info');
      // Until it has heard that the connection is gone, what it sends on it is uncertain.
      let refused = await connection.ask({ op: 'read', key: 'a', token: 2 });
      while (refused.type === 'info') refused = await connection.ask({ op: 'read', key: 'a', token: 2 });
      expect(refused).toMatchObject({ type: 'fail', reason: expect.stringMatching(/^unreachable/) });
    } finally {
      server.kill('SIGKILL');
    }
  });
});

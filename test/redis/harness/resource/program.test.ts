/** The program of the protected resource, over a real connection. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ResourceConnection } from '../../../../harness/client/resource-connection.js';
import { projectFolder } from '../../../support/lock-client.js';
import { freePort } from '../../../support/redis-server.js';

const PROGRAM = join(projectFolder, 'dist/harness/resource/main.js');

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

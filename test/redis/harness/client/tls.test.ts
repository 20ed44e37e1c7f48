/** The clients that locks are given, to a server that speaks TLS: by the authority of the deployment, and by no other. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CommandLog } from '../../../../harness/client/command-log.js';
import type { NodeRedisPackage } from '../../../../harness/client/node-redis/package.js';
import { topologyAccess } from '../../../../harness/client/topology-access.js';
import { makeAuthority } from '../../../../harness/machine/authority.js';
import { freePort, startRedis, type TestRedis } from '../../../support/redis-server.js';

const authority = makeAuthority(Date.now());
const folder = mkdtempSync(join(tmpdir(), 'lock-torture-tls-'));
let server: TestRedis;
let port: number;
beforeAll(async () => {
  const files = { ...authority.issue(['127.0.0.1']), 'ca-cert': authority.ca };
  const args = Object.entries(files).flatMap(([name, text]) => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return [`--tls-${name}-file`, path];
  });
  port = await freePort();
  server = await startRedis('r1', ['--tls-port', String(port), '--tls-auth-clients', 'no', ...args]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const packages = { 5: () => import('redis-5'), 6: () => import('redis') };

function access(ca: string, load: () => Promise<unknown> = packages[6]) {
  const options = { client: 'c1', seed: 1, leaseMs: 5_000, commandTimeoutMs: 5_000 };
  const topology = { kind: 'single', node: { ...server.endpoint, port }, tls: { ca } } as const;
  const notices = { step: async () => {}, renewed: () => {} };
  return topologyAccess(topology, options, new CommandLog(), notices, async () => (await load()) as NodeRedisPackage);
}

describe('over TLS', () => {
  test('ioredis sends its commands', async () => {
    const redis = await access(authority.ca).redis();
    expect(await redis.set('k', '1', 'PX', 5_000)).toBe('OK');
    redis.disconnect();
  });

  test.each(['5', '6'] as const)('node-redis %s sends its commands', async (version) => {
    const redis = await access(authority.ca, packages[version]).nodeRedis();
    expect(await redis.sendCommand(['SET', 'k', '1', 'PX', '5000'])).toBe('OK');
    redis.destroy();
  });

  // Both try for five seconds.
  test('neither of them gets in by the authority of another run', { tags: ['night'] }, async () => {
    const other = access(makeAuthority(Date.now()).ca);
    const both = [other.redis(), other.nodeRedis()].map((opened) =>
      expect(opened).rejects.toThrow(/signature|self.signed/),
    );
    await Promise.all(both);
  });
});

/** What most tests of a lock begin with: some clients of it, each a process, and a key that no other test has. */
import { expect } from 'vitest';
import { freshKey, goneFrom, SHORT_LEASE_MS } from './file-servers.js';
import type { Answer, LockClientProcess } from './lock-client.js';
import type { TestRedis } from './redis-server.js';

export interface LockClients {
  a: LockClientProcess;
  b: LockClientProcess;
  /** Only with a `count` of 3. */
  c: LockClientProcess;
  key: string;
}

/** Runs a test's body with `count` clients, which are started at once and end with it. */
export async function withClients(
  connect: () => Promise<LockClientProcess>,
  body: (clients: LockClients) => Promise<void>,
  count: 1 | 2 | 3 = 2,
): Promise<void> {
  const starting = await Promise.allSettled(Array.from({ length: count }, connect));
  const started = starting.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  try {
    for (const one of starting) if (one.status === 'rejected') throw one.reason;
    const [a, b, c] = started as [LockClientProcess, LockClientProcess, LockClientProcess];
    await body({ a, b, c, key: freshKey() });
  } finally {
    await Promise.all(started.map((client) => client[Symbol.asyncDispose]()));
  }
}

/** A lease of `a` that is over, and `b` as the next holder: both grants. `b` may be the same client. */
export async function overtaken(
  server: TestRedis,
  a: LockClientProcess,
  b: LockClientProcess,
  key: string,
): Promise<{ expired: Answer; next: Answer }> {
  const expired = await a.acquire(key, SHORT_LEASE_MS);
  expect(expired.type).toBe('ok');
  await goneFrom(server, key);
  const next = await b.acquire(key, 60_000);
  expect(next.type).toBe('ok');
  return { expired, next };
}

/** What most tests of a lock begin with: some clients of it, each a process, and a key that no other test has. */
import { freshKey } from './file-servers.js';
import type { LockClientProcess } from './lock-client.js';

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

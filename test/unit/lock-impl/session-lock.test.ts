/** The lock of a session, over a server in memory. */
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../harness/runtimes/random.js';
import { refused } from '../../../lock-impl/define-lock.js';
import { anyServer, type LockSession, sessionLock } from '../../../lock-impl/session-lock.js';
import { FakeAccess } from './fake-access.js';

const options = { leaseMs: 900, waitMs: 0, signal: new AbortController().signal };

class FakeServer {
  readonly holders = new Map<string, FakeSession>();
  readonly sessions: FakeSession[] = [];
}

class FakeSession implements LockSession {
  readonly #ended = new AbortController();
  readonly ended = this.#ended.signal;
  answer: Error | undefined;

  constructor(private readonly server: FakeServer) {
    server.sessions.push(this);
  }

  end(): void {
    this.#ended.abort('ended');
    for (const [key, holder] of this.server.holders) if (holder === this) this.server.holders.delete(key);
  }

  async prepare(): Promise<void> {}

  async take(key: string): Promise<boolean> {
    if (this.answer) throw this.answer;
    if (this.server.holders.has(key)) return false;
    this.server.holders.set(key, this);
    return true;
  }

  async keepAlive(): Promise<void> {
    if (this.ended.aborted) throw refused('unreachable');
  }

  async free(key: string): Promise<boolean> {
    if (this.server.holders.get(key) !== this) return false;
    return this.server.holders.delete(key);
  }
}

async function client(servers: Record<string, FakeServer>, anywhere = false, seed = 1) {
  const fake = new FakeAccess([]);
  const names = Object.keys(servers);
  const access = Object.assign(fake.access, {
    random: createRandom(seed),
    description: { kind: 'mariadb', nodes: names.map((name) => ({ name, host: name, port: 1 })) },
  });
  const lock = sessionLock({
    name: 'a-session',
    topologies: ['mariadb'],
    load: async () => {},
    ...(anywhere && { server: anyServer }),
    connect: async (_, where) => new FakeSession(servers[where?.name ?? names[0]!]!),
  });
  return { fake, lock: await lock.connect(access) };
}

describe('a lock of a session', () => {
  it('keeps one session for one lock after the other, and another for a second one meanwhile', async () => {
    const server = new FakeServer();
    const { lock } = await client({ d1: server });
    const first = await lock.acquire('a', options);
    expect(await first!.release()).toBe(true);
    const again = await lock.acquire('a', options);
    await lock.acquire('b', options);
    expect(server.sessions.length).toBe(2);
    await expect(lock.acquire('a', options)).rejects.toThrow('held');
    expect(await again!.release()).toBe(true);
  });

  it('ends a session of which nobody knows what it was granted', async () => {
    const server = new FakeServer();
    const { lock } = await client({ d1: server });
    await (await lock.acquire('a', options))!.release();
    const [session] = server.sessions;
    session!.answer = new Error('no answer');
    await expect(lock.acquire('a', options)).rejects.toThrow('no answer');
    expect(session!.ended.aborted).toBe(true);
  });

  it('tells its holder that it is lost when its session has ended, and does not free what may be the next one’s', async () => {
    const server = new FakeServer();
    const { lock } = await client({ d1: server });
    const hold = await lock.acquire('a', options);
    server.sessions[0]!.end();
    expect(hold!.lost!.aborted).toBe(true);
    const next = await lock.acquire('a', options);
    expect(await hold!.release()).toBe(false);
    expect(server.holders.size).toBe(1);
    expect(await next!.release()).toBe(true);
  });

  it('of any server is granted by each', async () => {
    const servers = { d1: new FakeServer(), d2: new FakeServer() };
    const all = await Promise.all(Array.from({ length: 8 }, (_, n) => client(servers, true, n)));
    const tries = await Promise.allSettled(all.map(({ lock }) => lock.acquire('a', options)));
    const granted = tries.filter(({ status }) => status === 'fulfilled').length;
    const asked = Object.values(servers).filter(({ sessions }) => sessions.length > 0).length;
    expect([granted, asked]).toEqual([2, 2]);
  });
});

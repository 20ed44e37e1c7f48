/** The lock by a record of a database, over a store that answers as a test says. */
import { describe, expect, it } from 'vitest';
import { type BlindRowStore, readThenWriteLock, rowLock } from '../../../lock-impl/row-lock.js';
import { FakeAccess } from './fake-access.js';

const LEASE_MS = 1_000;
const options = { leaseMs: LEASE_MS, waitMs: 0, signal: new AbortController().signal };

/** A record in memory: one key, by the clock of the access. */
function stored(fake: FakeAccess) {
  const row = { owner: '', token: 0, expiresMs: 0, made: 0 };
  const put = (owner: string, leaseMs: number) => {
    Object.assign(row, { owner, token: row.token + 1, expiresMs: fake.nowMs + leaseMs });
    return row.token;
  };
  const isTaken = () => row.expiresMs > fake.nowMs;
  const store: BlindRowStore = {
    make: async () => void row.made++,
    take: async (_, owner, leaseMs) => (isTaken() ? undefined : put(owner, leaseMs)),
    async prolong(_, owner, leaseMs) {
      if (row.owner !== owner || !isTaken()) return false;
      row.expiresMs = fake.nowMs + leaseMs;
      return true;
    },
    async giveBack(_, owner) {
      if (row.owner !== owner) return false;
      Object.assign(row, { owner: '', expiresMs: 0 });
      return true;
    },
    isTaken: async () => isTaken(),
    overwrite: async (_, owner, leaseMs) => void put(owner, leaseMs),
  };
  return { row, store };
}

async function clients(make: typeof rowLock, count: number) {
  const fake = new FakeAccess([]);
  const { row, store } = stored(fake);
  const lock = make({ name: 'a-row', topologies: ['mariadb'], open: async () => async () => store });
  return { fake, row, store, all: await Promise.all(Array.from({ length: count }, () => lock.connect(fake.access))) };
}

describe('a lock by a row', () => {
  it('is granted to one, refused to the next, and rises its token with each grant', async () => {
    const { all, row } = await clients(rowLock, 2);
    const first = await all[0]!.acquire('k', options);
    expect(first).toMatchObject({ token: 1 });
    await expect(all[1]!.acquire('k', options)).rejects.toThrow('held');
    expect(await first!.release()).toBe(true);
    expect(await all[1]!.acquire('k', options)).toMatchObject({ token: 2 });
    // Once for each client: it stays when its holder has gone.
    expect(row.made).toBe(2);
  });

  it('says that it was not ours any more when its lease was over, and leaves the next holder alone', async () => {
    const { all, fake, row } = await clients(rowLock, 2);
    const slow = await all[0]!.acquire('k', options);
    fake.nowMs += LEASE_MS + 1;
    await all[1]!.acquire('k', options);
    const { owner } = row;
    expect(await slow!.extend!(LEASE_MS)).toBeNull();
    expect(await slow!.release()).toBe(false);
    expect(row.owner).toBe(owner);
  });

  it('gives a grant back that came when its lease was over, and refuses it', async () => {
    const { all, fake, store, row } = await clients(rowLock, 1);
    const { take } = store;
    store.take = async (...asked) => {
      const token = await take(...asked);
      fake.nowMs += LEASE_MS;
      return token;
    };
    await expect(all[0]!.acquire('k', options)).rejects.toThrow('granted-late');
    expect(row.owner).toBe('');
  });

  it('is held twice by those who ask before they write', async () => {
    const { all } = await clients(readThenWriteLock as typeof rowLock, 2);
    const both = await Promise.all(all.map((client) => client.acquire('k', options)));
    expect(both.every((hold) => hold !== null)).toBe(true);
  });
});

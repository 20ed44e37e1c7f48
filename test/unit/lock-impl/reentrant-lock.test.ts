/** What the lock object believes, against a server in memory whose answers get lost or come late. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NotOwnerError, type OwnerHold, type Protocol, ReentrantLock } from '../../../lock-impl/reentrant-lock.js';
import { drawn } from '../../support/drawn.js';
import { FakeAccess, named } from './fake-access.js';

/**
 * - `ok`: carried out and answered;
 * - `refused`: certainly not carried out;
 * - `lost`: carried out, and the answer got lost;
 * - `late`: given up on, and carried out later.
 */
type Fate = 'ok' | 'refused' | 'lost' | 'late';

class MemoryServer {
  owner: string | undefined;
  count = 0;
  readonly #late: (() => void)[] = [];
  fate: Fate = 'ok';

  take(owner: string): number {
    if (this.owner !== undefined && this.owner !== owner) return 0;
    this.owner = owner;
    this.count += 1;
    return this.count;
  }

  giveBack(owner: string): number | null {
    if (this.owner !== owner) return null;
    this.count -= 1;
    if (this.count === 0) this.owner = undefined;
    return this.count;
  }

  expire(): void {
    this.owner = undefined;
    this.count = 0;
  }

  /** The oldest of the commands that were given up on is carried out now. */
  catchUp(): void {
    this.#late.shift()?.();
  }

  async #answer<T>(operation: () => T): Promise<T> {
    const { fate } = this;
    this.fate = 'ok';
    if (fate === 'refused') throw named('NeverSentError', 'not sent');
    if (fate === 'late') this.#late.push(operation);
    else {
      const answer = operation();
      if (fate === 'ok') return answer;
    }
    throw new Error('Command timed out');
  }

  get protocol(): Protocol {
    return {
      take: async (owner) => {
        const depth = await this.#answer(() => this.take(owner));
        return depth > 0
          ? { granted: true, depth }
          : { granted: false, why: 'held', againInMs: Number.POSITIVE_INFINITY };
      },
      giveBack: (owner) => this.#answer(() => this.giveBack(owner)),
      renew: async (owner) => this.owner === owner,
      waiting: () => ({ pause: async () => {}, stop() {} }),
      holders: async () => (this.owner === undefined ? 0 : 1),
      holdCount: async (owner) => (this.owner === owner ? this.count : 0),
      forceUnlock: async () => false,
    };
  }
}

const NOT_RENEWED_MS = 60_000;

function lockOf(server: MemoryServer, owner: string): ReentrantLock {
  const { access } = new FakeAccess([]);
  return new ReentrantLock({ access, protocol: server.protocol, owner, watchdogMs: NOT_RENEWED_MS });
}

/** Each a test that failed once on paper: what the names of owners are for. */
describe('after an operation whose answer was lost', () => {
  test('a late unlock, after the next lock, does not release that one', async () => {
    const server = new MemoryServer();
    const [a, b] = [lockOf(server, 'a'), lockOf(server, 'b')];
    await a.tryLock(0, NOT_RENEWED_MS);
    for (let n = 0; n < 2; n++) {
      server.fate = 'late';
      await expect(a.unlock()).rejects.toThrow('timed out');
    }
    expect(await a.tryLock(0, NOT_RENEWED_MS)).toBe(false);
    server.expire();
    expect(await a.tryLock(0, NOT_RENEWED_MS)).toBe(true);
    server.catchUp();
    server.catchUp();
    expect(await b.tryLock(0, NOT_RENEWED_MS)).toBe(false);
    await a.unlock();
    expect(server.owner).toBeUndefined();
  });

  test('a lock that was granted after all is not taken for ours', async () => {
    const server = new MemoryServer();
    const a = lockOf(server, 'a');
    server.fate = 'lost';
    await expect(a.tryLock(0, NOT_RENEWED_MS)).rejects.toThrow('timed out');
    expect(await a.tryLock(0, NOT_RENEWED_MS)).toBe(false);
    server.expire();
    expect(await a.tryLock(0, NOT_RENEWED_MS)).toBe(true);
    expect(server.count).toBe(1);
  });

  test('an unlock that certainly did not happen can be repeated', async () => {
    const server = new MemoryServer();
    const a = lockOf(server, 'a');
    await a.tryLock(0, NOT_RENEWED_MS);
    server.fate = 'refused';
    await expect(a.unlock()).rejects.toThrow('refused: unreachable');
    await a.unlock();
    expect(server.owner).toBeUndefined();
    await expect(a.unlock()).rejects.toThrow(NotOwnerError);
  });
});

test('a hold whose lease ended is lost when it is locked again, and its release leaves the new hold alone', async () => {
  const server = new MemoryServer();
  const a = lockOf(server, 'a');
  const wanted = { leaseMs: NOT_RENEWED_MS, watched: false, waitMs: 0 };
  const old = await a.acquire(wanted);
  server.expire();
  const grant = await a.acquire(wanted);
  expect(old.lost.aborted).toBe(true);
  expect(grant.lost.aborted).toBe(false);
  expect(await a.release(old)).toBe(false);
  expect(server.count).toBe(1);
  expect(await a.release(grant)).toBe(true);
  expect(server.owner).toBeUndefined();
});

test('a nested lock that is granted before a renewal is answered is not told to have been renewed by it', async () => {
  const server = new MemoryServer();
  const fake = new FakeAccess([]);
  const leaseMs = 3_000;
  const wanted = { leaseMs, watched: true, waitMs: 0 };
  let nested: OwnerHold | undefined;
  const protocol: Protocol = {
    ...server.protocol,
    async renew() {
      fake.nowMs += 1;
      nested ??= await lock.acquire(wanted);
      return true;
    },
  };
  const told: (readonly OwnerHold[])[] = [];
  const options = { access: fake.access, protocol, owner: 'a', watchdogMs: leaseMs };
  const lock = new ReentrantLock({ ...options, onRenewed: (grants) => told.push([...grants]) });
  const first = await lock.acquire(wanted);
  await fake.run(fake.sleep(1.5 * leaseMs));
  // By the nested grant, by the renewal before it, and by the next ones.
  expect(told.slice(0, 3)).toEqual([[first], [first], [first, nested]]);
});

test('no two callers ever believe that they hold it, whatever gets lost, and no lock is left behind where nothing gets lost', async () => {
  const fate = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Fate>('ok') },
    fc.constantFrom<Fate>('refused', 'lost', 'late'),
  );
  const caller = fc.constantFrom(0 as const, 1 as const);
  const action = fc.oneof(
    fc.record({ do: fc.constantFrom('lock' as const, 'unlock' as const), caller, fate }),
    fc.record({ do: fc.constantFrom('late' as const, 'expire' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 25 }), async (actions) => {
      const server = new MemoryServer();
      const locks = [lockOf(server, 'a'), lockOf(server, 'b')];
      /** How often each believes to hold it. */
      const believed = [0, 0];
      let sound = true;
      for (const one of actions) {
        if (one.do === 'late') server.catchUp();
        // A lease ends only while no client holds it: what happens otherwise is not the object's doing.
        else if (one.do === 'expire' && believed[0] === 0 && believed[1] === 0) server.expire();
        else if ('caller' in one) {
          server.fate = one.fate;
          sound &&= one.fate === 'ok';
          const lock = locks[one.caller]!;
          if (one.do === 'lock') {
            const granted = await lock.tryLock(0, NOT_RENEWED_MS).catch(() => false);
            if (granted) believed[one.caller]! += 1;
          } else {
            await lock.unlock().catch(() => {});
            believed[one.caller] = Math.max(0, believed[one.caller]! - 1);
          }
          server.fate = 'ok';
        }
        expect(believed[0] === 0 || believed[1] === 0).toBe(true);
        if (sound) expect(server.count).toBe(believed[0]! + believed[1]!);
      }
    }),
    drawn(500),
  );
});

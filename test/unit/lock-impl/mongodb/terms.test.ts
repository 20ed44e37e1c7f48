/** Locks on MongoDB over a collection in memory, each of whose commands is one step. */
import type { MongoClient } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { documents } from '../../../../lock-impl/mongodb/documents.js';
import { mongoMarks } from '../../../../lock-impl/mongodb/marks.js';
import { terms } from '../../../../lock-impl/mongodb/terms.js';
import type { RowStore } from '../../../../lock-impl/row-lock.js';

type Stored = Record<string, unknown> & { _id: string };
type Filter = Record<string, unknown>;

const LEASE_MS = 1_000;
let nowMs: number;
let all: Map<string, Stored>;
/** Called before a command of this name, once. */
let before: Partial<Record<string, () => Promise<unknown>>>;

beforeEach(() => {
  nowMs = 1_000_000;
  all = new Map();
  before = {};
});

function matches(one: Stored, filter: Filter): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    const value = one[field] as string | Date;
    if (typeof wanted !== 'object' || wanted === null) return value === wanted;
    const { $gte, $lt, $gt } = wanted as Record<string, string | Date>;
    return (
      ($gte === undefined || value >= $gte) && ($lt === undefined || value < $lt) && ($gt === undefined || value > $gt)
    );
  });
}

const found = (filter: Filter) =>
  [...all.values()].filter((one) => matches(one, filter)).sort((a, b) => (a._id < b._id ? 1 : -1));
const duplicate = () => Object.assign(new Error('E11000'), { name: 'MongoServerError', code: 11_000 });

function change(one: Stored, { $set = {}, $inc = {} }: { $set?: object; $inc?: Record<string, number> }) {
  Object.assign(one, $set);
  for (const [field, by] of Object.entries($inc)) one[field] = Number(one[field] ?? 0) + by;
  return { ...one };
}

const client = () => {
  const step =
    <T extends unknown[], R>(name: string, command: (...asked: T) => R) =>
    async (...asked: T): Promise<R> => {
      const first = before[name];
      delete before[name];
      await first?.();
      return command(...asked);
    };
  const collection = {
    findOne: step('findOne', (filter: Filter) => found(filter)[0] ?? null),
    insertOne: step('insertOne', (one: Stored) => {
      if (all.has(one._id)) throw duplicate();
      all.set(one._id, { ...one });
      return {};
    }),
    updateOne: step('updateOne', (filter: Filter, how: object) => {
      const [one] = found(filter);
      if (one) change(one, how);
      return { matchedCount: one ? 1 : 0 };
    }),
    findOneAndUpdate: step('findOneAndUpdate', (filter: Filter, how: object) => {
      const [one] = found(filter);
      if (one) return change(one, how);
      const _id = String(filter._id);
      if (all.has(_id)) throw duplicate();
      all.set(_id, { _id });
      return change(all.get(_id)!, how);
    }),
    deleteOne: step('deleteOne', (filter: Filter) => {
      const [one] = found(filter);
      if (one) all.delete(one._id);
      return { deletedCount: one ? 1 : 0 };
    }),
    deleteMany: step('deleteMany', (filter: Filter) => {
      for (const one of found(filter)) all.delete(one._id);
      return {};
    }),
  };
  const command = async () => ({ localTime: new Date(nowMs) });
  return { db: () => ({ collection: () => collection, command }) } as unknown as MongoClient;
};

const access = { nowNs: () => nowMs * 1e6 };
const KINDS: [string, () => RowStore][] = [
  ['a document for each key', () => documents(client())],
  ['a document for each term', () => terms(access, client())],
];

describe.each(KINDS)('%s', (_, store) => {
  it('is taken by one, then by the next with a greater token, once it was given back', async () => {
    const [a, b] = [store(), store()];
    expect(await a.take('k', 'a', LEASE_MS)).toBe(1);
    expect(await b.take('k', 'b', LEASE_MS)).toBeUndefined();
    expect(await b.take('other', 'b', LEASE_MS)).toBe(1);
    expect(await b.giveBack('k', 'b')).toBe(false);
    expect(await a.giveBack('k', 'a')).toBe(true);
    expect(await b.take('k', 'b', LEASE_MS)).toBe(2);
  });

  it('is taken when its lease is over by the clock of the server, and not before', async () => {
    const [a, b] = [store(), store()];
    await a.take('k', 'a', LEASE_MS);
    nowMs += LEASE_MS;
    expect(await b.take('k', 'b', LEASE_MS)).toBeUndefined();
    nowMs += 1;
    expect(await b.take('k', 'b', LEASE_MS)).toBe(2);
    expect(await a.giveBack('k', 'a')).toBe(false);
    expect(await a.prolong('k', 'a', LEASE_MS)).toBe(false);
  });

  it('is kept for longer by its owner', async () => {
    const [a, b] = [store(), store()];
    await a.take('k', 'a', LEASE_MS);
    nowMs += 900;
    expect(await a.prolong('k', 'a', LEASE_MS)).toBe(true);
    nowMs += 900;
    expect(await a.prolong('k', 'a', LEASE_MS)).toBe(true);
    nowMs += 900;
    expect(await b.take('k', 'b', LEASE_MS)).toBeUndefined();
  });

  it('is taken by one of two who both saw that it is free', async () => {
    const [a, b] = [store(), store()];
    const first = 'findOneAndUpdate';
    let tokenOfB: unknown;
    for (const name of [first, 'insertOne'])
      before[name] = async () => {
        before = {};
        tokenOfB = await b.take('k', 'b', LEASE_MS);
      };
    expect(await a.take('k', 'a', LEASE_MS)).toBeUndefined();
    expect(tokenOfB).toBe(1);
  });
});

describe('a document for each term', () => {
  it('is not taken by who begins one that was there and is removed', async () => {
    const [slow, ...others] = [1, 2, 3, 4].map(() => terms(access, client()));
    before.insertOne = async () => {
      for (const [n, other] of others.entries()) {
        expect(await other.take('k', `o${n}`, LEASE_MS)).toBe(n + 1);
        if (n < 2) await other.giveBack('k', `o${n}`);
      }
    };
    // The first term is long removed, and the third is held.
    expect(await slow!.take('k', 'slow', LEASE_MS)).toBeUndefined();
    expect([...all.values()].map(({ owner }) => owner)).toEqual(['o2']);
  });

  it('leaves a term open where it cannot look whether it is the newest', async () => {
    const a = terms(access, client());
    before.insertOne = async () => {
      before.findOne = async () => {
        throw Object.assign(new Error('no server'), { name: 'MongoServerSelectionError' });
      };
    };
    await expect(a.take('k', 'a', LEASE_MS)).rejects.toThrow('whether it was granted cannot be told');
    expect([...all.values()].map(({ owner }) => owner)).toEqual(['a']);
  });

  it('is not kept for longer where the answer comes when the lease is over', async () => {
    const a = terms(access, client());
    await a.take('k', 'a', LEASE_MS);
    nowMs += 990;
    // Somebody may have looked at it meanwhile, and begin the next term only after this.
    before.updateOne = async () => {
      nowMs += 20;
    };
    expect(await a.prolong('k', 'a', LEASE_MS)).toBe(false);
  });

  it('keeps one document of each key', async () => {
    const a = terms(access, client());
    for (let n = 1; n <= 12; n++) {
      expect(await a.take('k', `a${n}`, LEASE_MS)).toBe(n);
      await a.giveBack('k', `a${n}`);
    }
    expect(all.size).toBe(1);
  });
});

describe('a document that is made and removed', () => {
  it('is one client’s until that removes it, however late', async () => {
    const [a, b] = [mongoMarks(client()), mongoMarks(client())];
    expect(await a.make('k', 'a')).toBe(true);
    nowMs += 1_000 * LEASE_MS;
    expect(await b.make('k', 'b')).toBe(false);
    expect(await b.remove('k', 'b')).toBe(false);
    expect(await b.make('other', 'b')).toBe(true);
    expect(await a.remove('k', 'a')).toBe(true);
    expect(await b.make('k', 'b')).toBe(true);
    expect(await a.remove('k', 'a')).toBe(false);
  });

  it('is in doubt where the answer is lost, and refused where the server says no', async () => {
    const marks = mongoMarks(client());
    const says = (error: object) => {
      before.findOneAndUpdate = async () => {
        throw Object.assign(new Error('not now'), error);
      };
      return marks.make('k', 'a');
    };
    await expect(says({ name: 'MongoNetworkError' })).rejects.toThrow('not now');
    await expect(says({ name: 'MongoServerError', code: 13, codeName: 'Unauthorized' })).rejects.toThrow(
      'Unauthorized',
    );
  });
});

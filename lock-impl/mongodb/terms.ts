/**
 * A document for each term of a lock, `{ _id: 'KEY#0…07', key, token: 7, owner, leaseEnd }`, made by an insert: its unique `_id` lets
 * one client begin a term (E11000: another has), and nothing else decides. The newest term's owner holds until its lease is over; a
 * term is begun once that of the newest is. Its number is the fencing token.
 *
 * Older terms are removed by who begins a new one. Who had looked long before could begin one of those again, so each looks once more
 * whether its own is the newest: a newer one is never removed before there is one that is newer yet.
 *
 * The server's clock decides when a lease is over (see `documents.ts`). A lease that is prolonged is another document than that of the
 * next term, so no condition of the server's keeps the one from going on beside the other: a client takes its lease for prolonged only
 * where the answer came before it was over, by the client's own clock.
 */
import type { Collection, MongoClient } from 'mongodb';
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { RowStore } from '../row-lock.js';
import {
  answerElseUnreachable,
  askedOf,
  DUPLICATE_KEY,
  NOBODYS_END,
  onceConnected,
  serverNowMs,
} from './connection.js';

interface Term {
  _id: string;
  key: string;
  token: number;
  /** Empty: nobody's. */
  owner: string;
  leaseEnd: Date;
}

const DIGITS = 16;

export function openMongoTerms(access: TopologyAccess): Promise<() => Promise<RowStore>> {
  return onceConnected(access, (client) => terms(access, client));
}

export function terms(access: Pick<TopologyAccess, 'nowNs'>, client: MongoClient): RowStore {
  const all: Collection<Term> = client.db('locks').collection('lock_documents');
  /** When the lease of an owner is over, by this client's clock. */
  const endsNs = new Map<string, number>();
  const newest = (key: string) => all.findOne(ofKey(key), { sort: { _id: -1 } });
  return {
    // A term is made when it begins.
    make: async () => {},
    async take(key, owner, leaseMs) {
      const sentNs = access.nowNs();
      const ms = await serverNowMs(client);
      const last = await answerElseUnreachable(newest(key));
      if (last && last.leaseEnd.getTime() >= ms) return undefined;
      const token = (last?.token ?? 0) + 1;
      const term = { _id: idOf(key, token), key, token, owner, leaseEnd: new Date(ms + leaseMs) };
      const began = await askedOf(all.insertOne(term), { [DUPLICATE_KEY]: null });
      if (!began) return undefined;
      // In doubt whether it is the newest it is left to run out: it may be.
      const isNewest = (await inDoubt(newest(key)))?.owner === owner;
      all.deleteMany({ _id: isNewest ? { $gte: idOf(key, 0), $lt: term._id } : term._id }).catch(() => {});
      if (!isNewest) return undefined;
      endsNs.set(owner, sentNs + leaseMs * 1e6);
      return token;
    },
    async prolong(key, owner, leaseMs) {
      const sentNs = access.nowNs();
      const ms = await serverNowMs(client);
      const { matchedCount } = await askedOf(
        all.updateOne(
          { ...ofKey(key), owner, leaseEnd: { $gt: new Date(ms) } },
          { $set: { leaseEnd: new Date(ms + leaseMs) } },
        ),
      );
      const inTime = access.nowNs() < (endsNs.get(owner) ?? 0);
      if (inTime) endsNs.set(owner, sentNs + leaseMs * 1e6);
      return matchedCount > 0 && inTime;
    },
    async giveBack(key, owner) {
      endsNs.delete(owner);
      const { matchedCount } = await askedOf(
        all.updateOne({ ...ofKey(key), owner }, { $set: { owner: '', leaseEnd: NOBODYS_END } }),
      );
      return matchedCount > 0;
    },
  };
}

/** Its terms, which lie side by side in the index that every collection has. */
function ofKey(key: string) {
  return { _id: { $gte: idOf(key, 0), $lt: `${key}#:` } };
}

function idOf(key: string, token: number): string {
  return `${key}#${String(token).padStart(DIGITS, '0')}`;
}

/** A question after which something stays that may have been granted: a refusal would say too much. */
async function inDoubt<T>(question: Promise<T>): Promise<T> {
  return question.catch((error: Error) => {
    throw new Error(`whether it was granted cannot be told: ${error.message}`);
  });
}

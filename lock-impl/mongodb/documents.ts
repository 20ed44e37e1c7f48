/**
 * A document of MongoDB for each lock, `{ _id: key, owner, leaseEnd, token }`, taken by `findOneAndUpdate` where its lease is over,
 * and made by the same (upsert) where it is not there. A lock that somebody holds is in the way of the latter: the unique `_id`
 * (E11000) is the refusal. It stays when its holder has gone, so that the token goes on rising.
 *
 * The server's clock decides when a lease is over, and nobody else's: it is asked for its time (`hello`) before each step that needs
 * it. What a step then compares with is no later than the step, so a lease that was over then is over when the step comes; what it
 * adds to is no earlier than what its client counts from, so the document outlasts what the client was told.
 *
 * It needs a server that carries `findOneAndUpdate` out as one step, as MongoDB does. FerretDB 1 reads the document and then writes it,
 * with nothing that keeps others out (its issue 3040), so two clients take one there.
 */
import type { Collection, MongoClient } from 'mongodb';
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { BlindRowStore } from '../row-lock.js';
import {
  answerElseUnreachable,
  askedOf,
  DUPLICATE_KEY,
  NOBODYS_END,
  onceConnected,
  serverNowMs,
} from './connection.js';

interface LockDocument {
  _id: string;
  /** Empty: nobody's. */
  owner: string;
  leaseEnd: Date;
  token: number;
}

export function openMongoDocuments(access: TopologyAccess): Promise<() => Promise<BlindRowStore>> {
  return onceConnected(access, documents);
}

export function documents(client: MongoClient): BlindRowStore {
  const locks: Collection<LockDocument> = client.db('locks').collection('lock_documents');
  const nowMs = () => serverNowMs(client);
  return {
    // An upsert does it.
    make: async () => {},
    async take(key, owner, leaseMs) {
      const ms = await nowMs();
      const taken = await askedOf(
        locks.findOneAndUpdate(
          { _id: key, leaseEnd: { $lt: new Date(ms) } },
          { $set: { owner, leaseEnd: new Date(ms + leaseMs) }, $inc: { token: 1 } },
          { upsert: true, returnDocument: 'after' },
        ),
        { [DUPLICATE_KEY]: null },
      );
      return taken?.token;
    },
    async prolong(key, owner, leaseMs) {
      const ms = await nowMs();
      const { matchedCount } = await askedOf(
        locks.updateOne(
          { _id: key, owner, leaseEnd: { $gt: new Date(ms) } },
          { $set: { leaseEnd: new Date(ms + leaseMs) } },
        ),
      );
      return matchedCount > 0;
    },
    async giveBack(key, owner) {
      const { matchedCount } = await askedOf(
        locks.updateOne({ _id: key, owner }, { $set: { owner: '', leaseEnd: NOBODYS_END } }),
      );
      return matchedCount > 0;
    },
    async isTaken(key) {
      const ms = await nowMs();
      const found = await answerElseUnreachable(locks.findOne({ _id: key }));
      return found !== null && found.leaseEnd.getTime() > ms;
    },
    async overwrite(key, owner, leaseMs) {
      const ms = await nowMs();
      await askedOf(
        locks.updateOne(
          { _id: key },
          { $set: { owner, leaseEnd: new Date(ms + leaseMs) }, $inc: { token: 1 } },
          { upsert: true },
        ),
      );
    },
  };
}

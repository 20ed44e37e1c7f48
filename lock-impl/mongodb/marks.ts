/**
 * A document of MongoDB for each lock that is held, `{ _id: key, owner }`: findAndModify looks for one of nobody's, which there never
 * is, and so makes it (upsert). One that is there is in the way: the unique `_id` (E11000) is the refusal. So it is one step on
 * FerretDB 1 as well, which looks and makes in two: the second is refused there.
 */
import type { Collection, MongoClient } from 'mongodb';
import type { MarkStore } from '../mark-lock.js';
import { askedOf, DUPLICATE_KEY } from './connection.js';

interface Mark {
  _id: string;
  owner: string;
}

export function mongoMarks(client: MongoClient): MarkStore {
  const marks: Collection<Mark> = client.db('locks').collection('lock_documents');
  return {
    async make(key, owner) {
      const made = marks.findOneAndUpdate(
        { _id: key, owner: '' },
        { $set: { owner } },
        { upsert: true, returnDocument: 'after' },
      );
      return (await askedOf(made, { [DUPLICATE_KEY]: null })) !== null;
    },
    remove: async (key, owner) => (await askedOf(marks.deleteOne({ _id: key, owner }))).deletedCount > 0,
  };
}

/** `mongo-lease` in two steps: a find ("is it free?"), then an update that does not ask again. */
import { readThenWriteLock } from '../row-lock.js';
import { MONGODB_TOPOLOGIES } from './connection.js';
import { openMongoDocuments } from './documents.js';

export default readThenWriteLock({
  name: 'mongo-read-then-write',
  topologies: MONGODB_TOPOLOGIES,
  open: openMongoDocuments,
});

/** `rowLock` on MongoDB. */
import { rowLock } from '../row-lock.js';
import { MONGODB_TOPOLOGIES } from './connection.js';
import { openMongoDocuments } from './documents.js';

export default rowLock({ name: 'mongo-lease', topologies: MONGODB_TOPOLOGIES, open: openMongoDocuments });

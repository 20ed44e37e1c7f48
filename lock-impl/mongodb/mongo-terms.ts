/** `rowLock` on MongoDB, by a document for each term. */
import { rowLock } from '../row-lock.js';
import { MONGODB_TOPOLOGIES } from './connection.js';
import { openMongoTerms } from './terms.js';

export default rowLock({ name: 'mongo-terms', topologies: MONGODB_TOPOLOGIES, open: openMongoTerms });

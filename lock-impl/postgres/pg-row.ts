/** `rowLock` on PostgreSQL. */
import { rowLock } from '../row-lock.js';
import { TOPOLOGIES } from './connections.js';
import { openRows } from './rows.js';

export default rowLock({ name: 'pg-row', topologies: TOPOLOGIES, open: openRows });

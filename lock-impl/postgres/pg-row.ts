/** `rowLock` on PostgreSQL. */
import { rowLock } from '../row-lock.js';
import { POSTGRES_TOPOLOGIES } from './connections.js';
import { openPostgresRows } from './rows.js';

export default rowLock({ name: 'pg-row', topologies: POSTGRES_TOPOLOGIES, open: openPostgresRows });

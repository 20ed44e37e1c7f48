/** `pg-row` in two statements: a SELECT ("is it free?"), then an UPDATE that does not ask again. */
import { readThenWriteLock } from '../row-lock.js';
import { TOPOLOGIES } from './connections.js';
import { openRows } from './rows.js';

export default readThenWriteLock({ name: 'pg-row-read-then-write', topologies: TOPOLOGIES, open: openRows });

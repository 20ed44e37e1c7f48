/** `pg-row` in two statements: a SELECT ("is it free?"), then an UPDATE that does not ask again. */
import { readThenWriteLock } from '../row-lock.js';
import { POSTGRES_TOPOLOGIES } from './connections.js';
import { openPostgresRows } from './rows.js';

export default readThenWriteLock({
  name: 'pg-row-read-then-write',
  topologies: POSTGRES_TOPOLOGIES,
  open: openPostgresRows,
});

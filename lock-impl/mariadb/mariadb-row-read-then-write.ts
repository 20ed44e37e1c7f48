/** `mariadb-row` in two statements: a SELECT ("is it free?"), then an UPDATE that does not ask again. */
import { readThenWriteLock } from '../row-lock.js';
import { MARIADB_TOPOLOGIES } from './connections.js';
import { openMariadbRows } from './rows.js';

export default readThenWriteLock({
  name: 'mariadb-row-read-then-write',
  topologies: MARIADB_TOPOLOGIES,
  open: openMariadbRows,
});

/** `rowLock` on MariaDB. */
import { rowLock } from '../row-lock.js';
import { MARIADB_TOPOLOGIES } from './connections.js';
import { openMariadbRows } from './rows.js';

export default rowLock({ name: 'mariadb-row', topologies: MARIADB_TOPOLOGIES, open: openMariadbRows });

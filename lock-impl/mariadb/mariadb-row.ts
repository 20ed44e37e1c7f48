/** `rowLock` on MariaDB. */
import { rowLock } from '../row-lock.js';
import { TOPOLOGIES } from './connections.js';
import { openRows } from './rows.js';

export default rowLock({ name: 'mariadb-row', topologies: TOPOLOGIES, open: openRows });

/** `rowLock` on MariaDB. */
import { ON_MARIADB } from './connections.js';
import { mysqlRow } from './rows.js';

export default mysqlRow(ON_MARIADB);

/** `rowLock` on MySQL. */
import { ON_MYSQL } from './connections.js';
import { mysqlRow } from './rows.js';

export default mysqlRow(ON_MYSQL);

/** `mariadb-row` in two statements, the second of which does not ask again. */
import { ON_MARIADB } from './connections.js';
import { mysqlReadThenWrite } from './rows.js';

export default mysqlReadThenWrite(ON_MARIADB);

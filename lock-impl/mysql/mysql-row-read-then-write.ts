/** `mysql-row` in two statements, the second of which does not ask again. */
import { ON_MYSQL } from './connections.js';
import { mysqlReadThenWrite } from './rows.js';

export default mysqlReadThenWrite(ON_MYSQL);

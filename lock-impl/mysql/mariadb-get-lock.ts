/** `GET_LOCK` of MariaDB, on the primary (`sessionLock`). */
import { ON_MARIADB } from './connections.js';
import { getLock } from './get-lock.js';

export default getLock(ON_MARIADB);

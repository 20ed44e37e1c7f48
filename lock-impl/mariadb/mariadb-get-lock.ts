/** MariaDB's `GET_LOCK`, on the primary (`sessionLock`). */
import { getLock } from './get-lock.js';

export default getLock({ name: 'mariadb-get-lock' });

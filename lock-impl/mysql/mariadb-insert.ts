/** `insertLock` on MariaDB. */
import { ON_MARIADB } from './connections.js';
import { insertLock } from './insert.js';

export default insertLock(ON_MARIADB);

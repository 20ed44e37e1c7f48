/** `mariadb-get-lock` on any server. */
import { ON_MARIADB } from './connections.js';
import { getLockAnywhere } from './get-lock.js';

export default getLockAnywhere(ON_MARIADB);

/** `mysql-get-lock` on any server. */
import { ON_MYSQL } from './connections.js';
import { getLockAnywhere } from './get-lock.js';

export default getLockAnywhere(ON_MYSQL);

/** `GET_LOCK` of MySQL, on the primary (`sessionLock`). */
import { ON_MYSQL } from './connections.js';
import { getLock } from './get-lock.js';

export default getLock(ON_MYSQL);

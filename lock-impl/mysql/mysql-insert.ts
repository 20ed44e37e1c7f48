/** `insertLock` on MySQL. */
import { ON_MYSQL } from './connections.js';
import { insertLock } from './insert.js';

export default insertLock(ON_MYSQL);

/**
 * Asks every node with ASKING, so that it is spared the second try after an ASK. On all days but one that changes nothing.
 *
 * While a slot moves, its new owner takes what is asked that way, and knows nothing of the keys that are still with the old
 * one: a lock that is held there is granted a second time. ASKING is for whom a node has sent (`ASK`), which it does only for
 * keys that it has not.
 */
import { askingFirst, redirectedLock } from './redirected-lock.js';

export default redirectedLock('broken/asking-always', askingFirst);

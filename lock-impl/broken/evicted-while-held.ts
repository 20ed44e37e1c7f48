/**
 * Keeps what it knows of its locks in a cache with little room, and drops the oldest entry whether its lock is held or not. The
 * idea is from spring-projects/spring-integration#11044.
 *
 * A client that holds one lock and takes another forgets to renew the first.
 */
import { renewalTable } from './renewal-table.js';

export default renewalTable('broken/evicted-while-held', { forgetsTheLost: true, room: 1 });

/**
 * Leaves a renewal that has ended in its table. The next lock of that name finds an entry there, and begins no renewal. The
 * idea is from redisson/redisson#3712 (and #2515).
 *
 * After one renewal that failed, that client never again keeps that lock for longer than a lease, and is told nothing.
 */
import { renewalTable } from './renewal-table.js';

export default renewalTable('broken/renewal-entry-left', { forgetsTheLost: false, room: Number.POSITIVE_INFINITY });

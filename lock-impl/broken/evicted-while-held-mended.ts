/** The twin of `evicted-while-held`: has room for whatever is held. */
import { renewalTable } from './renewal-table.js';

export default renewalTable('broken/evicted-while-held-mended', {
  forgetsTheLost: true,
  room: Number.POSITIVE_INFINITY,
});

/** The twin of `renewal-entry-left`: takes the entry out with the hold that was lost. */
import { renewalTable } from './renewal-table.js';

export default renewalTable('broken/renewal-entry-left-mended', {
  forgetsTheLost: true,
  room: Number.POSITIVE_INFINITY,
});

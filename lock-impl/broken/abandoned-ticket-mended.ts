/** The twin of `abandoned-ticket`: takes its ticket back when it gives up. */
import { ticketLock } from './ticket-lock.js';

export default ticketLock('broken/abandoned-ticket-mended', {});

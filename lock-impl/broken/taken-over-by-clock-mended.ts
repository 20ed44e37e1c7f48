/** The twin of `taken-over-by-clock`: only the clock of the server counts. */
import { clockedLock, SERVERS_TIME } from './clocked-lock.js';

export default clockedLock('broken/taken-over-by-clock-mended', SERVERS_TIME);

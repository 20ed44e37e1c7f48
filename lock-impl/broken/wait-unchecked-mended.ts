/** The twin of `wait-unchecked`: a grant that one of two replicas has not acknowledged is given back. */
import { acknowledgedLock } from './acknowledged-lock.js';

export default acknowledgedLock('broken/wait-unchecked-mended', 2);

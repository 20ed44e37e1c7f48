/** The twin of `cancelled-grant`: waits for the answer, and gives back what was granted. */
import { cancelledLock, takeBack } from './cancelled-lock.js';

export default cancelledLock('broken/cancelled-grant-mended', takeBack);

/** The twin of `cancelled-grant`: waits for the answer, and gives back what was granted, or may have been. */
import { cancelledLock, takeBack } from './cancelled-lock.js';

export default cancelledLock('broken/cancelled-grant-mended', takeBack);

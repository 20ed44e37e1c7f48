/** The twin of `renewed-after-giving-up`: gives back at once what nobody waits for any more. */
import { answerOf } from '../owned-key.js';
import { impatientLock } from './impatient-lock.js';

export default impatientLock('broken/renewed-after-giving-up-mended', (hold) => {
  void answerOf(hold.release() as Promise<boolean>);
});

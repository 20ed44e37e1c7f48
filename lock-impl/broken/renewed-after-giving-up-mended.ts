/**
 * The twin of `renewed-after-giving-up`: gives back at once what nobody waits for any more. It does not wait for the answer to know
 * whether there is something to give back: over a connection that is closed meanwhile none comes.
 */
import { answerOf, giveBack } from '../owned-key.js';
import { impatientLock } from './impatient-lock.js';

export default impatientLock('broken/renewed-after-giving-up-mended', {
  refused: (mine) => void answerOf(giveBack(mine)),
  granted: (hold) => void answerOf(hold.release() as Promise<boolean>),
});

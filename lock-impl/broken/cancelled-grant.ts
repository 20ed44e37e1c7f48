/**
 * Tells a caller that gives up that it was not granted, and forgets the command that is on its way. Where it is carried out
 * nobody knows that the lock is taken, and nobody gives it back: it stands in everybody's way for a lease. Libraries whose
 * `acquire` is raced against a timer are used so every day.
 */
import { cancelledLock } from './cancelled-lock.js';

export default cancelledLock('broken/cancelled-grant', async (_mine, answer) => {
  answer.catch(() => {});
});

/**
 * The twin of `permit-returned-twice`: the second return answers that the permit was not ours any more. A return that
 * failed is not repeated, as it may have been carried out: a permit too few, never one too many.
 */
import { guardedSemaphore } from './guarded-semaphore.js';

export default guardedSemaphore('broken/permit-returned-twice-mended', (giveBack) => {
  let returned = false;
  return async () => {
    if (returned) return false;
    returned = true;
    return giveBack();
  };
});

/**
 * The twin of `permit-returned-twice`: who returns it second is told that it was not ours any more. A return that failed is
 * not made again, as nobody knows whether it was carried out: a permit too few, never one too many.
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

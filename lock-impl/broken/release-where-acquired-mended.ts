/** The twin of `release-where-acquired`: gives back to all that were asked. */
import { everywhere, redlockFromParts } from './redlock-from-parts.js';
import { PATIENCE_MS } from './release-where-acquired.js';

export default redlockFromParts('broken/release-where-acquired-mended', {
  patienceMs: PATIENCE_MS,
  toGiveBack: everywhere,
});

/** The twin of `release-where-acquired`: gives back to all that were asked. */
import { everywhere, redlockFromParts } from './redlock-from-parts.js';

export default redlockFromParts('broken/release-where-acquired-mended', { toGiveBack: everywhere });

/** The twin of `wall-clock-validity`: a clock that cannot be set. */
import { monotonic, redlockFromParts } from './redlock-from-parts.js';

export default redlockFromParts('broken/wall-clock-validity-mended', { stopwatch: monotonic });

/** The twin of `wall-clock-validity`: a clock that nobody sets. */
import { monotonic, redlockFromParts } from './redlock-from-parts.js';

export default redlockFromParts('broken/wall-clock-validity-mended', { stopwatch: monotonic });

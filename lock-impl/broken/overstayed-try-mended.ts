/** The twin of `overstayed-try`: as many tries as fit into the wait. */
import { countedTries } from './counted-tries.js';

const PAUSE_MS = 20;

export default countedTries('broken/overstayed-try-mended', (waitMs) => ({
  count: 1 + Math.floor(waitMs / PAUSE_MS),
  pauseMs: PAUSE_MS,
}));

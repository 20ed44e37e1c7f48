/** The self-test: every canary with the torture that shows its mistake, and sound locks under faults that they must survive. */
export { sounds } from './sounds.js';
export type { Detection, Needs, SoundRun, Trial, Untold, WithNeeds } from './trial.js';
export { trials } from './trials.js';

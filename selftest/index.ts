/** The self-test: every canary with the torture that shows its mistake, and sound locks under faults that they must survive. */
export { sounds } from './sounds.js';
export type { Detection, Provocation, SoundRun, Trial, Untold } from './trial.js';
export { trials } from './trials.js';

/** What `import ... from 'lock-torture'` gives. */
export type { Duration, Settings } from '../../harness/vocabulary/settings.js';
export type { Blame, BlameName, CauseName, FailOn, ViolationClass } from '../../harness/vocabulary/verdict.js';
export {
  type AcquireOptions,
  defineLock,
  type LockClient,
  type LockDefinition,
  type LockHold,
  refused,
  type TopologyAccess,
  type TopologyDescription,
} from '../../lock-impl/define-lock.js';
export { defineConfig } from './define-config.js';
export { story } from './matchers.js';
export { type CallOptions, LockTortureError } from './tool.js';
export {
  check,
  type ScenarioOptions,
  type ScenarioResult,
  scenario,
  type TortureOptions,
  type TortureResult,
  torture,
} from './torture.js';

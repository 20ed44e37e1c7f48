/**
 * What a lock author imports: `import { defineLock } from 'lock-torture'`. Types, and two functions without any state.
 */
import type { LockDefinition } from '../harness/vocabulary/lock.js';

export type {
  AcquireOptions,
  LockClient,
  LockDefinition,
  LockHold,
  TopologyAccess,
} from '../harness/vocabulary/lock.js';
export type { TopologyDescription } from '../harness/vocabulary/topology.js';

/** Returns `definition` as it is; it is there so that an editor checks and completes what is written in it. */
export function defineLock(definition: LockDefinition): LockDefinition {
  return definition;
}

/**
 * An error to throw where an operation certainly did not happen, with the reason: `throw refused('no-quorum')`. From
 * `acquire` it says the same as returning null, only why; any other error means "cannot tell".
 */
export function refused(reason: string): Error {
  // Recognised by a registered symbol, because a lock may be bundled with its own copy of this module.
  return Object.assign(new Error(`refused: ${reason}`), { [Symbol.for('lock-torture.refused')]: reason });
}

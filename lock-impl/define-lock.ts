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

/** Where a definition carries the URL of its file. A registered symbol, because a lock may be bundled with its own copy of this module. */
const FILE = Symbol.for('lock-torture.file');

/**
 * Returns `definition` as it is; it is there so that an editor checks and completes what is written in it. Begun with
 * `import.meta` it carries its file, so that a test can give the lock itself to `torture()`: every client is a process of its own
 * that loads that file, whose default export it must be.
 */
export function defineLock(definition: LockDefinition): LockDefinition;
export function defineLock(place: { url: string }, definition: LockDefinition): LockDefinition;
export function defineLock(first: LockDefinition | { url: string }, second?: LockDefinition): LockDefinition {
  if (second === undefined) return first as LockDefinition;
  Object.defineProperty(second, FILE, { value: (first as { url: string }).url });
  return second;
}

/** The URL of the file that a definition carries; undefined: it carries none, or is none. */
export function fileOfLock(definition: unknown): string | undefined {
  if (typeof definition !== 'object' || definition === null) return undefined;
  const url = (definition as Record<symbol, unknown>)[FILE];
  return typeof url === 'string' ? url : undefined;
}

/**
 * An error to throw where an operation certainly did not happen, with the reason: `throw refused('no-quorum')`. From
 * `acquire` it says the same as returning null, only why; any other error means "cannot tell".
 */
export function refused(reason: string): Error {
  // Recognised by a registered symbol, because a lock may be bundled with its own copy of this module.
  return Object.assign(new Error(`refused: ${reason}`), { [Symbol.for('lock-torture.refused')]: reason });
}

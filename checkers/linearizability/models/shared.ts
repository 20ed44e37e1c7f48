/** Locks that several holds may have at once: reentrant (of one client), read-write and semaphore. */

import { MODE } from '../../../harness/record/history-table.js';
import type { LockModel } from '../../../harness/vocabulary/protocol.js';
import type { KeyHistory, Model } from '../types.js';
import { lockModel, type Rules } from './rules.js';

/** The acquires that hold, in ascending order: which of them was granted first makes no difference. */
type Held = readonly number[];

/** The owner may take it again, up to `depth` times at once; each release ends the hold that it names. */
export function reentrantModel(model: Extract<LockModel, { kind: 'reentrant' }>): Model<Held> {
  return sharedModel(
    model,
    (held, row, history) => held.length > 0 && (!isOwn(held[0]!, row, history) || held.length >= model.depth),
  );
}

/**
 * Readers share, writers exclude. A client may read under its own write lock, and keeps reading when it ends the write lock
 * first. It does not get to write under its own read lock: a second reader might wait for the same, and both for ever. Nor
 * to write twice at once: a read-write lock is not said to be reentrant.
 */
export function readWriteModel(): Model<Held> {
  return sharedModel({ kind: 'read-write' }, (held, row, history) => {
    if (!isRead(row, history)) return held.length > 0;
    return held.some((hold) => !isRead(hold, history) && !isOwn(hold, row, history));
  });
}

/** So many holds at once, no matter whose. */
export function semaphoreModel(model: Extract<LockModel, { kind: 'semaphore' }>): Model<Held> {
  return sharedModel(model, (held) => held.length >= model.permits);
}

function sharedModel(model: LockModel, refuses: Rules<Held>['refuses']): Model<Held> {
  return lockModel<Held>(model, {
    free: [],
    refuses,
    grant: (held, row) => [...held, row].sort((a, b) => a - b),
    end: (held, acquire) => (held.includes(acquire) ? held.filter((row) => row !== acquire) : undefined),
    holds: (held) => held,
    hash: (held) => held.join(' '),
  });
}

function isOwn(hold: number, row: number, { operations: { client } }: KeyHistory): boolean {
  return client[hold] === client[row];
}

function isRead(row: number, { operations: { mode } }: KeyHistory): boolean {
  return mode[row] === MODE.read;
}

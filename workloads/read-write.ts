/**
 * Readers share, writers do not. A writer may read under its own lock; a reader that wants to write must let go first: one
 * that tries all the same is refused, or it would write beside the other readers.
 *
 * A writer that reads goes on reading when it has stopped writing, where the lock promises that (feature `downgrade`). Any other lock is
 * given back in the reverse order.
 */
import type { LockMode } from '../harness/vocabulary/protocol.js';
import type { Workload } from '../harness/vocabulary/workload.js';
import { release, type Turn, turns, whilePromised, work } from './turns.js';

/** How many of ten turns read; the others write. */
const READERS_IN_TEN = 6;
/** How many of ten holds also take the lock in the other mode. */
const NESTED_IN_TEN = 3;
/** How many of ten writers that read as well stop writing first. */
const DOWNGRADES_IN_TEN = 5;

export const readWrite: Workload = {
  name: 'read-write',
  summary:
    'readers share and writers exclude; writers read under their lock or go on as readers, readers try to become writers',
  model: { kind: 'read-write' },
  needs: ['shared'],
  defaults: { lock: 'read-write', keys: 2 },
  script: (options, random, lock) =>
    turns(
      options,
      random,
      function* (granted, workMs, { key, mode }) {
        const halfMs = workMs() / 2;
        const held = yield* work(options, granted, halfMs);
        if (held && random.int(1, 10) <= NESTED_IN_TEN) {
          const other: LockMode = mode === 'read' ? 'write' : 'read';
          const holding = whilePromised(options, granted, lock, granted);
          const inner = yield { do: 'acquire', key, leaseMs: options.leaseMs, waitMs: 0, mode: other, ...holding };
          if (inner.type === 'ok') {
            const mayDowngrade = mode === 'write' && lock.features.includes('downgrade');
            if (mayDowngrade && random.int(1, 10) <= DOWNGRADES_IN_TEN) {
              yield* release(granted, whilePromised(options, inner, lock, inner));
              yield* work(options, inner, halfMs);
              return yield* release(inner);
            }
            yield* work(options, inner, halfMs);
            yield* release(inner);
          }
        }
        yield* release(granted);
      },
      (keys): Turn => ({ key: random.pick(keys), mode: random.int(1, 10) <= READERS_IN_TEN ? 'read' : 'write' }),
    ),
};

/** The owner takes its lock again, under the work that it does with it, up to a depth. */
import type { Workload } from '../harness/vocabulary/workload.js';
import { type Granted, openRun, release, type ScriptPart, turns, whilePromised, work } from './turns.js';

const DEPTH = 3;

export const reentrant: Workload = {
  name: 'reentrant',
  summary: `owners take their lock again, up to ${DEPTH} times, and let it go as often`,
  model: { kind: 'reentrant', depth: DEPTH },
  needs: ['reentrant'],
  defaults: { lock: 'reentrant' },
  opens: true,
  *script(options, random, lock) {
    yield* openRun(options, lock);
    yield* turns(options, random, function* (granted, workMs, { key }) {
      const wholeMs = workMs();
      const depth = random.int(1, DEPTH);
      const { leaseMs } = options;

      function* nested(outer: Granted, level: number): ScriptPart<void> {
        const held = yield* work(options, outer, wholeMs / depth);
        if (held && level < depth) {
          const holding = whilePromised(options, outer, lock, outer);
          const inner = yield { do: 'acquire', key, leaseMs, waitMs: 0, ...holding };
          if (inner.type === 'ok') yield* nested(inner, level + 1);
        }
        yield* release(outer);
      }
      yield* nested(granted, 1);
    });
  },
};

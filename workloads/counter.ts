/** A counter under the lock: read it, work, write back one more. What two do at once, one of them loses. */
import type { Workload } from '../harness/vocabulary/workload.js';
import { release, turns, work } from './turns.js';

export const counter: Workload = {
  name: 'counter',
  summary: 'clients add one to a counter that the lock protects: is an update lost?',
  habit: 'counts',
  model: { kind: 'mutex' },
  resource: true,
  script: (options, random) =>
    turns(options, random, function* (granted, workMs) {
      const read = yield { do: 'read', hold: granted.id };
      // Who does not know any more that it holds writes nothing.
      if (read.type === 'ok' && (yield* work(options, granted, workMs())))
        yield { do: 'write', hold: granted.id, value: read.value! + 1 };
      yield* release(granted);
    }),
};

/**
 * A resource that the holder writes at the beginning and at the end of its work, and that may look at fencing tokens. Clients
 * are stopped in between: one that sleeps through its lease writes when it wakes.
 */
import type { Workload } from '../harness/vocabulary/workload.js';
import { release, turns, work } from './turns.js';

export const fencedResource: Workload = {
  name: 'fenced-resource',
  summary: 'holders write to a resource that checks fencing tokens (--resource checking) or trusts (trusting)',
  // That two hold at once is what fencing is there to survive: what the resource took is what counts.
  habit: 'writes',
  model: { kind: 'fenced' },
  needs: ['fencing'],
  resource: true,
  defaults: { lock: 'fenced', nemesis: 'pause:holder', resource: 'checking' },
  script: (options, random) =>
    turns(options, random, function* (granted, workMs) {
      const { id } = granted;
      const read = yield { do: 'read', hold: id };
      if (read.type === 'ok') {
        const first = yield { do: 'write', hold: id, value: read.value! + 1 };
        const held = yield* work(options, granted, workMs());
        if (held && first.type === 'ok') yield { do: 'write', hold: id, value: read.value! + 2 };
      }
      yield* release(granted);
    }),
};

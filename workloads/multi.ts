/**
 * Transfers: a client takes the locks of two accounts, one after the other and in either order, counts the transfer on both,
 * and lets both go. Clients that wait for each other's second lock must not do so for ever, and no account may lose a count.
 */
import type { Workload } from '../harness/vocabulary/workload.js';
import { type Granted, release, type ScriptPart, turns, whilePromised, work } from './turns.js';

export const multi: Workload = {
  name: 'multi',
  summary: 'clients take two locks in opposite orders and count a transfer under both',
  habit: 'counts',
  model: { kind: 'mutex' },
  resource: true,
  leastKeys: 2,
  defaults: { keys: 3, waitMs: 500, hold: { min: 0.01, max: 0.3 } },
  script: (options, random, lock) =>
    turns(options, random, function* (first, workMs, { key }) {
      const { leaseMs, waitMs, keys } = options;
      const others = keys.filter((other) => other !== key);
      if (others.length > 0) {
        const holding = whilePromised(options, first, lock, first);
        const second = yield { do: 'acquire', key: random.pick(others), leaseMs, waitMs, ...holding };
        if (second.type === 'ok') {
          if (yield* work(options, first, workMs() / 2)) {
            yield* countOne(first);
            yield* countOne(second);
          }
          yield* release(second);
        }
      }
      yield* release(first);
    }),
};

function* countOne({ id }: Granted): ScriptPart<void> {
  const read = yield { do: 'read', hold: id };
  if (read.type === 'ok') yield { do: 'write', hold: id, value: read.value! + 1 };
}

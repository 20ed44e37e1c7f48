/**
 * Whether what stands under a key is there because a client asked for the lock: what one stored when it gave the lock back, say that
 * it is free, stands in nobody's way.
 *
 * Promises: said only where clients were seen to store it, each while it had asked for the key, and while it gave nothing back.
 */
import { ownersBy } from '../../harness/record/facts/commands/changes.js';
import { mayTakeEffectWithin } from '../../harness/record/facts/intervals.js';
import { ownerIs } from '../../harness/record/facts/key-writes.js';
import { OP } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import { acquiresOf, runKeyOf } from './asks.js';
import { wholeEvidenceOf } from './whole-evidence.js';

/** `stored`: as a sample shows it, or an owner. */
export function isStoredByAsking(key: string, stored: string, input: CheckInput): boolean {
  const evidence = wholeEvidenceOf(input);
  const keys = [...new Set([...input.config.keys, ...input.history.operations.keys])];
  const acquireAt = acquiresOf(input.history, key);
  const readings = (evidence?.nodes ?? []).flatMap((node) => evidence!.readingOf(node) ?? []);
  const stores = readings.flatMap((reading) =>
    [...reading.keys()]
      .filter((name) => runKeyOf(name, keys) === key)
      .flatMap((name) => reading.changes(name).list)
      .filter(({ by, after, line }) => by?.client && ownersBy(after, line).some((owner) => ownerIs(stored, owner))),
  );
  return (
    stores.length > 0 &&
    stores.every(({ by, ranFromNs, atNs }) => {
      const client = by!.client!;
      return acquireAt(client, atNs) !== undefined && !isReleasing(client, ranFromNs, atNs, input.history);
    })
  );
}

/** What is read late may have run in an operation before. */
function isReleasing(client: string, fromNs: number, untilNs: number, history: History): boolean {
  const { operations: ops } = history;
  const who = ops.clients.indexOf(client);
  for (let row = 0; row < ops.count; row++)
    if (ops.client[row] === who && ops.op[row] === OP.release && mayTakeEffectWithin(history, row, fromNs, untilNs))
      return true;
  return false;
}

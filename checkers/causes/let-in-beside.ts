/**
 * Whether one who was granted a key was let in beside a third one, who held it as well and of whom the key told: then it was let in
 * by nothing that the holder had lost.
 *
 * Example: c1 and c4 read, both in one hash. Somebody deletes c1's field. c2 is granted the hash to write, with c4's field in it: so
 * it would have been with c1's.
 *
 * Said of hashes, where whose a field is follows from who stored it, and of one who is to hold it beside nobody like that third one.
 */
import { partsOf, stores } from '../../harness/record/facts/commands/changes.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import type { Contest } from './contest.js';

export function wasLetInBeside({ earlier, later }: Contest, { history, model }: CheckInput): boolean {
  const { before, after } = later.write;
  const held = before && partsOf(before);
  if (held?.type !== 'hash' || !after || model.kind === 'semaphore') return false;
  const { clients, keys } = history.operations;
  const { key, mode, grantSentNs, fromNs } = later.hold;
  const thirds = new Set(
    [...held.parts].flatMap(([name, { there, by }]) =>
      there === 'yes' && stores(after, name) === 'yes' && by?.client !== undefined ? [clients.indexOf(by.client)] : [],
    ),
  );
  for (const { hold } of [earlier, later]) thirds.delete(clients.indexOf(hold.client));
  if (thirds.size === 0) return false;
  const holds = holdsOf(history);
  const isThen = (hold: Hold) => hold.fromNs < grantSentNs && hold.untilNs > fromNs && hold.leaseEndNs > fromNs;
  const isShared = (hold: Hold) => hold.mode === 'read' && mode === 'read';
  const place = keys.indexOf(key);
  // By numbers, for there may be a million.
  for (let k = 0; k < holds.count; k++)
    if (holds.key[k] === place && thirds.has(holds.client[k]!)) {
      const hold = holds.hold(k);
      if (isThen(hold) && !isShared(hold)) return true;
    }
  return false;
}

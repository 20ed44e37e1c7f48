/**
 * What clients read from and wrote to a resource that a lock protects: one for each key.
 *
 * The resource numbers the writes that it takes, and tells the number with every answer: that is its own order, which no
 * clock can blur. Whether it can be relied on is looked at (`disorderOf`), for a resource that lost its memory would make
 * every lock look harmful.
 */
import type { History } from '../../vocabulary/history.js';
import { OP, OUTCOME } from '../history-table.js';
import { byKey, sortedBy } from './by-key.js';
import { intervalsOf } from './intervals.js';
import { once } from './once.js';

/** For each key the rows of its reads and writes, whatever came of them, in the order of their invokes. */
export const accessesOf = once((history: History): readonly Int32Array[] => {
  const { operations: ops } = history;
  return byKey(ops.key, ops.count, ops.keys.length, (row) => ops.op[row] === OP.read || ops.op[row] === OP.write);
});

/** Of these rows the writes that were acknowledged. */
export function acknowledgedWrites({ operations: ops }: History, accesses: Int32Array): Int32Array {
  return accesses.filter((row) => ops.op[row] === OP.write && ops.outcome[row] === OUTCOME.ok);
}

/** Of these rows those that were answered with a version, in the resource's own order: a write before reads that found it. */
export function inOwnOrder({ operations: ops }: History, accesses: Int32Array): Int32Array {
  const answered = accesses.filter((row) => ops.outcome[row] === OUTCOME.ok && !Number.isNaN(ops.version[row]));
  return sortedBy(
    answered,
    (a, b) => ops.version[a]! - ops.version[b]! || ops.op[b]! - ops.op[a]! || ops.invokeLine[a]! - ops.invokeLine[b]!,
  );
}

/**
 * Why the versions that a resource gave cannot be its order, or undefined: a version that two writes got, one that was found
 * with two values, or an answer that was there before what comes earlier in that order was asked for.
 */
export function disorderOf(history: History, ordered: Int32Array): string | undefined {
  const { operations: ops } = history;
  const { callNs, returnNs } = intervalsOf(history);
  let [latestCallNs, ofThisVersionNs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < ordered.length; at++) {
    const row = ordered[at]!;
    const before = at > 0 ? ordered[at - 1]! : -1;
    const same = before >= 0 && ops.version[before] === ops.version[row];
    if (!same) {
      latestCallNs = Math.max(latestCallNs, ofThisVersionNs);
      ofThisVersionNs = Number.NEGATIVE_INFINITY;
    }
    // A read of a version comes after the write that made it; two reads of it come in any order.
    if (same && ops.op[before] === OP.write) latestCallNs = Math.max(latestCallNs, callNs[before]!);
    const twice = same && ops.op[row] === OP.write;
    const [valueBefore, value] = [ops.value[before]!, ops.value[row]!];
    const changed = same && (value < valueBefore || value > valueBefore); // of one that was not recorded nothing is asked
    if (twice || changed || returnNs[row]! < latestCallNs) {
      const name = `version ${ops.version[row]} of the resource of ${ops.keys[ops.key[row]!]}`;
      const lines = `history ${ops.completionLine[before]} and ${ops.completionLine[row]}`;
      if (twice) return `two writes got ${name} (${lines})`;
      if (changed) return `${name} was found with two values (${lines})`;
      return `${name} was answered before an earlier one was asked for (history ${ops.completionLine[row]})`;
    }
    ofThisVersionNs = Math.max(ofThisVersionNs, callNs[row]!);
  }
  return undefined;
}

/**
 * By which change of a number each holder of a shared lock was counted, and whether the number is of those that are out or of those
 * that are free. Said only of a grant that stored nothing else, on any server.
 */
import type { Change } from '../../harness/record/facts/commands/changes.js';
import { stateBy } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import type { CommandObservation } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import type { RelatedKeys } from './own-stores.js';
import { type Direction, numberIn } from './shared-accounts.js';
import { countsUp } from './token-counts.js';

/** What a client did to a key. */
export interface OwnChange {
  readonly hold: Hold;
  readonly node: string;
  readonly key: string;
  /** All that became of the key, and which of it that is. */
  readonly list: readonly Change[];
  readonly at: number;
}

/**
 * All that a holder's client did to keys of the lock, or may have, in the attempt that was granted; undefined: not all of these keys
 * are known, or not all that became of them meanwhile.
 */
export function changedBy(hold: Hold, evidence: Evidence, related: RelatedKeys): OwnChange[] | undefined {
  const found: OwnChange[] = [];
  for (const node of evidence.nodes) {
    const reading = evidence.readingOf(node);
    const keys = reading && related.of(hold.key, reading);
    if (!keys) return undefined;
    for (const key of keys) {
      const { list } = reading.changes(key);
      // What was read before the attempt left ran before it.
      for (let at = firstIndex(list.length, (n) => list[n]!.atNs >= hold.grantSentNs); at < list.length; at++) {
        const { how, by, applied, ranFromNs } = list[at]!;
        if (ranFromNs > hold.fromNs) break;
        if (how === 'gap') return undefined;
        if (applied !== 'no' && by?.client === hold.client) found.push({ hold, node, key, list, at });
      }
    }
  }
  return found;
}

/** The only change of a number by one that the client made in the attempt that was granted, in which it stored nothing else. */
export function countedBy(hold: Hold, evidence: Evidence, related: RelatedKeys): OwnChange | undefined {
  const found = changedBy(hold, evidence, related) ?? [];
  const [count, ...others] = found.filter(({ list, at }) => mayCount(list[at]!));
  if (!count || others.length > 0 || !isCount(count.list[count.at]!)) return undefined;
  // What it stored beside may be what the lock goes by.
  return found.every(({ node, key }) => node === count.node && key === count.key) ? count : undefined;
}

/**
 * Whether a command of the one who was granted may have told it what its grant found of the number: nobody else had changed that since,
 * and it was the same. Say c3 asks, c1 is counted, its number expires, and c3 takes what it had found before.
 */
export function tellsOf(
  left: Change['before'],
  { list, at }: Pick<OwnChange, 'list' | 'at'>,
  { client, grantSentNs }: Hold,
): (line: number, command: CommandObservation) => boolean {
  let last = at - 1;
  const isOwn = ({ by, atNs }: Change) => by?.client === client && atNs >= grantSentNs;
  while (last >= 0 && (list[last]!.how === 'expired' || isOwn(list[last]!))) last--;
  return (line, { serverWallMs: ms }) => {
    const before = list[firstIndex(list.length, (n) => list[n]!.line >= line) - 1];
    const found = stateBy(before?.after ?? list[0]!.before, { fromMs: ms, untilMs: ms });
    return (
      line > (list[last]?.line ?? -1) && found.exists === left.exists && Object.is(numberIn(found), numberIn(left))
    );
  };
}

/** A command that was read late may be of what the client did before: then there is another, of which it may not be known what it did. */
function mayCount(change: Change): boolean {
  const isUntold = Number.isNaN(numberIn(change.after) - numberIn(change.before));
  return isCount(change) || (isUntold && change.by?.name.includes('EXPIRE') === false);
}

/** Whether it certainly made the number one more or one less, or made it. */
function isCount({ before, after }: Change): boolean {
  if (after.exists !== 'yes') return false;
  return before.exists === 'no' ? !Number.isNaN(numberIn(after)) : Math.abs(numberIn(after) - numberIn(before)) === 1;
}

/**
 * Undefined: the grants do not agree, or none shows it. A number that a grant makes may say nothing, and then another grant does:
 * of one permit in two 1 is left and 1 is out.
 */
export function directionOf(
  holders: readonly OwnChange[],
  second: Hold,
  { history, model }: CheckInput,
  evidence: Evidence,
  related: RelatedKeys,
): Direction | undefined {
  const permits = model.kind === 'semaphore' ? model.permits : Number.NaN;
  const { node, key } = holders[0]!;
  const shown = ({ list, at }: OwnChange): Direction | undefined => {
    const change = list[at]!;
    const number = numberIn(change.after);
    if (change.before.exists === 'yes') return number > numberIn(change.before) ? 1 : -1;
    // `INCRBY n -1` makes one below nothing: it counts down, from what there is not.
    if ((countsUp(change) && number > 0) || (number === 1 && permits !== 2)) return 1;
    return number === permits - 1 && number !== 1 ? -1 : undefined;
  };
  const directions = new Set(holders.map(shown).filter((one) => one !== undefined));
  if (directions.size > 0) return directions.size === 1 ? [...directions][0] : undefined;
  const others = [second, ...holdsOf(history)];
  for (const hold of others) {
    const counted = hold.key === second.key ? countedBy(hold, evidence, related) : undefined;
    const direction = counted?.node === node && counted.key === key ? shown(counted) : undefined;
    if (direction !== undefined) return direction;
  }
  return undefined;
}

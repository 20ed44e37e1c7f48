/**
 * Who was counted in a number that is gone, and gave back to the next one, which had never counted it.
 *
 * Example: c4 takes a permit, and gives it back. Its DECR is on its way when the number expires; c1 takes the first permit of the
 * next number, and then the DECR comes there: c1 holds, and the number says that nobody does.
 *
 * What a client began to give back may have come to no number, where one that expired left none, and what came to the next one be of
 * something else that it took. So it must have sent one command alone about the number until it was told that it had given back.
 */
import type { Change } from '../../harness/record/facts/commands/changes.js';
import { stateBy } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { releasesAnsweredNs } from '../../harness/record/facts/releases-answered.js';
import type { CommandObservation } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import { countedBy, type OwnChange } from './counted-holds.js';
import type { RelatedKeys } from './own-stores.js';
import { type Count, countStep } from './shared-accounts.js';

/**
 * A holder whom the next number never counted: it was counted in the one before. It holds still, or it gave back since to the next
 * one, which so counts one less than hold.
 */
export interface Missing {
  readonly counted: OwnChange;
  /** How it gave back to the new one, if it did. */
  readonly back?: Change;
}

/**
 * Who held when a number was made, or was giving back, had been counted before, and gave back to it before the change `end`, and was
 * told so by `endNs`, when the grant was made that this is to explain.
 */
export function gaveBackLate(
  one: OwnChange,
  made: number,
  end: number,
  endNs: number,
  count: Count,
  { history, observations }: CheckInput,
  evidence: Evidence,
  related: RelatedKeys,
): Missing[] {
  const { list, node, key } = one;
  const { atNs: madeNs, ranFromNs } = list[made]!;
  const steps = list.slice(made, end);
  const holds = holdsOf(history);
  const answeredNs = releasesAnsweredNs(history);
  const found: Missing[] = [];
  for (let k = 0; k < holds.count; k++) {
    if (holds.fromNs[k]! > madeNs || answeredNs[k]! < ranFromNs || answeredNs[k]! > endNs) continue;
    const hold = holds.hold(k);
    if (hold.key !== one.hold.key || hold.endedBy !== 'release' || hold.released !== 'ok') continue;
    const mayGiveBack = (step: Change) =>
      step.by?.client === hold.client &&
      step.atNs >= hold.untilNs &&
      step.ranFromNs <= answeredNs[k]! &&
      countStep(step, count) === -1;
    const back = steps.find(mayGiveBack);
    const counted = back && countedBy(hold, evidence, related);
    if (!back || counted?.node !== node || counted.key !== key || counted.at >= made) continue;
    // Who had given back to the old one before gave back twice.
    const isOut = (step: Change) => step.by?.client === hold.client && countStep(step, count) < 0;
    if (list.slice(counted.at + 1, made).some(isOut)) continue;
    if (!isOnlyReturn(counted, answeredNs[k]!, count, observations)) continue;
    found.push({ counted, back });
  }
  return found;
}

/**
 * Whether one command alone of a client can have given back, of all that it may have sent from when it began to until it was told that
 * it had: any that may have found no number, or gave back to one.
 */
function isOnlyReturn(
  { hold, key, list, at }: OwnChange,
  answeredNs: number,
  count: Count,
  observations: CheckInput['observations'],
): boolean {
  const later = firstIndex(list.length, (n) => n > at && list[n]!.ranFromNs > answeredNs);
  const steps = list.slice(at, later);
  if (steps.slice(1).some(({ how }) => how === 'gap' || how === 'sample')) return false;
  const returns = new Set(
    steps.filter((step) => countStep(step, count) === -1).map(({ by }) => by?.script?.line ?? by?.line),
  );
  const mayHaveFoundNone = ({ serverWallMs: ms }: CommandObservation, line: number) => {
    const before = steps[firstIndex(steps.length, (n) => steps[n]!.line >= line) - 1]!;
    return stateBy(before.after, { fromMs: ms, untilMs: ms }).exists !== 'yes';
  };
  const end = list[later]?.line ?? observations.length;
  let mayBeIt = 0;
  for (let n = steps[0]!.line + 1; n < end; n++) {
    const seen = observations.line(n);
    if (seen?.type !== 'command' || seen.client !== hold.client || seen.atNs < hold.untilNs) continue;
    if (seen.argv.includes(key) && (returns.has(n) || mayHaveFoundNone(seen, n))) mayBeIt++;
  }
  return mayBeIt === 1;
}

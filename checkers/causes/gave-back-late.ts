/**
 * Who was counted in a number that is gone, and gave back to the next one, which had never counted it.
 *
 * Example: c4 takes a permit, and gives it back. Its DECR is on its way when the number expires; c1 takes the first permit of the
 * next number, and then the DECR comes there: c1 holds, and the number says that nobody does.
 *
 * What a client began to give back before the next number was there may have come to none. So it must have sent one command alone
 * about the number since, and that must have come to the next one.
 */
import type { Change } from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { releasesAnsweredNs } from '../../harness/record/facts/releases-answered.js';
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
 * told so by `endNs`.
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
    // What it began to give back before that number was there may have come to none, and this be of what it took before or since.
    if (hold.untilNs < madeNs && !isOnlyReturn(counted, back, observations)) continue;
    found.push({ counted, back });
  }
  return found;
}

/** Whether a change of a number was in the only command about it that a client can have sent since it began to give back. */
function isOnlyReturn(
  { hold, key, list, at }: OwnChange,
  { line }: Change,
  observations: CheckInput['observations'],
): boolean {
  const since = list.slice(at + 1).filter((change) => change.line <= line);
  if (since.some(({ how }) => how === 'gap' || how === 'sample')) return false;
  let sent = 0;
  for (let n = list[at]!.line + 1; n <= line; n++) {
    const seen = observations.line(n);
    if (seen?.type === 'command' && seen.client === hold.client && seen.atNs >= hold.untilNs && seen.argv.includes(key))
      sent++;
  }
  return sent === 1;
}

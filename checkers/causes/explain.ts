/**
 * Names the cause of an overlap, through a chain of evidence from what servers believed and what faults were in force; and
 * `unexplained` where no chain is complete. Something that merely happened at the same time is never blamed.
 *
 * Causes only ever explain: whether there was a violation is decided without them.
 */

import type { Evidence } from '../../harness/record/facts/evidence.js';
import { outermostHold } from '../../harness/record/facts/hold-order.js';
import { type Overlap, overlapsOf } from '../../harness/record/facts/overlaps.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseLink, Hold } from '../../harness/vocabulary/verdict.js';
import { adoptedStaleKey } from './adopted-stale-key.js';
import { askingUnasked } from './asking-unasked.js';
import { causeBetween } from './broken-hold.js';
import { type Contest, contestsOf, type Explanation, hasAsked, type Reason } from './contest.js';
import { counterBehind } from './counter-behind.js';
import { counterForgotten } from './counter-forgotten.js';
import { counterLost } from './counter-lost.js';
import { counterWentBack } from './counter-went-back.js';
import { evicted } from './evicted.js';
import { EvidenceWindows } from './evidence-windows.js';
import { expiredEarly } from './expired-early.js';
import { extendedByNothing } from './extended-by-nothing.js';
import { failoverLostWrite, splitBrain } from './failover.js';
import { grantForgotten } from './grant-forgotten.js';
import { grantedBeside } from './granted-beside.js';
import { grantedWhileDown } from './granted-while-down.js';
import { leasedLate } from './lease-end.js';
import { wasLetInBeside } from './let-in-beside.js';
import { lossIgnored } from './loss-ignored.js';
import { minorityGranted } from './minority-granted.js';
import { neverGranted } from './never-granted.js';
import { nodeForgot } from './node-forgot.js';
import { notRenewedThere, type Unrenewed, unrenewedSentences } from './not-renewed-there.js';
import { overwritten } from './overwritten.js';
import { goneLinkOf, ownRecordCause } from './own-record.js';
import { releasedByItself } from './released-by-itself.js';
import { releasedByOther } from './released-by-other.js';
import { failoverLostRenewal } from './renewal-lost.js';
import { scoredOut } from './scored-out.js';
import { sharedCount } from './shared-count.js';
import { shortenedByOther } from './shortened-by-other.js';
import { staleReasons } from './stale.js';
import { takenOverByClock } from './taken-over-by-clock.js';
import { tokenDrawnEarly } from './token-drawn-early.js';
import { unlessAcknowledged } from './unacknowledged.js';
import { unexplained } from './unexplained.js';

/**
 * Why a node that had granted one client granted another, in the order in which the explanations are tried.
 *
 * What a semaphore stores is no owner: two clients that write the same number of free permits have nothing in common; and several
 * may stand there beside each other.
 */
function reasonsFor(input: CheckInput): readonly Reason[] {
  const all: readonly Reason[] = [
    evicted,
    releasedByOther,
    nodeForgot(input),
    unlessAcknowledged(failoverLostWrite, 'earlier', input),
    unlessAcknowledged(splitBrain, 'later', input),
    failoverLostRenewal,
    shortenedByOther,
    expiredEarly,
    overwritten,
    askingUnasked,
    grantedBeside,
    releasedByItself(input),
    extendedByNothing(input),
    takenOverByClock(input),
  ];
  if (input.model.kind !== 'semaphore') return all;
  return all.filter((reason) => reason !== overwritten && reason !== grantedBeside);
}

/**
 * Explains overlaps, best given earliest first: what they were made of is read again for each that lies far from the last.
 * A nested hold is its client's by the one that it is nested in, which may need no grant of its own: where nothing explains
 * it, and that one broke exclusion with the same other hold, both have one reason. What was lost of an outer hold whose lease
 * was over when the nested one was granted says nothing of that grant.
 */
export function explainerOf(input: CheckInput): (overlap: Overlap) => Cause {
  const windows = new EvidenceWindows(input);
  const explain = (overlap: Overlap): Cause => {
    const causes: Cause[] = [];
    for (const one of heldBy(overlap)) {
      const cause = causeOf(one, windows.around(one), input);
      if (cause.name !== 'unexplained') return cause;
      causes.push(cause);
    }
    return causes[0]!;
  };
  return (overlap) => {
    const cause = explain(overlap);
    const outermost = cause.name === 'unexplained' ? outermostOf(overlap, input) : undefined;
    const outer = outermost && explain(outermost);
    return outer && outer.name !== 'unexplained' ? outer : cause;
  };
}

/**
 * The overlap as that of the last holder and each one of those who held then: had any permit of theirs not been lost, there would have
 * been none for it. It is the stale hold alone that is to be explained where leases had ended.
 */
function heldBy(overlap: Overlap): Overlap[] {
  const { first, others } = overlap;
  if (overlap.class === 'stale') return [overlap];
  const held = [first, ...others];
  return held.map((one) => ({ ...overlap, first: one, others: held.filter((other) => other !== one) }));
}

/** The overlap of the holds in which these two are nested, if exclusion was broken by them as well. */
function outermostOf(overlap: Overlap, { history, model }: CheckInput): Overlap | undefined {
  if (overlap.class !== 'exclusion') return undefined;
  const nested = [overlap.first, overlap.second];
  const outer = nested.map((hold) => outermostHold(history, hold));
  if (outer.every((hold, n) => hold === nested[n])) return undefined;
  if (outer.some((hold, n) => hold.leaseEndNs < nested[n]!.fromNs)) return undefined;
  return overlapsOf(outer, model).find((found) => found.class === 'exclusion');
}

/** Why the fencing token of the second hold, that was granted later, did not rise; the chain is what is known where no other is. */
export function tokenExplainerOf(input: CheckInput): (first: Hold, second: Hold, chain: () => CauseLink[]) => Cause {
  const windows = new EvidenceWindows(input);
  const lost = (overlap: Overlap) => {
    const evidence = windows.around(overlap);
    return counterLost(overlap, causeOf(overlap, evidence, input), evidence, input);
  };
  return (first, second, chain) =>
    tokenDrawnEarly(first, second, input) ??
    counterWentBack(first, second, input) ??
    counterForgotten(first, second, input) ??
    counterBehind(first, second, input) ??
    causeBetween(first, second, lost, chain);
}

/**
 * Whether a semaphore's grants are kept in a number. A grant that makes it stores "1", say, which is nobody's name: what becomes of the
 * number befalls all who hold, and the next one may have found a permit free without that (`shared-count.ts` tells).
 */
function isCounted({ first, second }: Overlap, evidence: Evidence, { model }: CheckInput): boolean {
  const grants = [first, second].flatMap((hold) => evidence.grantsOf(hold));
  return model.kind === 'semaphore' && grants.some(({ write: { value = '' } }) => /^-?\d+$/.test(value));
}

export function causeOf(overlap: Overlap, evidence: Evidence, input: CheckInput): Cause {
  const cause =
    overlap.class === 'stale'
      ? staleCause(overlap, evidence, input)
      : (minorityGranted(overlap, evidence, input) ??
        adoptedStaleKey(overlap, evidence, input) ??
        neverGranted(overlap, evidence, input) ??
        grantedWhileDown(overlap, evidence, input) ??
        (isCounted(overlap, evidence, input) ? undefined : brokenCause(overlap, evidence, input)) ??
        ownRecordCause(overlap, input) ??
        sharedCount(overlap, input) ??
        scoredOut(overlap, input) ??
        grantForgotten(overlap, evidence, input));
  return (
    cause ??
    unexplained(
      [overlap.first, overlap.second].map((hold) => ({
        atNs: hold.fromNs,
        text: `${hold.client} was granted ${hold.key}`,
        history: hold.evidence.at(1),
      })),
    )
  );
}

function staleCause(
  overlap: Extract<Overlap, { class: 'stale' }>,
  evidence: Evidence,
  input: CheckInput,
): Cause | undefined {
  const { stale } = overlap;
  const ignored = lossIgnored(overlap, input.history);
  const wasTold = ignored !== undefined && ignored.toldNs <= stale.leaseEndNs;
  const cause = (wasTold ? undefined : firstReason(stale, evidence, input)) ?? ignored?.cause;
  return cause && { ...cause, chain: withGone(cause.chain, stale, input) };
}

/** The first that holds whenever its lease ended, if its client does not say when that began. */
function firstReason(stale: Hold, evidence: Evidence, input: CheckInput): Cause | undefined {
  const late = leasedLate(stale, input.history);
  if (late && late.leaseEndNs >= late.untilNs) return undefined;
  for (const explain of staleReasons) {
    const cause = explain(stale, evidence, input);
    if (cause && (!late || explain(late, evidence, input))) return cause;
  }
  return undefined;
}

function withGone(chain: readonly CauseLink[], stale: Hold, input: CheckInput): CauseLink[] {
  return [...chain, ...goneLinkOf(stale, input)].sort((a, b) => a.atNs - b.atNs);
}

/**
 * Every node that may have granted both must be explained: two majorities share a node, and if one of those that they share
 * has no reason, that one is how it happened, whatever befell the others. Those that might let the first one's time run out are
 * too few without one that has a reason, which is the cause.
 */
function brokenCause(overlap: Overlap, evidence: Evidence, input: CheckInput): Cause | undefined {
  const tried = reasonsFor(input);
  const explanations: Explanation[] = [];
  const beside: Unrenewed[] = [];
  for (const contest of contestsOf(overlap, evidence)) {
    const around = contest.around ?? evidence;
    const explanation = explain(contest, around, tried, input);
    const unrenewed = explanation ? undefined : notRenewedThere(contest, around);
    if (explanation) explanations.push(explanation);
    else if (unrenewed) beside.push(unrenewed);
    else return undefined;
  }
  const [first] = explanations;
  if (!first) return undefined;
  const seen = new Set<string>();
  const chain = [...explanations, ...beside]
    .flatMap((one) => one.chain)
    .filter(({ text, atNs }) => !seen.has(`${atNs} ${text}`) && seen.add(`${atNs} ${text}`))
    .sort((a, b) => a.atNs - b.atNs);
  const sentence = [...explanations.map((one) => one.sentence), ...unrenewedSentences(beside)].join(' ');
  return { name: nameOf(explanations, overlap.second, evidence), sentence, chain };
}

/**
 * The first without whose nodes the later grant would have had no majority. Say three of five nodes were overwritten, and one
 * more had forgotten: the three were enough.
 */
function nameOf(explanations: readonly Explanation[], later: Hold, evidence: Evidence): string {
  const names = explanations.map(({ name }) => name);
  const granted = Math.max(evidence.grantsOf(later).filter(({ took }) => took !== false).length, names.length);
  const isNeeded = (name: string) =>
    granted - names.filter((one) => one === name).length < (evidence.majority ?? Number.POSITIVE_INFINITY);
  return names.find(isNeeded) ?? names[0]!;
}

/** They tell of a key that was there. */
const OF_WHAT_IS_THERE: readonly Reason[] = [overwritten, grantedBeside];

/** What became of a key has let in nobody who never asked for it, nor who was let in beside another one that it told of. */
function explain(
  contest: Contest,
  evidence: Evidence,
  tried: readonly Reason[],
  input: CheckInput,
): Explanation | undefined {
  const isByLoss = hasAsked(contest, evidence) && !wasLetInBeside(contest, input);
  for (const reason of tried) {
    if (!isByLoss && !OF_WHAT_IS_THERE.includes(reason)) continue;
    const explanation = reason(contest, evidence);
    if (explanation) return explanation;
  }
  return undefined;
}

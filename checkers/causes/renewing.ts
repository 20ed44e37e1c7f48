/**
 * Whether a hold was to be kept by renewing its lease, and when. A lock that renews by itself does so in its own time; of one that its
 * client extends that is known only of what it was asked to, for not every hold is extended to its end.
 */
import type { EffectSpan } from '../../harness/record/facts/effects.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { renewalPace } from '../../harness/record/facts/renewal-pace.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';

/** Whether the lock was to be kept by renewing: it says so, it did so, or the client tried to. */
export function renews(hold: Hold, evidence: Evidence, input: CheckInput): boolean {
  return (
    renewsByItself(hold, evidence, input) ||
    wasToExtend(hold, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, input.history)
  );
}

/** Whether the lock says that it renews by itself, or did so. */
export function renewsByItself(hold: Hold, evidence: Evidence, { history }: CheckInput): boolean {
  if (evidence.featuresOf(hold.client).includes('renews')) return true;
  return hold.evidence.some((at) => history.event(at)?.type === 'renewed');
}

/** Whether the client was told to extend its hold by the second instant, and had not answered before the first. */
export function wasToExtend({ evidence }: Hold, fromNs: number, untilNs: number, history: History): boolean {
  const events = evidence.map((at) => history.event(at));
  const answered = new Set<number>();
  for (const event of events)
    if (event && 'id' in event && event.type !== 'invoke' && event.atNs < fromNs) answered.add(event.id);
  return events.some(
    (event) => event?.type === 'invoke' && event.op === 'extend' && event.atNs <= untilNs && !answered.has(event.id),
  );
}

/**
 * Whether a stop kept the client from renewing: its lock would have by itself, it was told to meanwhile, or when it ran again, which is
 * what it does next if it should have before.
 */
export function wasKeptFromRenewing(span: EffectSpan, hold: Hold, evidence: Evidence, input: CheckInput): boolean {
  const { history } = input;
  const { earliestNs, fromNs } = span;
  if (wasToldIn(span, hold, history)) return true;
  if (fromNs > renewalDueNs(hold, input)) return false;
  return renewsByItself(hold, evidence, input) || wasToExtend(hold, earliestNs, Number.POSITIVE_INFINITY, history);
}

/** Whether the client was told to extend its hold while it was stopped, in time. */
function wasToldIn({ earliestNs }: EffectSpan, { evidence, leaseEndNs }: Hold, history: History): boolean {
  return evidence.some((at) => {
    const event = history.event(at);
    return event?.type === 'invoke' && event.op === 'extend' && event.atNs >= earliestNs && event.atNs <= leaseEndNs;
  });
}

/** Locks renew when a third of the lease is over, or half of it; one that had not by then need not have meant to. */
const LATEST_PACE = 0.5;

/** When a lock that renews as usual would have sent the renewal that never came; where none was ever seen, as late as locks do. */
export function renewalDueNs({ leaseEndNs, leaseMs }: Hold, { history }: CheckInput): number {
  return leaseEndNs - (1 - Math.min(1, renewalPace(history) ?? LATEST_PACE)) * leaseMs * 1e6;
}

/**
 * Whose mistake a violation is: by its cause (`descriptions.ts`), and by what kind of finding it is.
 *
 * Promises: the lock is blamed only where its mistake is proven. A checker says of a kind of finding that it is the lock's own
 * mistake where whatever else could have done it is left out, or shows in the servers' record. A client that slept past its
 * lease explains that it acted on, and not what its lock answered it then: where that is the finding, the lease is not blamed.
 */
import type { CheckInput, FindingKind, OwnMistake } from '../../harness/vocabulary/run.js';
import type { Blame, Violation } from '../../harness/vocabulary/verdict.js';
import { blameByCause, NOT_PROVEN } from './descriptions.js';
import { allLeasesHadEnded, serversKeptAll } from './kept.js';

/** `kind`: what the checker says of such findings. */
export function blameFor(violation: Violation, kind: FindingKind | undefined, input: CheckInput): Blame {
  const byCause = blameByCause(violation, input);
  const own = kind?.ownMistake;
  if (own === undefined) return isFencedOff(violation, byCause, input) ? NOT_PROVEN : byCause;
  if (byCause.on === 'lock') return byCause;
  if (isShown(own, violation, input)) return blameOnLock(own);
  return byCause.on === 'lease' ? NOT_PROVEN : byCause;
}

function isShown({ onlyIf, since }: OwnMistake, violation: Violation, input: CheckInput): boolean {
  if (onlyIf === undefined) return true;
  if (onlyIf === 'all leases had ended') return allLeasesHadEnded(violation, input);
  const fromNs = since === undefined ? Number.NEGATIVE_INFINITY : firstNs(since, violation, input);
  const span = { fromNs, untilNs: violation.untilNs };
  return serversKeptAll(input, span, onlyIf === 'servers kept all, by steady clocks');
}

function firstNs(since: 'its evidence' | 'its holds', { evidence, holds }: Violation, { history }: CheckInput): number {
  const times =
    since === 'its holds'
      ? holds.map(({ grantSentNs }) => grantSentNs)
      : evidence.map((line) => history.event(line)?.atNs ?? Number.NEGATIVE_INFINITY);
  return times.length > 0 ? Math.min(...times) : Number.NEGATIVE_INFINITY;
}

function blameOnLock({ theory, link }: OwnMistake): Blame {
  return { on: 'lock', theory, ...(link !== undefined && { link }) };
}

/** A resource that checks tokens refuses a client that slept, unless the tokens were worth nothing. */
function isFencedOff({ class: name }: Violation, { on }: Blame, { config }: CheckInput): boolean {
  return on === 'lease' && name === 'harm' && config.resource === 'checking';
}

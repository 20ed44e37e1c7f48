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
import { allLeasesHadEnded, serversKeptAll, type TimeSpan } from './kept.js';

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
  return serversKeptAll(input, spanOf(since, violation, input), onlyIf === 'servers kept all, by steady clocks');
}

/** For how long servers must have kept what they had. */
function spanOf(
  since: OwnMistake['since'],
  { evidence, holds, untilNs }: Violation,
  { history }: CheckInput,
): TimeSpan {
  const times = evidence.map((line) => history.event(line)?.atNs ?? Number.NEGATIVE_INFINITY);
  // What the first holder had was gone when the last one was granted the key, wherever it went: it cannot be there again by itself.
  if (since === 'its last hold') return { fromNs: holds.at(-1)!.grantSentNs, untilNs: Math.max(...times) };
  const fromNs = since === undefined || times.length === 0 ? Number.NEGATIVE_INFINITY : Math.min(...times);
  return { fromNs, untilNs };
}

function blameOnLock({ theory, link }: OwnMistake): Blame {
  return { on: 'lock', theory, ...(link !== undefined && { link }) };
}

/** A resource that checks tokens refuses a client that slept, unless the tokens were worth nothing. */
function isFencedOff({ class: name }: Violation, { on }: Blame, { config }: CheckInput): boolean {
  return on === 'lease' && name === 'harm' && config.resource === 'checking';
}

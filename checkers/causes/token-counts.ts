/** Where servers were seen to count up to a hold's fencing token, for its own client. */
import type { Change } from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import type { Observations } from '../../harness/vocabulary/history.js';
import type { CauseLink, Hold } from '../../harness/vocabulary/verdict.js';
import type { RelatedKeys } from './own-stores.js';

export const COUNTS_UP: ReadonlySet<string> = new Set(['INCR', 'INCRBY']);

/** A count that came to a hold's token. */
export interface Draw {
  readonly node: string;
  readonly key: string;
  readonly change: Change;
}

/**
 * All that came to the hold's token for its client; undefined: not all keys can be looked at, or it is not known what one of
 * its counts came to, on a server that was promoted, say.
 */
export function drawsOf(
  { key: resource, client, token }: Hold,
  evidence: Evidence,
  related: RelatedKeys,
): Draw[] | undefined {
  const draws: Draw[] = [];
  for (const node of evidence.nodes) {
    const reading = evidence.readingOf(node);
    const keys = reading ? related.of(resource, reading) : [];
    if (!reading || !keys) return undefined;
    for (const key of keys)
      for (const change of reading.changes(key).list) {
        if (change.by?.client !== client || !COUNTS_UP.has(change.by.name) || change.applied === 'no') continue;
        const count = countsUp(change) ? countIn(change.after) : undefined;
        if (count === undefined) return undefined;
        if (count === String(token)) draws.push({ node, key, change });
      }
  }
  return draws;
}

/**
 * The only count that the hold's client was seen to make within its attempt that was granted, whatever it came to. Of several (its next
 * attempt may have followed too soon to be told apart by clocks) the one that came to the hold's token, if all others certainly
 * came to something else. Undefined: it made none, or that cannot be told, or not all keys can be looked at.
 */
export function countFor(hold: Hold, evidence: Evidence, related: RelatedKeys): Draw | undefined {
  const counts: Draw[] = [];
  for (const node of evidence.nodes) {
    const reading = evidence.readingOf(node);
    const keys = reading ? related.of(hold.key, reading) : [];
    if (!reading || !keys) return undefined;
    for (const key of keys)
      for (const change of reading.changes(key).list) if (isCountFor(hold, change)) counts.push({ node, key, change });
  }
  if (counts.length === 1) return counts[0];
  const token = String(hold.token);
  const came = counts.map(({ change }) => countIn(change.after));
  const isItsAlone = !came.includes(undefined) && came.filter((count) => count === token).length === 1;
  return isItsAlone ? counts[came.indexOf(token)] : undefined;
}

/**
 * Whether a change is a count by the hold's client within its attempt that was granted. One of before may be read after that had left: it
 * was drawn early.
 */
function isCountFor({ client, grantSentNs, fromNs }: Hold, { by, atNs, ranFromNs }: Change): boolean {
  if (by?.client !== client || !COUNTS_UP.has(by.name) || atNs < grantSentNs) return false;
  return ranFromNs >= grantSentNs - 2 * RECKONING_NS && ranFromNs <= fromNs + RECKONING_NS;
}

/** Whether a count may have come to the hold's token: it is not known to have come to another number. */
export function mayBeToken({ after }: Change, { token }: Hold): boolean {
  const count = countIn(after);
  return count === undefined || count === String(token);
}

/** Whether a change of the counter is a count, or none that anybody made: a gap in what is known of it, and what ends one. */
export function onlyCounts({ how, by, line, before, applied }: Change, observations: Observations): boolean {
  // Also of a key of which nothing was known: it was there.
  if (how === 'evicted') return false;
  if (by !== undefined) return COUNTS_UP.has(by.name) && (by.name === 'INCR' || !countsDown(line, observations));
  // After a gap a key is there or not, and may have had an expiry that ran out.
  return applied === 'unknown' || before.exists === 'unknown';
}

/** Whether what was counted was less than nothing, as by `INCRBY counter -1`; of what is not known it may be. */
function countsDown(line: number, observations: Observations): boolean {
  const command = observations.line(line);
  return command?.type !== 'command' || !/^\d+$/.test(command.argv[2] ?? '');
}

/** Whether a command certainly counted up. */
export function countsUp({ by, applied }: Change): boolean {
  return by !== undefined && COUNTS_UP.has(by.name) && applied === 'yes';
}

/** What a counter stands at; undefined: not known, or it is none. */
export function countIn({ held }: Change['after']): string | undefined {
  return held?.type === 'string' ? held.value : undefined;
}

/** The link that shows a count. */
export function drawLink({ node, key, change: { atNs, line } }: Draw, { client, token }: Hold): CauseLink {
  return { atNs, text: `${node} counted ${key} up to ${token} for ${client}`, observation: line };
}

/** The link that shows a grant with its token. */
export function tokenLink({ client, key, token, fromNs, evidence }: Hold): CauseLink {
  return { atNs: fromNs, text: `${client} was granted ${key} with token ${token}`, history: evidence[1]! };
}

/**
 * Is what the servers were seen to do all there? Checkers that look for something in it find nothing in a file that is missing
 * or cut (a CI that keeps only small files, say), and must not take that for an answer.
 *
 * Excludes gaps that were recorded as such, while a server was dead, and histories that were not recorded by a run.
 */
import type { CheckInput } from '../../vocabulary/run.js';
import { count } from './words.js';

type Recorded = Pick<CheckInput, 'history' | 'observations'>;

/** What is missing, for people; undefined where nothing is. */
export function missingObservations({ history, observations }: Recorded): string | undefined {
  const closed = history.rare.findLast((event) => event.type === 'closed');
  if (closed) {
    const { observations: recorded } = closed;
    if (observations.length === recorded) return undefined;
    return `observations.jsonl is missing or cut: it has ${count(observations.length)} of the ${count(recorded)} lines that were recorded`;
  }
  // The first release did not count them; but every run that had servers and came to its end has samples of them.
  const deployed = history.rare.some((event) => event.type === 'deployment');
  const ended = history.rare.some((event) => event.type === 'phase' && event.phase === 'end');
  const sampled = observations.rare.some(([, { type }]) => type === 'sample' || type === 'role');
  return deployed && ended && !sampled
    ? 'observations.jsonl is missing or cut: it has no sample of any server'
    : undefined;
}

/**
 * Up to when what is not in the record did not happen, ns since the epoch: what was recorded of a run that was killed, or that
 * goes on, ends with its last line, and where lines are missing nobody knows which.
 */
export function recordedUntilNs(input: Recorded): number {
  if (missingObservations(input) !== undefined) return Number.NEGATIVE_INFINITY;
  const { history, observations } = input;
  const isClosed = history.rare.some(
    (event) => event.type === 'closed' || (event.type === 'phase' && event.phase === 'end'),
  );
  if (isClosed || !history.rare.some((event) => event.type === 'deployment')) return Number.POSITIVE_INFINITY;
  return observations.line(observations.length - 1)?.atNs ?? Number.NEGATIVE_INFINITY;
}

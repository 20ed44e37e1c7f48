/** What acquires were answered that were not granted, counted, in words. */
import { listed } from './words.js';

/** Beyond these there are too many to read. */
const MOST = 3;

/**
 * `answers`: how often each reason was given; of one that had no answer, ''. `isProgram`: it is a program that says what it answers, and
 * not a lock in JavaScript, which returns null.
 */
export function answersInWords(answers: ReadonlyMap<string, number>, isProgram: boolean): string {
  const sorted = [...answers].sort(([, a], [, b]) => b - a);
  const all = sorted.reduce((sum, [, count]) => sum + count, 0);
  const said = sorted.slice(0, MOST).map(([reason, count], n) => {
    const times = n === 0 ? `in ${count} of ${all} calls` : `in ${count}`;
    if (reason === '') return `did not answer ${times}`;
    return `${reason === 'held' && !isProgram ? 'returned null' : `answered "${reason}"`} ${times}`;
  });
  const more = sorted.slice(MOST).reduce((sum, [, count]) => sum + count, 0);
  return `acquire ${listed([...said, ...(more > 0 ? [`something else in ${more}`] : [])])}`;
}

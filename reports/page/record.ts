/** What is missing or odd in the record that a report was made from. */

import { durationOfMs, moment, plural } from '../../harness/record/facts/words.js';
import type { ReportInput } from '../input.js';

/** What the reader of a drawing must know of the record that it was made from; the verdict's own reasons are its own. */
export function recordNotes({ history, observations, holds, config }: ReportInput): string[] {
  const notes: string[] = [];
  if (history.torn)
    notes.push('The last line of the history was torn: the harness was ended while it wrote. That line is left out.');
  if (!history.rare.some((event) => event.type === 'phase' && event.phase === 'end'))
    notes.push('The history has no end of the run: what is shown is what was recorded until it stopped.');
  if (observations.length === 0)
    notes.push('Nothing was observed on the servers: why something happened can not be shown.');
  if (holds.count === 0) notes.push('No client ever held a lock.');
  const slots = new Set(history.rare.flatMap((event) => (event.type === 'client-up' ? [event.host] : [])));
  if (slots.size < config.clients)
    notes.push(`${plural(config.clients - slots.size, 'client')} of ${config.clients} never came up.`);
  for (const event of history.rare) {
    if (event.type !== 'disturbance') continue;
    const what = event.disturbance === 'harness-stall' ? 'The harness stalled' : 'The machine’s wall clock stepped';
    notes.push(`${what} by ${durationOfMs(event.ms)} at ${moment(event.beganNs)} (history line ${event.i}).`);
  }
  return notes;
}

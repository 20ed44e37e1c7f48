/** The moments of a sequence in lines below each other: where a message leaves and comes, and what is noted in between. */
import type { Entry } from './entry.js';
import type { Sequence } from './sequence.js';

/** Something that a line is about: a message that leaves, one that comes, or both where nothing happens in between; or a note. */
export interface Row {
  atNs: number;
  entry: Entry;
  /** Of a message. */
  shows?: 'whole' | 'leaves' | 'comes';
}

/** In the order of time; of what happens at one instant, what comes stands before what follows from it. */
export function linesOfTime({ entries }: Pick<Sequence, 'entries'>): Row[] {
  const moments = entries.flatMap((entry): Row[] => {
    if (entry.kind === 'note') return [{ atNs: entry.atNs, entry }];
    const leaves: Row = { atNs: entry.atNs, entry, shows: 'leaves' };
    const { arrivedNs } = entry.way;
    return arrivedNs === undefined ? [leaves] : [leaves, { atNs: arrivedNs, entry, shows: 'comes' }];
  });
  const rank = ({ shows, entry }: Row) => (shows === 'comes' ? 0 : entry.kind === 'note' ? 1 : 2);
  const sorted = moments.sort((a, b) => a.atNs - b.atNs || rank(a) - rank(b));
  const rows: Row[] = [];
  for (const row of sorted) {
    const before = rows.at(-1);
    if (row.shows === 'comes' && before?.shows === 'leaves' && before.entry === row.entry) before.shows = 'whole';
    else rows.push(row);
  }
  return rows;
}

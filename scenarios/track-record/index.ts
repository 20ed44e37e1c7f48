/** All bugs of the track record, by their names. What is not tried yet is an entry as well: it counts. */
import type { TrackRecordEntry } from './entry.js';
import { goEntries } from './go.js';
import { javaEntries } from './java.js';
import { javascriptEntries } from './javascript.js';
import { pythonEntries } from './python.js';

export type { BrokenProperty, PlayedAs, TrackRecordEntry } from './entry.js';
export { kinds } from './kinds.js';

export const trackRecord: readonly TrackRecordEntry[] = [
  ...javascriptEntries,
  ...pythonEntries,
  ...goEntries,
  ...javaEntries,
].toSorted((one, other) => (one.id < other.id ? -1 : 1));

/**
 * Histories that others recorded, as this project's `History`: Jepsen's `history.edn`, the same events as JSON, and a
 * `history.jsonl` of this project's own that has lost its run.
 *
 * It promises that every acquire and release by a client is in the history, in an order that is surely so, and that what
 * was left out (the nemesis, other operations) is counted and named. It does not judge; and it does not guess at what a
 * damaged file may have meant: that is a DamagedHistory with file and line.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import type { History } from '../../vocabulary/history.js';
import type { LockModel } from '../../vocabulary/protocol.js';
import { readHistory } from '../history.js';
import { DamagedHistory } from '../shapes.js';
import { EdnSyntax } from './edn.js';
import { EventColumns } from './event-columns.js';
import { forEachForm } from './forms.js';
import { JsonSyntax } from './json.js';
import { paired } from './pairing.js';
import { type LeftOut, recordedEvent } from './recorded-event.js';
import { recordedTimesOf } from './timeline.js';

export interface Place {
  /** From 1. */
  line: number;
  /** The recorder's own number for the event; undefined where it gave none. */
  index: number | undefined;
}

export interface Imported {
  history: History;
  format: 'edn' | 'json' | 'own';
  /** Where in the file the `i`-th event of the history stands. */
  place(i: number): Place;
  /** False: the history has no times, and durations mean nothing. */
  isMeasured: boolean;
  /** Granted acquires that came back with a whole number which nothing calls a token, and which was not taken for one. */
  bareTokens: number;
  /** What was done about the file, and what was left out, for people. */
  notes: string[];
}

export interface ImportOptions {
  /** What every acquire was granted for; undefined: not known. Of a history of this project's own it is known. */
  leaseMs?: number;
  /** What the user says the lock is; undefined: nothing. */
  model?: LockModel;
}

/** Rejects with DamagedHistory, or as the file system does. */
export async function importHistory(file: string, options: ImportOptions): Promise<Imported> {
  const format = formatOf(file);
  return format === 'own' ? importOwn(file) : importEvents(file, format, options);
}

// ------------------------------------------------------------------------------------------------------------- formats

const HEAD_BYTES = 4096;

/** By the file's beginning: endings of names lie. */
function formatOf(file: string): Imported['format'] {
  const head = headOf(file);
  if (/^\s*\{\s*"i"\s*:\s*0\s*,[^\n]*"type"\s*:\s*"run"/.test(head)) return 'own';
  // JSON's keys are strings and end with a colon; EDN's may be strings, but no colon follows them.
  return /^[\s[]*(?:\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\}))/.test(head) ? 'json' : 'edn';
}

function headOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(HEAD_BYTES);
    const text = buffer.toString('utf8', 0, readSync(file, buffer, 0, HEAD_BYTES, 0));
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  } finally {
    closeSync(file);
  }
}

async function importOwn(file: string): Promise<Imported> {
  const history = await readHistory(file);
  const notes = history.torn ? ['the last line was torn, and is left out'] : [];
  return {
    history,
    format: 'own',
    place: (i) => ({ line: i + 1, index: undefined }),
    isMeasured: true,
    bareTokens: 0,
    notes,
  };
}

function importEvents(file: string, format: 'edn' | 'json', { leaseMs, model }: ImportOptions): Imported {
  const events = new EventColumns();
  const leftOut = new LeftOutCounts();
  forEachForm(file, format === 'edn' ? new EdnSyntax() : new JsonSyntax(), (form, line) => {
    const event = recordedEvent(form);
    if (typeof event === 'string') throw new DamagedHistory(file, line, event);
    if ('leftOut' in event) leftOut.add(event);
    else events.add(event, line);
  });
  if (events.count === 0) throw new DamagedHistory(file, 1, nothingIn(basename(file), leftOut));
  const timeline = recordedTimesOf(events, file);
  const { history, bareTokens, notes } = paired(events, timeline, file, {
    // A lease is a duration.
    leaseMs: timeline.isMeasured ? leaseMs : undefined,
    bareTokens: model?.kind === 'fenced',
  });
  return {
    history,
    format,
    place: placesOf(events, timeline.order),
    isMeasured: timeline.isMeasured,
    bareTokens: model?.kind === 'fenced' ? 0 : bareTokens,
    notes: [...timeline.notes, ...notes, ...leftOut.notes()],
  };
}

/** Of all columns only these two are kept. */
function placesOf({ column: { line, index } }: EventColumns, order: Int32Array | undefined): Imported['place'] {
  return (i) => {
    const row = order?.[i] ?? i;
    return { line: line.at(row), index: index.at(row) >= 0 ? index.at(row) : undefined };
  };
}

function nothingIn(name: string, leftOut: LeftOutCounts): string {
  const found = leftOut.notes();
  return `no acquire or release of a client in ${name}${found.length === 0 ? '' : `; ${found.join('; ')}`}`;
}

/** How many events were left out, by name. */
class LeftOutCounts {
  private readonly counts = new Map<LeftOut['leftOut'], Map<string, number>>();

  add({ leftOut, name }: LeftOut): void {
    const names = this.counts.get(leftOut) ?? new Map<string, number>();
    this.counts.set(leftOut, names);
    const known = names.has(name) || names.size < 100 ? name : 'others';
    names.set(known, (names.get(known) ?? 0) + 1);
  }

  notes(): string[] {
    return [...this.counts].map(([why, names]) => {
      const total = [...names.values()].reduce((sum, count) => sum + count, 0);
      const shown = [...names.keys()].slice(0, 5).join(', ') + (names.size > 5 ? ', …' : '');
      return `left out: ${total} ${total === 1 ? 'event' : 'events'} ${WHY_LEFT_OUT[why]} (${shown})`;
    });
  }
}

const WHY_LEFT_OUT: Record<LeftOut['leftOut'], string> = {
  'not a client': 'not by a client',
  'not a lock operation': 'of other operations',
};

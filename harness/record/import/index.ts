/**
 * Histories that others recorded, as this project's `History`: Jepsen's `history.edn`, the same events as JSON, and a
 * `history.jsonl` of this project's own that has lost its run.
 *
 * It promises that every acquire and release by a client is in the history, in an order that is surely so, and that what
 * was left out (the nemesis, other operations) is counted and named. It does not judge; and it does not guess at what a
 * damaged file may have meant: that is a DamagedHistory with file and line.
 */
import { basename } from 'node:path';
import type { History } from '../../vocabulary/history.js';
import type { LockModel } from '../../vocabulary/protocol.js';
import { readHistory } from '../history.js';
import { DamagedHistory } from '../shapes.js';
import { type Conventions, fieldOf, OWNER_FIELDS, wordOf } from './conventions.js';
import { EdnSyntax } from './edn.js';
import { EventColumns } from './event-columns.js';
import { forEachForm } from './forms.js';
import { JsonSyntax } from './json.js';
import { paired } from './pairing.js';
import { type LeftOut, type RecordedEvent, recordedEvent } from './recorded-event.js';
import { type Source, sourceOf } from './source.js';
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
  /** Whether a field names the owners, who may be several processes each. */
  hasOwners: boolean;
  /** What may be a convention that was not followed, as nobody said so. */
  unread: Readonly<UnreadConventions>;
  /** What was done about the file, and what was left out, for people. */
  notes: string[];
}

export interface UnreadConventions {
  /** Where no field names the lock: the plain values that acquires were invoked with, if they are few and come again. */
  values: string[];
  /** Fields that may name an owner which is not the process. */
  owners: string[];
}

export interface ImportOptions extends Conventions {
  /** What every acquire was granted for; undefined: not known. Of a history of this project's own it is known. */
  leaseMs?: number;
  /** What the user says the lock is; undefined: nothing. */
  model?: LockModel;
  /** The file may have been cut off: what is not whole at its end is left out. */
  torn?: boolean;
}

/** Rejects with DamagedHistory, or as the file system does. */
export async function importHistory(file: string, options: ImportOptions): Promise<Imported> {
  const source = sourceOf(file, options.torn ?? false);
  const format = formatOf(source.head);
  return format === 'own' ? importOwn(source) : importEvents(source, format, options);
}

// ------------------------------------------------------------------------------------------------------------- formats

/** By the text's beginning: endings of names lie. */
function formatOf(head: string): Imported['format'] {
  if (/^\s*\{\s*"i"\s*:\s*0\s*,[^\n]*"type"\s*:\s*"run"/.test(head)) return 'own';
  // JSON's keys are strings and end with a colon; EDN's may be strings, but no colon follows them.
  return /^[\s[]*(?:\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\}))/.test(head) ? 'json' : 'edn';
}

/** How many characters stand before the vector of a map that holds the history, `{"history": […]}`; undefined: it is none. */
function wrapperOf(head: string): number | undefined {
  const [before] = /^\s*\{[^[(]*?(?:"history"\s*:|:history\s)\s*(?=[[(])/.exec(head) ?? [];
  return before === undefined || /"?\bprocess\b/.test(before) ? undefined : before.length;
}

async function importOwn(source: Source): Promise<Imported> {
  if (source.unpacked)
    throw new DamagedHistory(source.path, 1, 'a packed history of a run of our own: unpack it first');
  const history = await readHistory(source.path);
  const notes = history.torn ? ['the last line was torn, and is left out'] : [];
  return {
    history,
    format: 'own',
    place: (i) => ({ line: i + 1, index: undefined }),
    isMeasured: true,
    bareTokens: 0,
    hasOwners: false,
    unread: { values: [], owners: [] },
    notes,
  };
}

function importEvents(source: Source, format: 'edn' | 'json', options: ImportOptions): Imported {
  const { path } = source;
  const { leaseMs, model, owner, torn = false } = options;
  const events = new EventColumns();
  const leftOut = new LeftOutCounts();
  const unread = new Unread(options);
  const wrapper = wrapperOf(source.head);
  const notes: string[] = wrapper === undefined ? [] : ['only the history of the map in the file is read'];
  let isFirst = true;
  const visit = (form: unknown, line: number) => {
    const head = isFirst ? headerOf(form) : undefined;
    isFirst = false;
    if (head === 'verdict')
      throw new DamagedHistory(path, line, "this is Jepsen's results.edn, a verdict: give history.edn beside it");
    if (head !== undefined) {
      notes.push(`the first form is no event, and is left out as metadata (${head})`);
      return;
    }
    const event = recordedEvent(form, options);
    if (typeof event === 'string') throw new DamagedHistory(path, line, event);
    if ('leftOut' in event) {
      leftOut.add(event);
    } else {
      events.add(event, line);
      unread.add(event, form);
    }
  };
  const syntax = format === 'edn' ? new EdnSyntax() : new JsonSyntax();
  const tornLine = forEachForm(source, syntax, visit, { torn, ...(wrapper === undefined ? {} : { wrapper }) });
  if (tornLine !== undefined) notes.push(`what begins on line ${tornLine} is not whole, and is left out`);
  if (events.count === 0) throw new DamagedHistory(path, 1, nothingIn(basename(path), leftOut));
  const timeline = recordedTimesOf(events, path);
  const {
    history,
    bareTokens,
    notes: ofPairs,
  } = paired(events, timeline, path, {
    // A lease is a duration.
    leaseMs: timeline.isMeasured ? leaseMs : undefined,
    bareTokens: model?.kind === 'fenced',
    owner,
  });
  return {
    history,
    format,
    place: placesOf(events, timeline.order),
    isMeasured: timeline.isMeasured,
    bareTokens: model?.kind === 'fenced' ? 0 : bareTokens,
    hasOwners: owner !== undefined,
    unread: unread.found(),
    notes: [...notes, ...timeline.notes, ...ofPairs, ...leftOut.notes()],
  };
}

/** What the first form is if it is no event: Jepsen's `verdict`, or the names of a map's fields; undefined: it may be one. */
function headerOf(form: unknown): string | undefined {
  if (typeof form !== 'object' || form === null || Array.isArray(form)) return undefined;
  const fields = Object.keys(form);
  if (['type', 'f', 'process'].some((field) => fields.includes(field))) return undefined;
  if (fields.includes('valid?')) return 'verdict';
  return fields.length === 0 ? undefined : fields.slice(0, 5).join(', ') + (fields.length > 5 ? ', …' : '');
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

/** Looks for what a user might have to say of the history, and has not. */
class Unread {
  private readonly values = new Set<string>();
  private readonly owners = new Set<string>();
  private events = 0;
  private acquires = 0;
  private hasKeys = false;

  constructor(private readonly said: Conventions) {}

  add(event: RecordedEvent, form: unknown): void {
    if (event.key !== undefined) this.hasKeys = true;
    if (this.said.owner === undefined && this.events++ < EVENTS_LOOKED_AT)
      for (const field of OWNER_FIELDS) if (!this.owners.has(field) && isNameIn(form, field)) this.owners.add(field);
    if (event.op !== 'acquire' || event.type !== 'invoke') return;
    this.acquires++;
    const value = fieldOf(form, 'value');
    const isPlain = typeof value === 'string' || typeof value === 'number';
    if (isPlain && this.values.size <= VALUES_MAX) this.values.add(wordOf(value));
  }

  found(): UnreadConventions {
    const { size } = this.values;
    const areNames = !this.hasKeys && size > 1 && size <= VALUES_MAX && 2 * size <= this.acquires;
    return { values: areNames ? [...this.values] : [], owners: [...this.owners] };
  }
}

/** A field that names owners is in the first operations already. */
const EVENTS_LOOKED_AT = 1_000;
/** More different values than that are of the operations themselves (Hazelcast gives each a random one). */
const VALUES_MAX = 1_000;

/** Whether the field holds a name. A `client` that stands for the process is none. */
function isNameIn(form: unknown, field: string): boolean {
  const value = fieldOf(form, field);
  if (field === 'client' && (form as { process?: unknown }).process === undefined) return false;
  return typeof value === 'string' || typeof value === 'number';
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

/**
 * Puts recorded events in order and gives each its time. What counts is what surely came before what:
 *
 * - Where every event has an `:index`, that is the order: Jepsen appends an invoke before the operation starts and a
 *   completion after it ended, one event after another. A `:time` is taken a little before its event is appended, so threads
 *   can pass one another in between, and a later index has an earlier time:
 *
 *       {:index 4, :type :fail,   :process 4, :time 585400396}
 *       {:index 5, :type :invoke, :process 0, :time 584353142}    ; started after 585400396: index 4 was there already
 *
 *   So each event's time is that of the event before it at least (and a nanosecond more, so that the order stays). It is
 *   still no later than the operation's start, and no earlier than its end.
 * - Else the times are the order, and events with equal times count as concurrent.
 * - Without times, places are: the n-th event is given n milliseconds. Durations mean nothing then.
 */
import type { Column } from '../columns.js';
import { DamagedHistory } from '../shapes.js';
import type { EventColumns } from './event-columns.js';

export interface RecordedTimes {
  /** Rows of the columns in order; undefined: as they stand. */
  order: Int32Array | undefined;
  /** By row. */
  atNs: Float64Array;
  /** False: durations mean nothing. */
  isMeasured: boolean;
  /** What was done about the recorded times, for people. */
  notes: string[];
}

const NS_PER_MS = 1e6;
/** Eleven days: beyond, the times are no run's own, and numbers begin to lose nanoseconds. */
const OWN_TIMES_NS_MAX = 1e15;
/** Threads pass one another by less. A clock that was set back by more has made every later time a guess. */
const MOVED_NS_MAX = 100 * NS_PER_MS;

/** Throws DamagedHistory where the file contradicts itself. */
export function recordedTimesOf(events: EventColumns, file: string): RecordedTimes {
  const isIndexed = events.withoutIndex === 0;
  if (events.withoutTime === events.count) return placesOf(events, isIndexed, file, 'no event has a :time');
  if (events.withoutTime > 0) throw withoutTime(events, file);
  if (isIndexed) return byIndex(events, file);
  return allEqual(events) ? placesOf(events, false, file, 'all events have the same :time') : byTime(events);
}

function withoutTime(events: EventColumns, file: string): DamagedHistory {
  let row = 0;
  while (!Number.isNaN(events.column.timeNs.at(row))) row++;
  return new DamagedHistory(file, events.column.line.at(row), 'an event without :time, where others have one');
}

// ----------------------------------------------------------------------------------------------------------- by index

function byIndex(events: EventColumns, file: string): RecordedTimes {
  const order = orderBy(events, events.column.index);
  const atNs = new Float64Array(events.count);
  const originNs = originOf(events);
  let [previous, previousNs, moved, movedNs] = [-1, Number.NEGATIVE_INFINITY, 0, 0];
  for (let place = 0; place < events.count; place++) {
    const row = order?.[place] ?? place;
    if (events.column.index.at(row) === previous) throw repeatedIndex(events, row, file);
    const ownNs = events.column.timeNs.at(row) - originNs;
    if (ownNs < previousNs) {
      moved++;
      movedNs = Math.max(movedNs, previousNs - ownNs);
    }
    previousNs = Math.max(ownNs, previousNs + 1);
    previous = events.column.index.at(row);
    atNs[row] = previousNs;
  }
  const notes = originNote(originNs);
  if (order) notes.push('the events do not stand in the order of their :index; they were put in it');
  if (movedNs > NS_PER_MS / 1000) {
    const by = `by up to ${(movedNs / NS_PER_MS).toFixed(3)} ms`;
    notes.push(`${moved} events have an earlier :time than the event before them (${by}): their :index is the order`);
  }
  const isMeasured = movedNs <= MOVED_NS_MAX;
  if (!isMeasured) notes.push('so the times say no duration');
  return { order, atNs, isMeasured, notes };
}

function repeatedIndex(events: EventColumns, row: number, file: string): DamagedHistory {
  const index = events.column.index.at(row);
  return new DamagedHistory(
    file,
    events.column.line.at(row),
    `a second event with :index ${index} (are these two histories?)`,
  );
}

// ------------------------------------------------------------------------------------------------------------ by time

function byTime(events: EventColumns): RecordedTimes {
  const order = orderBy(events, events.column.timeNs);
  const originNs = originOf(events);
  const atNs = Float64Array.from({ length: events.count }, (_, row) => events.column.timeNs.at(row) - originNs);
  const notes = originNote(originNs);
  if (order) notes.push('the events do not stand in the order of their :time; they were put in it');
  let equal = 0;
  for (let place = 1; place < events.count; place++)
    if (atNs[order?.[place] ?? place] === atNs[order?.[place - 1] ?? place - 1]) equal++;
  if (equal > 0.01 * events.count)
    notes.push(`${equal} of ${events.count} events have the same :time as another, and count as concurrent with it`);
  return { order, atNs, isMeasured: true, notes };
}

function allEqual(events: EventColumns): boolean {
  for (let row = 1; row < events.count; row++)
    if (events.column.timeNs.at(row) !== events.column.timeNs.at(0)) return false;
  return events.count > 1;
}

// ----------------------------------------------------------------------------------------------------------- by place

function placesOf(events: EventColumns, isIndexed: boolean, file: string, why: string): RecordedTimes {
  const order = isIndexed ? orderBy(events, events.column.index) : undefined;
  const atNs = new Float64Array(events.count);
  let previous = -1;
  for (let place = 0; place < events.count; place++) {
    const row = order?.[place] ?? place;
    if (isIndexed && events.column.index.at(row) === previous) throw repeatedIndex(events, row, file);
    previous = events.column.index.at(row);
    atNs[row] = (isIndexed ? previous : row) * NS_PER_MS;
  }
  const places = isIndexed ? 'their :index is the order' : 'their order in the file is taken';
  const note = `${why}: ${places}, a millisecond each, so that seconds mean no duration`;
  return { order, atNs, isMeasured: false, notes: [note] };
}

// -------------------------------------------------------------------------------------------------------------- shared

/** Rows by what the column holds, equal ones as they stand; undefined where all do. */
function orderBy(events: EventColumns, column: Column<Int32Array> | Column<Float64Array>): Int32Array | undefined {
  let isSorted = true;
  for (let row = 1; row < events.count && isSorted; row++) isSorted = column.at(row - 1) <= column.at(row);
  if (isSorted) return undefined;
  const order = Int32Array.from({ length: events.count }, (_, row) => row);
  return order.sort((a, b) => column.at(a) - column.at(b) || a - b);
}

/** What is taken from every time: the first one, where times are counted from some event before the run. */
function originOf(events: EventColumns): number {
  let firstNs = Number.POSITIVE_INFINITY;
  for (let row = 0; row < events.count; row++) firstNs = Math.min(firstNs, events.column.timeNs.at(row));
  return firstNs < 0 || firstNs > OWN_TIMES_NS_MAX ? firstNs : 0;
}

function originNote(originNs: number): string[] {
  return originNs === 0 ? [] : [`times are counted from the first event, whose :time is ${originNs}`];
}

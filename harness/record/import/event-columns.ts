/** The recorded events in columns, some 50 bytes each, as they stand in the file: what is needed until they are in order. */
import { Columns, coded, type FieldMap, indexes, numbers, texts } from '../column-table.js';
import { MODE, OP } from '../history-columns.js';
import type { RecordedEvent } from './recorded-event.js';

export const TYPE = { invoke: 0, ok: 1, fail: 2, info: 3 } as const satisfies Record<RecordedEvent['type'], number>;

const EVENT_COLUMNS = {
  type: coded(TYPE),
  op: coded(OP),
  mode: coded(MODE, MODE.exclusive),
  process: texts('processes'),
  owner: texts('owners'),
  key: texts('keys'),
  reason: texts('reasons'),
  line: indexes,
  index: indexes,
  timeNs: numbers,
  token: numbers,
  bareValue: numbers,
} as const;

/** `line` is the file's own, not the event's. */
const EVENT_FIELDS = {
  type: 'type',
  op: 'op',
  mode: 'mode',
  process: 'process',
  owner: 'owner',
  key: 'key',
  reason: 'reason',
  index: 'index',
  timeNs: 'timeNs',
  token: 'token',
  bareValue: 'bareValue',
} as const satisfies FieldMap<keyof RecordedEvent, typeof EVENT_COLUMNS>;

export class EventColumns extends Columns<typeof EVENT_COLUMNS> {
  private readonly fill = this.filler<RecordedEvent>(EVENT_FIELDS);
  /** How many events have no time, and how many no index. */
  withoutTime = 0;
  withoutIndex = 0;

  constructor() {
    super(EVENT_COLUMNS);
  }

  add(event: RecordedEvent, line: number): void {
    const row = this.count++;
    this.fill(row, event);
    this.column.line.set(row, line);
    if (event.index === undefined) this.withoutIndex++;
    if (event.timeNs === undefined) this.withoutTime++;
  }
}

/**
 * A history in memory, in columns (`history-columns.ts`): some 110 bytes an operation, where two event objects would take 700.
 *
 * It promises that `event(i)` gives back what was added, field by field, as far as the vocabulary names the field. It checks
 * only what it stands on (lines in order, a completion after its invoke); that the rest is sound is up to the reader of the file.
 */

import type { History, HistoryEvent, Notices, Operations, OpName, RareEvent } from '../vocabulary/history.js';
import { Columns, extractor, wordsOf } from './column-table.js';
import { Column, RowByNumber, Unused } from './columns.js';
import {
  COMMON_FIELDS,
  COMPLETION_FIELDS,
  type CompletionEvent,
  INVOKE_FIELDS,
  type InvokeEvent,
  NOTICE,
  NOTICE_COLUMNS,
  NOTICE_FIELDS,
  type NoticeEvent,
  OP,
  OPERATION_COLUMNS,
} from './history-columns.js';

export { MODE, NOTICE, OP, OUTCOME } from './history-columns.js';

const OP_NAMES = wordsOf(OP);

/** The history that these events are. `torn`: see `History`. */
export function historyOf(events: Iterable<HistoryEvent>, torn = false): History {
  const table = new HistoryTable();
  for (const event of events) table.add(event);
  return table.finish(torn);
}

/** Takes events in order, one by one; `finish` gives the history. */
export class HistoryTable {
  private readonly ops = new OperationColumns();
  private readonly notices = new NoticeColumns();
  private readonly rare: RareEvent[] = [];
  /** For each line, in which store its event is, and where there. */
  private readonly place = new Column(Int32Array, 0);
  /** Notices about a hold that was never acquired: they fit into no column. */
  private readonly odd = new Map<number, NoticeEvent>();
  private endNs = 0;
  private lines = 0;

  get length(): number {
    return this.lines;
  }

  /** Throws on an event out of order, and on a completion without an invoke. */
  add(event: HistoryEvent): void {
    if (event.i !== this.length) throw new Error(`event ${event.i} comes where event ${this.length} was expected`);
    if (event.atNs > this.endNs) this.endNs = event.atNs;
    switch (event.type) {
      case 'invoke':
        this.put(PLACE.invoke, this.ops.invoke(event));
        break;
      case 'ok':
      case 'fail':
      case 'info':
        this.put(PLACE.completion, this.ops.complete(event));
        break;
      case 'renewed':
      case 'lost':
      case 'step':
        this.notice(event);
        break;
      default:
        this.put(PLACE.rare, this.rare.push(event) - 1);
    }
  }

  finish(torn: boolean): History {
    const { ops, notices, rare, odd, length, endNs } = this;
    const unused = new Unused();
    const place = this.place.finished(length, unused);
    return new TableHistory(ops.finish(unused), notices.finish(unused), rare, place, odd, length, endNs, torn);
  }

  /** What has been added of an operation of a client; undefined if it was not invoked. */
  invoked(client: string, id: number): Invoked | undefined {
    return this.ops.invoked(client, id);
  }

  private notice(event: NoticeEvent): void {
    const hold = event.hold === undefined ? -1 : this.ops.rowOf(event.client, event.hold);
    const strange = hold < 0 && event.hold !== undefined;
    if (strange) this.odd.set(event.i, event);
    this.put(strange ? PLACE.odd : PLACE.notice, strange ? 0 : this.notices.add(event, this.ops.clientOf(event), hold));
  }

  private put(store: number, index: number): void {
    this.place.set(this.lines++, index * STORES + store);
  }
}

const PLACE = { invoke: 0, completion: 1, notice: 2, rare: 3, odd: 4 } as const;
const STORES = Object.keys(PLACE).length;

class TableHistory implements History {
  private readonly invokes: (row: number, event: object) => void;
  private readonly completions: (row: number, event: object) => void;
  private readonly notifications: Record<NoticeEvent['type'], (row: number, event: object) => void>;

  constructor(
    readonly operations: Operations,
    readonly notices: Notices,
    readonly rare: readonly RareEvent[],
    private readonly place: Int32Array,
    private readonly odd: ReadonlyMap<number, NoticeEvent>,
    readonly length: number,
    readonly endNs: number,
    readonly torn: boolean,
  ) {
    this.invokes = extractor(OPERATION_COLUMNS, operations, { ...COMMON_FIELDS, ...INVOKE_FIELDS });
    this.completions = extractor(OPERATION_COLUMNS, operations, { ...COMMON_FIELDS, ...COMPLETION_FIELDS });
    const ofNotice = (type: NoticeEvent['type']) => extractor(NOTICE_COLUMNS, notices, NOTICE_FIELDS[type]);
    this.notifications = { renewed: ofNotice('renewed'), lost: ofNotice('lost'), step: ofNotice('step') };
  }

  event(i: number): HistoryEvent | undefined {
    if (!(i >= 0 && i < this.length)) return undefined;
    const place = this.place[i]!;
    const index = Math.floor(place / STORES);
    switch (place % STORES) {
      case PLACE.invoke:
        return this.operation({ i, atNs: 0, type: 'invoke' }, index, this.invokes);
      case PLACE.completion:
        return this.operation({ i, atNs: 0, type: 'ok' }, index, this.completions);
      case PLACE.notice:
        return this.notice(i, index);
      case PLACE.odd:
        return this.odd.get(i);
      default:
        return this.rare[index];
    }
  }

  *all(): Iterable<HistoryEvent> {
    for (let i = 0; i < this.length; i++) yield this.event(i)!;
  }

  private operation(begun: object, row: number, extract: (row: number, event: object) => void): HistoryEvent {
    const { hold, id } = this.operations;
    const event = begun as InvokeEvent | CompletionEvent;
    extract(row, event);
    if (hold[row]! >= 0) event.hold = id[hold[row]!]!;
    return event;
  }

  private notice(i: number, index: number): HistoryEvent {
    const { notices, operations: ops } = this;
    const type = NOTICE_NAMES[notices.type[index]!]!;
    const client = ops.clients[notices.client[index]!]!;
    const row = notices.hold[index]!;
    const event: Record<string, unknown> = { i, atNs: 0, client, type };
    if (row >= 0) event.hold = ops.id[row]!;
    if (row >= 0 && type !== 'step') event.key = ops.keys[ops.key[row]!]!;
    this.notifications[type](index, event);
    return event as unknown as NoticeEvent;
  }
}

const NOTICE_NAMES = wordsOf(NOTICE);

// --------------------------------------------------------------------------------------------------------- being filled

/** An operation as far as it has been added. */
export interface Invoked {
  op: OpName;
  key: string;
  /** The id of the acquire that it is about. */
  hold: number | undefined;
  line: number;
  completed: boolean;
}

class OperationColumns extends Columns<typeof OPERATION_COLUMNS> {
  private readonly fillInvoke = this.filler<InvokeEvent>({ ...COMMON_FIELDS, ...INVOKE_FIELDS });
  private readonly fillCompletion = this.filler<CompletionEvent>(COMPLETION_FIELDS);
  /** By client. */
  private readonly rows: RowByNumber[] = [];

  constructor() {
    super(OPERATION_COLUMNS);
  }

  clientOf({ client }: { client: string }): number {
    return this.names.clients.of(client);
  }

  /** The row of that operation of the client's, or -1. */
  rowOf(client: string, id: number): number {
    return this.rows[this.names.clients.known(client)]?.row(id) ?? -1;
  }

  invoked(client: string, id: number): Invoked | undefined {
    const row = this.rowOf(client, id);
    if (row < 0) return undefined;
    const { column } = this;
    const hold = column.hold.at(row);
    return {
      op: OP_NAMES[column.op.at(row)]!,
      key: this.names.keys.texts[column.key.at(row)]!,
      hold: hold < 0 ? undefined : column.id.at(hold),
      line: column.invokeLine.at(row),
      completed: column.completionLine.at(row) >= 0,
    };
  }

  invoke(event: InvokeEvent): number {
    const row = this.count++;
    this.fillInvoke(row, event);
    if (event.hold !== undefined) this.column.hold.set(row, this.rowOf(event.client, event.hold));
    const client = this.column.client.at(row);
    this.rows[client] ??= new RowByNumber();
    this.rows[client].set(event.id, row);
    return row;
  }

  complete(event: CompletionEvent): number {
    const row = this.rowOf(event.client, event.id);
    if (row < 0) throw new Error(`operation ${event.id} of ${event.client} completes without an invoke`);
    this.fillCompletion(row, event);
    return row;
  }
}

class NoticeColumns extends Columns<typeof NOTICE_COLUMNS> {
  private readonly fill = {
    renewed: this.filler<NoticeEvent>(NOTICE_FIELDS.renewed),
    lost: this.filler<NoticeEvent>(NOTICE_FIELDS.lost),
    step: this.filler<NoticeEvent>(NOTICE_FIELDS.step),
  };

  constructor() {
    super(NOTICE_COLUMNS);
  }

  add(event: NoticeEvent, client: number, hold: number): number {
    const row = this.count++;
    this.fill[event.type](row, event);
    this.column.client.set(row, client);
    if (hold >= 0) this.column.hold.set(row, hold);
    return row;
  }
}

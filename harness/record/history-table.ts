/**
 * A history in memory, in columns: some 110 bytes an operation, where two event objects would take 700.
 *
 * It promises that `event(i)` gives back what was added, field by field, as far as `api.ts` names the field. It checks only
 * what it stands on (lines in order, a completion after its invoke); that the rest is sound is up to the reader of the file.
 */

import type { History, HistoryEvent, Notices, Operations, OpName, RareEvent } from '../vocabulary/history.js';
import { Column, Names, RowByNumber, Unused } from './columns.js';

export const OP = { acquire: 0, release: 1, extend: 2, clock: 3, read: 4, write: 5 } as const satisfies Record<
  OpName,
  number
>;
export const OUTCOME = { ok: 0, fail: 1, info: 2, none: 3 } as const;
/** Of an acquire: `exclusive` where no mode was given. */
export const MODE = { exclusive: 0, write: 1, read: 2 } as const;
export const NOTICE = { renewed: 0, lost: 1, step: 2 } as const;

const OP_NAMES = Object.keys(OP) as OpName[];
const OUTCOME_NAMES = ['ok', 'fail', 'info'] as const;
const NOTICE_NAMES = Object.keys(NOTICE) as (keyof typeof NOTICE)[];

type Invoke = Extract<HistoryEvent, { type: 'invoke' }>;
type Completion = Extract<HistoryEvent, { type: 'ok' | 'fail' | 'info' }>;
type Notice = Extract<HistoryEvent, { type: 'renewed' | 'lost' | 'step' }>;

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
  private readonly odd = new Map<number, Notice>();
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
    return new TableHistory(ops.columns(unused), notices.columns(unused), rare, place, odd, length, endNs, torn);
  }

  /** What has been added of an operation of a client; undefined if it was not invoked. */
  invoked(client: string, id: number): Invoked | undefined {
    return this.ops.invoked(client, id);
  }

  private notice(event: Notice): void {
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
  constructor(
    readonly operations: Operations,
    readonly notices: Notices,
    readonly rare: readonly RareEvent[],
    private readonly place: Int32Array,
    private readonly odd: ReadonlyMap<number, Notice>,
    readonly length: number,
    readonly endNs: number,
    readonly torn: boolean,
  ) {}

  event(i: number): HistoryEvent | undefined {
    if (!(i >= 0 && i < this.length)) return undefined;
    const place = this.place[i]!;
    const index = Math.floor(place / STORES);
    switch (place % STORES) {
      case PLACE.invoke:
        return this.invoked(i, index);
      case PLACE.completion:
        return this.completed(i, index);
      case PLACE.notice:
        return this.noticed(i, index);
      case PLACE.odd:
        return this.odd.get(i);
      default:
        return this.rare[index];
    }
  }

  *all(): Iterable<HistoryEvent> {
    for (let i = 0; i < this.length; i++) yield this.event(i)!;
  }

  private invoked(i: number, row: number): Invoke {
    const { operations: ops } = this;
    const op = OP_NAMES[ops.op[row]!]!;
    const event: Invoke = {
      i,
      atNs: ops.sentNs[row]!,
      type: 'invoke',
      client: ops.clients[ops.client[row]!]!,
      id: ops.id[row]!,
      op,
      key: ops.keys[ops.key[row]!]!,
    };
    if (ops.hold[row]! >= 0) event.hold = ops.id[ops.hold[row]!]!;
    put(event, 'leaseMs', ops.leaseMs[row]!);
    put(event, 'waitMs', ops.waitMs[row]!);
    if (ops.mode[row] !== MODE.exclusive) event.mode = ops.mode[row] === MODE.read ? 'read' : 'write';
    if (op === 'write') put(event, 'value', ops.value[row]!);
    return event;
  }

  private completed(i: number, row: number): Completion {
    const { operations: ops } = this;
    const op = OP_NAMES[ops.op[row]!]!;
    const event: Completion = {
      i,
      atNs: ops.readNs[row]!,
      type: OUTCOME_NAMES[ops.outcome[row]!]!,
      client: ops.clients[ops.client[row]!]!,
      id: ops.id[row]!,
      op,
      key: ops.keys[ops.key[row]!]!,
    };
    if (ops.hold[row]! >= 0) event.hold = ops.id[ops.hold[row]!]!;
    put(event, 'beganNs', ops.beganNs[row]!);
    put(event, 'endedNs', ops.endedNs[row]!);
    if (ops.reason[row]! >= 0) event.reason = ops.reasons[ops.reason[row]!]!;
    put(event, op === 'acquire' ? 'grantSentNs' : 'sentNs', ops.leaseFromNs[row]!);
    put(event, 'token', ops.token[row]!);
    put(event, 'validForMs', ops.validForMs[row]!);
    if (op === 'clock') put(event, 'wallMs', ops.value[row]!);
    if (op === 'read') put(event, 'value', ops.value[row]!);
    put(event, 'version', ops.version[row]!);
    return event;
  }

  private noticed(i: number, index: number): Notice {
    const { notices, operations: ops } = this;
    const type = NOTICE_NAMES[notices.type[index]!]!;
    const row = notices.hold[index]!;
    const text = notices.text[index]! < 0 ? undefined : notices.texts[notices.text[index]!]!;
    const clientNs = notices.clientNs[index]!;
    const common = { i, atNs: notices.atNs[index]!, client: ops.clients[notices.client[index]!]! };
    if (type === 'step') return { ...common, type, name: text!, clientNs, ...(row >= 0 && { hold: ops.id[row]! }) };
    const about = { hold: ops.id[row]!, key: ops.keys[ops.key[row]!]! };
    return type === 'renewed'
      ? { ...common, type, ...about, sentNs: clientNs, leaseMs: notices.leaseMs[index]! }
      : { ...common, type, ...about, clientNs, ...(text !== undefined && { reason: text }) };
  }
}

function put<Event extends object>(event: Event, field: keyof Event, value: number): void {
  if (!Number.isNaN(value)) (event as Record<keyof Event, unknown>)[field] = value;
}

// ------------------------------------------------------------------------------------------------------------ columns

const floats = () => new Column(Float64Array, Number.NaN);
const indexes = () => new Column(Int32Array, -1);

/** An operation as far as it has been added. */
export interface Invoked {
  op: OpName;
  key: string;
  /** The id of the acquire that it is about. */
  hold: number | undefined;
  line: number;
  completed: boolean;
}

class OperationColumns {
  private count = 0;
  private readonly clientNames = new Names();
  private readonly keyNames = new Names();
  private readonly reasonNames = new Names();
  private readonly client = indexes();
  private readonly key = indexes();
  private readonly op = new Column(Uint8Array, OP.acquire);
  private readonly mode = new Column(Uint8Array, MODE.exclusive);
  private readonly outcome = new Column(Uint8Array, OUTCOME.none);
  private readonly reason = indexes();
  private readonly hold = indexes();
  private readonly invokeLine = indexes();
  private readonly completionLine = indexes();
  private readonly id = floats();
  private readonly sentNs = floats();
  private readonly readNs = floats();
  private readonly beganNs = floats();
  private readonly endedNs = floats();
  private readonly leaseFromNs = floats();
  private readonly leaseMs = floats();
  private readonly waitMs = floats();
  private readonly validForMs = floats();
  private readonly token = floats();
  private readonly value = floats();
  private readonly version = floats();
  /** By client. */
  private readonly rows: RowByNumber[] = [];

  clientOf({ client }: { client: string }): number {
    return this.clientNames.of(client);
  }

  /** The row of that operation of the client's, or -1. */
  rowOf(client: string, id: number): number {
    return this.rows[this.clientNames.known(client)]?.row(id) ?? -1;
  }

  invoked(client: string, id: number): Invoked | undefined {
    const row = this.rowOf(client, id);
    if (row < 0) return undefined;
    const hold = this.hold.at(row);
    return {
      op: OP_NAMES[this.op.at(row)]!,
      key: this.keyNames.texts[this.key.at(row)]!,
      hold: hold < 0 ? undefined : this.id.at(hold),
      line: this.invokeLine.at(row),
      completed: this.completionLine.at(row) >= 0,
    };
  }

  invoke(event: Invoke): number {
    const row = this.count++;
    const client = this.clientNames.of(event.client);
    this.client.set(row, client);
    this.key.set(row, this.keyNames.of(event.key));
    this.op.set(row, OP[event.op]);
    this.invokeLine.set(row, event.i);
    this.id.set(row, event.id);
    this.sentNs.set(row, event.atNs);
    if (event.hold !== undefined) this.hold.set(row, this.rowOf(event.client, event.hold));
    if (event.leaseMs !== undefined) this.leaseMs.set(row, event.leaseMs);
    if (event.waitMs !== undefined) this.waitMs.set(row, event.waitMs);
    if (event.mode !== undefined) this.mode.set(row, MODE[event.mode]);
    if (event.value !== undefined) this.value.set(row, event.value);
    this.rows[client] ??= new RowByNumber();
    this.rows[client].set(event.id, row);
    return row;
  }

  complete(event: Completion): number {
    const row = this.rowOf(event.client, event.id);
    if (row < 0) throw new Error(`operation ${event.id} of ${event.client} completes without an invoke`);
    this.outcome.set(row, OUTCOME[event.type]);
    this.completionLine.set(row, event.i);
    this.readNs.set(row, event.atNs);
    if (event.reason !== undefined) this.reason.set(row, this.reasonNames.of(event.reason));
    if (event.beganNs !== undefined) this.beganNs.set(row, event.beganNs);
    if (event.endedNs !== undefined) this.endedNs.set(row, event.endedNs);
    const leaseFromNs = event.grantSentNs ?? event.sentNs;
    if (leaseFromNs !== undefined) this.leaseFromNs.set(row, leaseFromNs);
    if (event.validForMs !== undefined) this.validForMs.set(row, event.validForMs);
    if (event.token !== undefined) this.token.set(row, event.token);
    const value = event.value ?? event.wallMs;
    if (value !== undefined) this.value.set(row, value);
    if (event.version !== undefined) this.version.set(row, event.version);
    return row;
  }

  columns(unused: Unused): Operations {
    const { count } = this;
    return {
      count,
      clients: this.clientNames.texts,
      keys: this.keyNames.texts,
      reasons: this.reasonNames.texts,
      client: this.client.finished(count, unused),
      key: this.key.finished(count, unused),
      op: this.op.finished(count, unused),
      mode: this.mode.finished(count, unused),
      outcome: this.outcome.finished(count, unused),
      reason: this.reason.finished(count, unused),
      hold: this.hold.finished(count, unused),
      invokeLine: this.invokeLine.finished(count, unused),
      completionLine: this.completionLine.finished(count, unused),
      id: this.id.finished(count, unused),
      sentNs: this.sentNs.finished(count, unused),
      readNs: this.readNs.finished(count, unused),
      beganNs: this.beganNs.finished(count, unused),
      endedNs: this.endedNs.finished(count, unused),
      leaseFromNs: this.leaseFromNs.finished(count, unused),
      leaseMs: this.leaseMs.finished(count, unused),
      waitMs: this.waitMs.finished(count, unused),
      validForMs: this.validForMs.finished(count, unused),
      token: this.token.finished(count, unused),
      value: this.value.finished(count, unused),
      version: this.version.finished(count, unused),
    };
  }
}

class NoticeColumns {
  private count = 0;
  private readonly names = new Names();
  private readonly type = new Column(Uint8Array, NOTICE.renewed);
  private readonly line = indexes();
  private readonly client = indexes();
  private readonly hold = indexes();
  private readonly text = indexes();
  private readonly atNs = floats();
  private readonly clientNs = floats();
  private readonly leaseMs = floats();

  add(event: Notice, client: number, hold: number): number {
    const row = this.count++;
    const text = event.type === 'step' ? event.name : event.type === 'lost' ? event.reason : undefined;
    this.type.set(row, NOTICE[event.type]);
    this.line.set(row, event.i);
    this.client.set(row, client);
    if (hold >= 0) this.hold.set(row, hold);
    if (text !== undefined) this.text.set(row, this.names.of(text));
    this.atNs.set(row, event.atNs);
    this.clientNs.set(row, event.type === 'renewed' ? event.sentNs : event.clientNs);
    if (event.type === 'renewed') this.leaseMs.set(row, event.leaseMs);
    return row;
  }

  columns(unused: Unused): Notices {
    const { count } = this;
    return {
      count,
      texts: this.names.texts,
      type: this.type.finished(count, unused),
      line: this.line.finished(count, unused),
      client: this.client.finished(count, unused),
      hold: this.hold.finished(count, unused),
      text: this.text.finished(count, unused),
      atNs: this.atNs.finished(count, unused),
      clientNs: this.clientNs.finished(count, unused),
      leaseMs: this.leaseMs.finished(count, unused),
    };
  }
}

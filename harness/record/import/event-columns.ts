/** The recorded events in columns, some 50 bytes each, as they stand in the file: what is needed until they are in order. */
import type { LockMode } from '../../vocabulary/protocol.js';
import { Column, Names } from '../columns.js';
import type { RecordedEvent } from './recorded-event.js';

export const TYPE_NAMES = ['invoke', 'ok', 'fail', 'info'] as const;
export const OP_NAMES = ['acquire', 'release'] as const;
export const MODE_NAMES: readonly (LockMode | undefined)[] = [undefined, 'read', 'write'];

export class EventColumns {
  count = 0;
  /** Texts by what `process`, `key` and `reason` hold; -1 where nothing is said. */
  readonly processes = new Names();
  readonly keys = new Names();
  readonly reasons = new Names();
  readonly type = new Column(Uint8Array, 0);
  readonly op = new Column(Uint8Array, 0);
  readonly mode = new Column(Uint8Array, 0);
  readonly process = new Column(Int32Array, -1);
  readonly key = new Column(Int32Array, -1);
  readonly reason = new Column(Int32Array, -1);
  readonly line = new Column(Int32Array, 0);
  /** -1 where nothing is said. */
  readonly index = new Column(Int32Array, -1);
  /** NaN where nothing is said; so are the next two. */
  readonly timeNs = new Column(Float64Array, Number.NaN);
  readonly token = new Column(Float64Array, Number.NaN);
  readonly bareValue = new Column(Float64Array, Number.NaN);
  /** How many events have no time, and how many no index. */
  withoutTime = 0;
  withoutIndex = 0;

  add(event: RecordedEvent, line: number): void {
    const row = this.count++;
    this.type.set(row, TYPE_NAMES.indexOf(event.type));
    this.op.set(row, OP_NAMES.indexOf(event.op));
    this.mode.set(row, MODE_NAMES.indexOf(event.mode));
    this.process.set(row, numberOf(this.processes, event.process));
    if (event.key !== undefined) this.key.set(row, numberOf(this.keys, event.key));
    if (event.reason !== undefined) this.reason.set(row, numberOf(this.reasons, event.reason));
    this.line.set(row, line);
    if (event.index === undefined) this.withoutIndex++;
    else this.index.set(row, event.index);
    if (event.timeNs === undefined) this.withoutTime++;
    else this.timeNs.set(row, event.timeNs);
    if (event.token !== undefined) this.token.set(row, event.token);
    if (event.bareValue !== undefined) this.bareValue.set(row, event.bareValue);
  }
}

/** A text that is met for the first time is copied: it may be a slice of a piece of the file, which it would keep in memory. */
function numberOf(names: Names, text: string): number {
  const known = names.known(text);
  return known >= 0 ? known : names.of(Buffer.from(text).toString());
}

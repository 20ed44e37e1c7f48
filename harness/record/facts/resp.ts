/**
 * RESP, the protocol of Redis (https://redis.io/docs/latest/develop/reference/protocol-spec/), versions 2 and 3, as it stands in
 * recorded messages: what is complete is read, what is not waits for more. Text is as in the record, one character a byte.
 */

/** A value of the protocol. An attribute is left out; a map is its keys and values in turn. */
export type RespValue =
  | { type: 'simple' | 'bulk' | 'error'; text: string }
  | { type: 'number'; text: string }
  | { type: 'null' }
  | { type: 'list' | 'push'; items: RespValue[] };

/** Of one direction of a connection. */
export class RespReader {
  private rest = '';
  /** What came is not RESP: from then on nothing is read. */
  isBroken = false;

  /** The values that are complete with this. */
  read(bytes: string): RespValue[] {
    const values: RespValue[] = [];
    if (this.isBroken) return values;
    this.rest += bytes;
    let at = 0;
    for (let next = this.valueAt(at); next !== undefined; next = this.valueAt(at)) {
      values.push(next.value);
      at = next.end;
    }
    this.rest = this.rest.slice(at);
    return values;
  }

  private valueAt(at: number): { value: RespValue; end: number } | undefined {
    const lineEnd = this.rest.indexOf('\r\n', at);
    if (this.isBroken || lineEnd < 0) return undefined;
    const text = this.rest.slice(at + 1, lineEnd);
    const end = lineEnd + 2;
    switch (this.rest[at]) {
      case '+':
        return { value: { type: 'simple', text }, end };
      case '-':
        return { value: { type: 'error', text }, end };
      case ':':
      case ',':
      case '(':
      case '#':
        return { value: { type: 'number', text }, end };
      case '_':
        return { value: { type: 'null' }, end };
      case '$':
      case '=':
      case '!':
        return this.bulkAt(Number(text), end, this.rest[at] === '!');
      case '*':
      case '~':
        return this.listAt('list', Number(text), end);
      case '>':
        return this.listAt('push', Number(text), end);
      case '%':
        return this.listAt('list', 2 * Number(text), end);
      case '|': {
        const attributes = this.listAt('list', 2 * Number(text), end);
        return attributes && this.valueAt(attributes.end);
      }
      default:
        this.isBroken = true;
        return undefined;
    }
  }

  private bulkAt(length: number, from: number, isError: boolean): { value: RespValue; end: number } | undefined {
    if (length === -1) return { value: { type: 'null' }, end: from };
    const end = from + length + 2;
    if (end > this.rest.length) return undefined;
    return { value: { type: isError ? 'error' : 'bulk', text: this.rest.slice(from, end - 2) }, end };
  }

  private listAt(type: 'list' | 'push', count: number, from: number): { value: RespValue; end: number } | undefined {
    if (count === -1) return { value: { type: 'null' }, end: from };
    const items: RespValue[] = [];
    let end = from;
    for (let n = 0; n < count; n++) {
      const item = this.valueAt(end);
      if (!item) return undefined;
      items.push(item.value);
      end = item.end;
    }
    return { value: { type, items }, end };
  }
}

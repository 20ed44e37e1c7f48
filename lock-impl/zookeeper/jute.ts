/**
 * Jute, ZooKeeper's way to write records: numbers with the highest byte first, texts and buffers after their length (-1: none),
 * lists after their count.
 */

export class JuteWriter {
  private readonly parts: Buffer[] = [];

  int(value: number): this {
    const part = Buffer.alloc(4);
    part.writeInt32BE(value);
    return this.push(part);
  }

  long(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigInt64BE(value);
    return this.push(part);
  }

  bool(value: boolean): this {
    return this.push(Buffer.from([value ? 1 : 0]));
  }

  buffer(value: Buffer): this {
    return this.int(value.length).push(value);
  }

  text(value: string): this {
    return this.buffer(Buffer.from(value));
  }

  /** All that was written. */
  bytes(): Buffer {
    return Buffer.concat(this.parts);
  }

  private push(part: Buffer): this {
    this.parts.push(part);
    return this;
  }
}

/** Throws a RangeError where the bytes end before what is read. */
export class JuteReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  int(): number {
    this.at += 4;
    return this.bytes.readInt32BE(this.at - 4);
  }

  long(): bigint {
    this.at += 8;
    return this.bytes.readBigInt64BE(this.at - 8);
  }

  buffer(): Buffer {
    const length = Math.max(0, this.int());
    if (this.at + length > this.bytes.length) throw new RangeError('a buffer is longer than what came');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  text(): string {
    return this.buffer().toString();
  }

  list<Item>(item: (reader: this) => Item): Item[] {
    const items: Item[] = [];
    for (let left = this.int(); left > 0; left--) items.push(item(this));
    return items;
  }
}

/**
 * Columns that grow, for tables with millions of rows: typed arrays, in which a number stands for the absence of a value
 * that was never set. A column in which nothing was set takes no memory of its own.
 */

export type Values = Float64Array | Int32Array | Uint8Array;
export type Make<V extends Values> = new (length: number) => V;

/** Absence is written for so many rows at once, not for a whole array: a page of memory that nothing touches costs nothing. */
const ROWS_AT_ONCE = 1 << 10;

/** Values by row. Rows may be set in any order, and mostly are in theirs. */
export class Column<V extends Values> {
  private values: V;
  /** Each row before this one has its value, or the one for absence. */
  private filled = 0;

  constructor(
    private readonly make: Make<V>,
    private readonly absent: number,
  ) {
    this.values = new make(0);
  }

  set(row: number, value: number): void {
    if (row >= this.filled) this.fill(row + 1);
    this.values[row] = value;
  }

  at(row: number): number {
    return row < this.filled ? this.values[row]! : this.absent;
  }

  /** The values of the first `count` rows, for good; the array may be longer. */
  finished(count: number, unused: Unused): V {
    if (this.filled === 0) return unused.column(this.make, this.absent, count);
    if (this.filled < count) this.fill(count);
    return this.values;
  }

  private fill(rows: number): void {
    if (rows > this.values.length) {
      const larger = new this.make(Math.max(2 * this.values.length, rowsAtLeast(rows)));
      larger.set(this.values.subarray(0, this.filled));
      this.values = larger;
    }
    const end = rowsAtLeast(rows);
    this.values.fill(this.absent, this.filled, end);
    this.filled = end;
  }
}

function rowsAtLeast(rows: number): number {
  return Math.ceil(rows / ROWS_AT_ONCE) * ROWS_AT_ONCE;
}

/** One array for all columns of a kind in which nothing was ever set. */
export class Unused {
  private readonly made = new Map<string, Values>();

  column<V extends Values>(make: Make<V>, absent: number, count: number): V {
    const name = `${make.name} ${absent} ${count}`;
    const known = this.made.get(name) ?? new make(count).fill(absent);
    this.made.set(name, known);
    return known as V;
  }
}

/** Texts by small numbers, in the order in which they were first met. */
export class Names {
  readonly texts: string[] = [];
  private readonly numbers = new Map<string, number>();

  of(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    // A copy: it may be a slice of a piece of a file, which it would keep in memory.
    const own = Buffer.from(text, 'utf16le').toString('utf16le');
    this.numbers.set(own, this.texts.length);
    return this.texts.push(own) - 1;
  }

  /** -1 for a text that was never met. */
  known(text: string): number {
    return this.numbers.get(text) ?? -1;
  }
}

/** Rows by a number that is mostly 1, 2, 3, ... and may be any whole number: four bytes each, where it is. */
export class RowByNumber {
  /** The row and one, so that 0 is none. */
  private dense = new Int32Array(64);
  private sparse: Map<number, number> | undefined;
  private count = 0;

  /** -1 where there is none. */
  row(number: number): number {
    return number < this.dense.length ? this.dense[number]! - 1 : (this.sparse?.get(number) ?? -1);
  }

  set(number: number, row: number): void {
    this.count++;
    const { length } = this.dense;
    // Not for a number alone: 2⁵⁰ would take all memory, and so would 2, 4, 8, ... if each of them made it twice as long.
    if (number >= length && number < 2 * length && length <= 4 * this.count) this.grow();
    if (number < this.dense.length) this.dense[number] = row + 1;
    else {
      this.sparse ??= new Map();
      this.sparse.set(number, row);
    }
  }

  private grow(): void {
    const larger = new Int32Array(2 * this.dense.length);
    larger.set(this.dense);
    for (const [number, row] of this.sparse ?? []) {
      if (number >= larger.length) continue;
      larger[number] = row + 1;
      this.sparse!.delete(number);
    }
    this.dense = larger;
  }
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Column, RowByNumber, Unused } from '../../../../harness/record/columns.js';

describe('Column', () => {
  it('returns what was set, and that nothing was', () => {
    const column = new Column(Int32Array, -1);
    column.set(2_000, 7);
    column.set(3, 5);
    expect([0, 3, 2_000, 2_001, 1e6].map((row) => column.at(row))).toEqual([-1, 5, 7, -1, -1]);
  });

  it('is complete once finished, whatever was set last', () => {
    const column = new Column(Float64Array, Number.NaN);
    column.set(1, 0.5);
    const values = column.finished(3_000, new Unused());
    expect([...values.subarray(0, 3)]).toEqual([Number.NaN, 0.5, Number.NaN]);
    expect(values[2_999]).toBeNaN();
  });

  it('shares its memory with others of its kind while nothing was set', () => {
    const unused = new Unused();
    const empty = () => new Column(Float64Array, Number.NaN).finished(5, unused);
    expect(empty()).toBe(empty());
    expect([...empty()]).toEqual(Array(5).fill(Number.NaN));
    expect([...new Column(Int32Array, -1).finished(5, unused)]).toEqual(Array(5).fill(-1));
  });
});

describe('RowByNumber', () => {
  it('knows every number, in whatever order they come', () => {
    const number = fc.oneof(fc.nat(400), fc.nat(100_000), fc.maxSafeNat());
    const dense = fc.nat(2_000).map((count) => Array.from({ length: count }, (_, n) => n + 1));
    fc.assert(
      fc.property(fc.uniqueArray(number), fc.uniqueArray(number), dense, (before, after, between) => {
        const rows = new RowByNumber();
        const expected = new Map<number, number>();
        for (const [row, one] of [...before, ...between, ...after].entries()) {
          rows.set(one, row);
          expected.set(one, row);
        }
        for (const [one, row] of expected) expect(rows.row(one)).toBe(row);
        expect(rows.row(2 ** 53)).toBe(-1);
        expect(rows.row(0)).toBe(expected.get(0) ?? -1);
      }),
    );
  });

  it('does not allocate much memory for a few numbers that double', () => {
    const rows = new RowByNumber();
    for (let n = 0; n < 50; n++) rows.set(2 ** n, n);
    expect(rows.row(2 ** 49)).toBe(49);
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countInversions, type Points } from '../../../../../harness/record/facts/inversions.js';
import { cases, drawn } from '../../../../support/drawn.js';

const pointsArbitrary = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 8 })), { maxLength: 12 })
  .map(
    (pairs): Points => ({
      x: Float64Array.from(pairs, ([x]) => x),
      y: Float64Array.from(pairs, ([, y]) => y),
    }),
  );

it('counts pairs that stand in the wrong order, and no equal ones', () => {
  const points = (...pairs: [number, number][]) => ({
    x: Float64Array.from(pairs, ([x]) => x),
    y: Float64Array.from(pairs, ([, y]) => y),
  });
  expect(countInversions(points([1, 5]), points([2, 4]))).toBe(1);
  expect(countInversions(points([1, 5]), points([1, 4]))).toBe(0);
  expect(countInversions(points([1, 5]), points([2, 5]))).toBe(0);
  expect(countInversions(points([1, 5], [2, 6]), points([3, 5], [4, 4]))).toBe(3);
  expect(countInversions(points(), points([3, 5]))).toBe(0);
});

it('counts what trying every pair counts', () => {
  let some = 0;
  fc.assert(
    fc.property(pointsArbitrary, pointsArbitrary, (a, b) => {
      let pairs = 0;
      for (let m = 0; m < a.x.length; m++)
        for (let n = 0; n < b.x.length; n++) if (a.x[m]! < b.x[n]! && a.y[m]! > b.y[n]!) pairs++;
      if (pairs > 0) some++;
      expect(countInversions(a, b)).toBe(pairs);
    }),
    drawn(1_000),
  );
  expect(some).toBeGreaterThan(cases(200));
});

import { expect, it } from 'vitest';
import { quantile, summaryOfNs } from '../../../../checkers/measures/quantiles.js';

it('gives a value that was measured, by nearest rank', () => {
  const to = (count: number) => Float64Array.from({ length: count }, (_, n) => n + 1);
  expect(quantile(to(20), 0.95)).toBe(19);
  expect(quantile(to(100), 0.99)).toBe(99);
  expect(quantile(to(1_000), 0.999)).toBe(999);
  expect(quantile(to(3), 0.5)).toBe(2);
  expect(quantile(to(4), 0.5)).toBe(2);
  expect(quantile(to(1), 0.001)).toBe(1);
  expect(quantile(to(7), 1)).toBe(7);
});

it('sorts and reports milliseconds; without values there are no quantiles', () => {
  expect(summaryOfNs(Float64Array.of(3e6, 1e6, 2e6), { p50: 0.5 })).toEqual({ count: 3, p50Ms: 2, maxMs: 3 });
  expect(summaryOfNs(new Float64Array(), { p50: 0.5 })).toBeUndefined();
});

/** How far two distributions lie apart. */
import { expect, test } from 'vitest';
import { distance } from '../../../bench/failovers.js';

test('two samples lie apart by the most by which their shares below any value differ', () => {
  expect(distance([1, 2, 3, 4], [1, 2, 3, 4])).toBe(0);
  expect(distance([1, 2], [3, 4, 5])).toBe(1);
  expect(distance([1, 2, 3, 4], [3, 4, 5, 6])).toBe(0.5);
  expect(distance([1, 1, 1, 9], [1, 9])).toBe(0.25);
});

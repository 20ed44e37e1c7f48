import { expect, it } from 'vitest';
import { boundOf, boundPercent, strengthOf, strengthWithoutFaults } from '../../../../checkers/worth/strength.js';

it('says how much a pass is worth by its strikes, whatever number of holds they met', () => {
  expect(strengthOf({ strikes: 9, struckHolds: 41 })).toBe(
    '0 of 9 strikes violated; at most 28 % at 95 % (41 holds struck)',
  );
  expect(strengthOf({ strikes: 1, struckHolds: 1 })).toBe(
    '0 of 1 strike violated; at most 95 % at 95 % (1 hold struck)',
  );
  expect(strengthOf({ strikes: 0, struckHolds: 0 })).toBeUndefined();
});

it('says of a run without faults what was tested, and what was not', () => {
  expect(strengthWithoutFaults(41)).toBe(
    '0 of 41 holds violated; at most 7.0 % at 95 %, without any fault: contention was tested, no failure was',
  );
  expect(strengthWithoutFaults(0)).toBeUndefined();
});

it('bounds whatever is tried: 59 times give 5 %, 299 give 1 %', () => {
  expect(boundOf(1, 'try', 'tries')).toBe('0 of 1 try violated; at most 95 % at 95 %');
  expect([59, 299].map(boundPercent)).toEqual(['5.0', '1.0']);
});

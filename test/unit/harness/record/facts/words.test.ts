import { describe, expect, it } from 'vitest';
import { count, duration, listed, moment, plural } from '../../../../../harness/record/facts/words.js';

describe('times and counts', () => {
  it.each([
    [0, '0 µs'],
    [412, '412 ns'],
    [999.7, '1 µs'],
    [-2_000, '-2 µs'],
    [340_000, '340 µs'],
    [999_600, '1 ms'],
    [1_234_000, '1.23 ms'],
    [11_400_000, '11.4 ms'],
    [811_886_000, '812 ms'],
    [999_700_000, '1 s'],
    [1_040_000_000, '1.04 s'],
    [59.9996e9, '1 min 0 s'],
    [119.7e9, '2 min 0 s'],
    [125e9, '2 min 5 s'],
    [Number.NaN, 'an unknown time'],
  ])('%d ns is %s', (ns, words) => {
    expect(duration(ns)).toBe(words);
  });

  it('moments and counts', () => {
    expect(moment(10_388_114_000)).toBe('10.388 s');
    expect(count(1_234_567)).toBe('1,234,567');
    expect(count(1_000)).toBe('1,000');
    expect(count(0.12345)).toBe('0.123');
  });

  it('nouns and lists', () => {
    expect(plural(1, 'hold')).toBe('1 hold');
    expect(plural(1_024, 'entry', 'entries')).toBe('1,024 entries');
    expect(listed(['a', 'b', 'c'])).toBe('a, b and c');
    expect(listed([])).toBe('');
  });
});

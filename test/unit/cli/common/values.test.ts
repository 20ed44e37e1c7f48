import { describe, expect, test } from 'vitest';
import {
  durationMs,
  failOn,
  holdRange,
  keyValue,
  nameAmong,
  positiveDurationMs,
  quote,
  wholeNumberIn,
} from '../../../../cli/common/values.js';

describe('what users type', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5s', 1_500],
    ['2m', 120_000],
    ['0s', 0],
  ])('duration %s', (text, ms) => expect(durationMs(text)).toBe(ms));

  test.each(['', '5', '5 s', '-1s', '1d', 's', '1e3s', 'NaNs', '5S'])('no duration: "%s"', (text) =>
    expect(() => durationMs(text)).toThrow('is not a duration'),
  );

  test('a lease of zero is refused', () => expect(() => positiveDurationMs('0ms')).toThrow('more than nothing'));

  test.each([
    ['0.1x..1.5x', { min: 0.1, max: 1.5 }],
    ['0.5x', { min: 0.5, max: 0.5 }],
  ])('hold %s', (text, range) => expect(holdRange(text)).toEqual(range));

  test.each(['', '0.5', '1x..0.5x', 'x', '0.1x..', '-1x', '1000x'])('no hold: "%s"', (text) =>
    expect(() => holdRange(text)).toThrow('part of the lease'),
  );

  test.each(['', '0', '11', '1.5', '-1', '1e1', 'six'])('no count from 1 to 10: "%s"', (text) =>
    expect(() => wholeNumberIn(1, 10)(text)).toThrow('whole number from 1 to 10'),
  );

  test('classes of findings', () => {
    expect(failOn('exclusion,liveness')).toEqual(['exclusion', 'liveness']);
    expect(failOn('none')).toEqual([]);
    expect(failOn('lock,stale')).toEqual(['lock', 'stale']);
    expect(() => failOn('lease')).toThrow('neither a class of findings nor "lock"');
    expect(() => failOn('everything')).toThrow('exclusion, harm, stale, liveness');
  });

  test('redis.conf directives', () => {
    expect(keyValue('maxmemory=10mb', [['hz', '10']])).toEqual([
      ['hz', '10'],
      ['maxmemory', '10mb'],
    ]);
    for (const bad of ['maxmemory', '=1', 'a b=1', 'x=1\nport 1']) expect(() => keyValue(bad, [])).toThrow('KEY=VALUE');
  });

  test('names', () => {
    expect(nameAmong(['a', 'b'])('b')).toBe('b');
    expect(() => nameAmong(['a', 'b'])('c')).toThrow('"c" is not known; there are a, b');
  });

  test('an argument shown for pasting cannot break out of its quotes', () => {
    expect(quote('./my-lock.ts')).toBe('./my-lock.ts');
    expect(quote("cmd:sh -c 'x'; rm")).toBe("'cmd:sh -c '\\''x'\\''; rm'");
  });
});

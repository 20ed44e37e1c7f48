import calculateSlot from 'cluster-key-slot';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { companionKey } from '../../../lock-impl/keys.js';

test.each([
  ['lock:0', '{lock:0}:queue'],
  ['{a}b', '{a}b:queue'],
  ['a{b}c{d}', 'a{b}c{d}:queue'],
  ['a{b', '{a{b}:queue'],
])('%s has %s', (key, expected) => {
  expect(companionKey(key, 'queue')).toBe(expected);
  expect(calculateSlot(expected)).toBe(calculateSlot(key));
});

test('a companion key is in the slot of its key, and differs from it', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ':', '{'), maxLength: 6 });
  const tagged = fc.tuple(text, fc.string({ unit: fc.constantFrom('a', '{'), minLength: 1 }), text);
  const keys = fc.oneof(
    text.filter((key) => key !== ''),
    tagged.map(([before, tag, after]) => `${before}{${tag}}${after}`),
  );
  fc.assert(
    fc.property(keys, (key) => {
      const companion = companionKey(key, 'queue');
      expect(companion).not.toBe(key);
      expect(calculateSlot(companion)).toBe(calculateSlot(key));
    }),
  );
});

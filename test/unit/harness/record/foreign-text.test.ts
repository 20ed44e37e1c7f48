import { expect, test } from 'vitest';
import { shown, shownAsJson } from '../../../../harness/record/schemas/foreign-text.js';

test('a foreign value is shown by 300 characters at most, whatever it is and however long', () => {
  const long = 'x'.repeat(10_000_000);
  expect(shown(long)).toBe(`${'x'.repeat(300)}…`);
  expect(shown([long])).toBe(`["${'x'.repeat(298)}…`);
  expect(shownAsJson(long)).toBe(`"${'x'.repeat(299)}…`);
  expect(shown('x'.repeat(300))).toBe('x'.repeat(300));
});

test('none of its characters acts on a terminal, and what they are shown as counts', () => {
  expect(shown('\u001b[31m\u0000\u009b\u202e\n')).toBe('␛[31m␀\\u009b\\u202e␊');
  expect(shown('\u202e'.repeat(300))).toHaveLength(301);
});

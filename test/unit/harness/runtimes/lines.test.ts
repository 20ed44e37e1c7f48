import { expect, test } from 'vitest';
import { LineSplitter } from '../../../../harness/runtimes/lines.js';

test('lines come out whole, however the text was cut', () => {
  const lines = new LineSplitter();
  expect(lines.push('{"a"')).toEqual([]);
  expect(lines.push(':1}\n{"b":2}\n\n{"c"')).toEqual(['{"a":1}', '{"b":2}']);
  expect(lines.push(':3}\r\n')).toEqual(['{"c":3}']);
});

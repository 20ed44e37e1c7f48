import { describe, expect, it, test } from 'vitest';
import { Forms } from '../../../../../harness/record/import/forms.js';
import { JsonSyntax } from '../../../../../harness/record/import/json.js';

function formsIn(pieces: readonly string[]): [unknown, number][] {
  const found: [unknown, number][] = [];
  const forms = new Forms('h.json', new JsonSyntax(), (form, line) => found.push([form, line]));
  for (const piece of pieces) forms.add(piece);
  forms.finish();
  return found;
}

describe('objects', () => {
  const values = [{ a: 1, b: ['}', '\\"', { c: null }] }, { a: 2 }];
  const [one, two] = values.map((value) => JSON.stringify(value)) as [string, string];

  it('stand one a line', () => {
    expect(formsIn([`${one}\n${two}\n`])).toEqual([
      [values[0], 1],
      [values[1], 2],
    ]);
  });

  it('stand in an array, on one line or on many', () => {
    expect(formsIn([JSON.stringify(values)]).map(([form]) => form)).toEqual(values);
    expect(formsIn([JSON.stringify(values, null, 1)])).toEqual([
      [values[0], 2],
      [values[1], 12],
    ]);
  });

  it('come out the same wherever the text is cut', () => {
    const text = ` [${one},\n${two}]\n`;
    const whole = formsIn([text]);
    for (let at = 0; at <= text.length; at++) expect(formsIn([text.slice(0, at), text.slice(at)])).toEqual(whole);
    expect(whole).toHaveLength(2);
  });
});

describe('damage', () => {
  const cases: [text: string, message: string | RegExp][] = [
    ['{"a":1}\n{"a":}\n', /h\.json, line 2: not JSON \(/],
    ['{"a":1\n{"a":2}\n', 'h.json, line 1: what begins here never ends'],
    ['{"a":1}\nhello', 'h.json, line 2: not a JSON object: "hello"'],
    ['[{"a":1}, 2]', 'h.json, line 1: not a JSON object: "2]'],
    ['[{"a":1}', 'h.json, line 1: the vector that begins here never ends'],
    ['[{"a":1}]]', 'h.json, line 1: not a JSON object: "]'],
    ['[{"a":1}]\n{"a":1}', 'h.json, line 2: something follows the end of the vector'],
    ['{"a":[1}', 'h.json, line 1: what begins here never ends'],
    ['{"a":"x', 'h.json, line 1: what begins here never ends'],
  ];
  test.each(cases)('%s', (text, message) => {
    expect(() => formsIn([text])).toThrow(message);
  });
});

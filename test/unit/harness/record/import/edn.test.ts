/** EDN as Clojure prints it: each literal by itself, then texts cut anywhere, then what is damaged. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { EdnSyntax } from '../../../../../harness/record/import/edn.js';
import { Forms } from '../../../../../harness/record/import/forms.js';

/** What stands in a text, form by form, each with its line. */
function formsIn(pieces: readonly string[]): [unknown, number][] {
  const found: [unknown, number][] = [];
  const forms = new Forms('h.edn', new EdnSyntax(), (form, line) => found.push([form, line]));
  for (const piece of pieces) forms.add(piece);
  forms.finish();
  return found;
}

function only(text: string): unknown {
  const found = formsIn([text]);
  expect(found).toHaveLength(1);
  return found[0]![0];
}

describe('what a form is read as', () => {
  const cases: [text: string, value: unknown][] = [
    ['nil', null],
    ['true', true],
    ['false', false],
    ['nilly', 'nilly'],
    ['0', 0],
    ['-17', -17],
    ['+17', 17],
    ['12N', 12],
    ['341187643', 341187643],
    ['9007199254740993', 9007199254740992],
    ['1.5', 1.5],
    ['-2.5e-3', -0.0025],
    ['1.50M', 1.5],
    ['3/4', 0.75],
    ['0x1F', 31],
    ['-0x10', -16],
    ['##Inf', Number.POSITIVE_INFINITY],
    ['##-Inf', Number.NEGATIVE_INFINITY],
    ['##NaN', Number.NaN],
    ['"a b"', 'a b'],
    ['"say \\"hi\\"\\n\\t\\\\ \\u0041"', 'say "hi"\n\t\\ A'],
    ['"two\nlines ; no comment"', 'two\nlines ; no comment'],
    [':acquire', ':acquire'],
    [':not-held', ':not-held'],
    [':knossos.model/mutex', ':knossos.model/mutex'],
    ['java.net.SocketTimeoutException', 'java.net.SocketTimeoutException'],
    ['-', '-'],
    ['\\a', 'a'],
    ['\\{', '{'],
    ['\\newline', '\n'],
    ['\\u0041', 'A'],
    ['{}', {}],
    ['{:type :invoke, "f" 1, 3 [], nil 2}', { type: ':invoke', f: 1, '3': [], null: 2 }],
    ['{:a{:b{:c 1}}}', { a: { b: { c: 1 } } }],
    ['(1 (2 3) [4])', null],
    ['#{1 :two}', [1, ':two']],
    ['#{}', []],
    ['#inst "2026-11-21T00:00:00Z"', '2026-11-21T00:00:00Z'],
    ['#jepsen.history.Op{:index 3, :f :acquire}', { index: 3, f: ':acquire' }],
    ['#object[clojure.core$f 0x1a2b "f@1a2b"]', ['clojure.core$f', 0x1a2b, 'f@1a2b']],
    ['#a #b 1', 1],
    ['#:ns{:a 1}', { a: 1 }],
    ['#"a[^\\"]b"', 'a[^\\"]b'],
    ['{:a #_ :ignored 1}', { a: 1 }],
    ['{:a 1 #_ {:b 2}}', { a: 1 }],
    ['#_ #_ 1 2 3', 3],
    ['#tag #_ 1 2', 2],
    ['; a comment\n{:a 1 ; another }\n}', { a: 1 }],
    ['{:__proto__ 1, :a 2}', { a: 2 }],
  ];
  test.each(cases.filter(([text]) => !/^[([]/.test(text)))('%s', (text, value) => {
    expect(only(text)).toEqual(value);
  });

  it('does not let a map change what an object is', () => {
    expect(Object.getPrototypeOf(only('{:__proto__ {:type 1}}'))).toBe(Object.prototype);
  });

  it('reads lists within others as vectors', () => {
    expect(only('{:a (1 (2 3) [4])}')).toEqual({ a: [1, [2, 3], [4]] });
  });
});

describe('many forms', () => {
  it('stand by themselves, with their lines', () => {
    expect(formsIn(['{:a 1}\n\n{:a\n 2} {:a 3}\n; end\n4'])).toEqual([
      [{ a: 1 }, 1],
      [{ a: 2 }, 3],
      [{ a: 3 }, 4],
      [4, 6],
    ]);
  });

  it('stand in one vector or list', () => {
    const forms = [
      [{ a: 1 }, 1],
      [[2, 3], 2],
    ];
    expect(formsIn(['[{:a 1}\n[2 3]]\n'])).toEqual(forms);
    expect(formsIn(['\n; all of it\n({:a 1},\n[2 3])']).map(([form]) => form)).toEqual(forms.map(([form]) => form));
    expect(formsIn(['[]', ' \n'])).toEqual([]);
  });

  it('are none in an empty file', () => {
    expect(formsIn([''])).toEqual([]);
    expect(formsIn(['\n ; nothing'])).toEqual([]);
  });

  it('come out the same wherever the text is cut', () => {
    const text =
      '[{:type :invoke, :f :acquire, :value [:k "a\\u0041\\n\\"{"], :time 341187643, :process 0} ; c {\n' +
      '#jepsen.history.Op{:type :ok #_ {:x 1} :value \\} :error [:a #{1 -2.5 3/4}] :n nil :x #"r\\"e" :y ##Inf}\n12N true]';
    const whole = formsIn([text]);
    expect(whole).toHaveLength(4);
    for (let at = 0; at <= text.length; at++) expect(formsIn([text.slice(0, at), text.slice(at)])).toEqual(whole);
    expect(formsIn([...text])).toEqual(whole);
  });
});

describe('damage is reported with its line, and never passed over', () => {
  const TORN = '; if the file was cut off, --torn judges what stands before it';
  const cases: [text: string, message: string][] = [
    ['{:a 1}\n{:a 1]\n', 'h.edn, line 2: "]" closes nothing that is open'],
    ['{:a 1}}', 'h.edn, line 1: "}" closes nothing that is open'],
    ['[{:a 1}\n{:b [1 }]', 'h.edn, line 2: "}" closes nothing that is open'],
    ['{:a 1}\n{:a', `h.edn, line 2: what begins here never ends${TORN}`],
    ['{:a 1\n{:a 2}\n{:a 3}\n', 'h.edn, line 1: what begins here never ends'],
    ['"abc\n', `h.edn, line 1: what begins here never ends${TORN}`],
    ['[{:a 1}\n{:a 2}\n', 'h.edn, line 1: the vector that begins here never ends'],
    ['[{:a 1}]\n{:a 2}', 'h.edn, line 2: something follows the end of the vector'],
    ['{:a}', 'h.edn, line 1: a map has the key :a without a value'],
    ['{:a 1\n :b "\\q"}', 'h.edn, line 2: a string has the unknown escape \\q (in what begins on line 1)'],
    ['12ab', 'h.edn, line 1: "12ab" is no number'],
    ['-1-2', 'h.edn, line 1: "-1-2" is no number'],
    [': a', 'h.edn, line 1: a colon without a word is no keyword'],
    ['#<Object Thing@1>', 'h.edn, line 1: "#<Object" is not EDN'],
    ['##Infinity', 'h.edn, line 1: "##Infinity" is not EDN'],
    ['{:a #_}', 'h.edn, line 1: #_ is followed by no form'],
    ['[#tag]', 'h.edn, line 1: #tag is followed by no form'],
    ['\\bell', 'h.edn, line 1: \\bell is no character'],
    ['"\\u00zz"', 'h.edn, line 1: \\u00zz is no character'],
    ['@x', 'h.edn, line 1: "@x" is not EDN'],
    [`{:a ${'['.repeat(300)}`, 'h.edn, line 1: more than 200 brackets are open'],
    [`${'#a '.repeat(300)}1`, 'h.edn, line 1: more than 200 forms are within one another'],
  ];
  test.each(cases)('%s', (text, message) => {
    expect(() => formsIn([text])).toThrow(expect.objectContaining({ name: 'DamagedHistory', message }));
    expect(() => formsIn([...text])).toThrow(message);
  });
});

it('a form that is longer than any operation has lost its end, and reading stops', () => {
  const forms = new Forms('h.edn', new EdnSyntax(), () => {});
  expect(() => forms.add(`1\n"${'x'.repeat(17_000_000)}`)).toThrow('h.edn, line 2: what begins here never ends');
});

// ---------------------------------------------------------------------------------------------------------- properties

type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

const word = fc.stringMatching(/^[a-z][a-z0-9.-]{0,8}$/).filter((text) => !['nil', 'true', 'false'].includes(text));
const { value: anyValue } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noDefaultInfinity: true, noNaN: true }).map((number) => number + 0),
    fc.string({ unit: 'binary' }).map((text) => (/^:/.test(text) ? 'x' : text)),
    word.map((name) => `:${name}`),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(word, tie('value'), { maxKeys: 4 }),
  ),
}));

function written(value: Value): string {
  if (typeof value === 'string')
    return /^:/.test(value) ? value : JSON.stringify(value).replace(/\\u00(..)/g, '\\u00$1');
  if (Array.isArray(value)) return `[${value.map(written).join(' ')}]`;
  if (typeof value !== 'object' || value === null) return value === null ? 'nil' : String(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `:${key} ${written(item)}`)
    .join(', ')}}`;
}

test('whatever is written comes back, wherever the text is cut', () => {
  fc.assert(
    fc.property(fc.array(anyValue, { minLength: 1, maxLength: 5 }), fc.infiniteStream(fc.nat(30)), (values, sizes) => {
      const text = `[${values.map(written).join('\n')}]`;
      const pieces: string[] = [];
      for (let at = 0; at < text.length; ) {
        const size = 1 + sizes.next().value!;
        pieces.push(text.slice(at, at + size));
        at += size;
      }
      expect(formsIn(pieces).map(([form]) => form)).toEqual(values.map((value) => JSON.parse(JSON.stringify(value))));
    }),
  );
});

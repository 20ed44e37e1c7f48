/** Whatever a file holds, importing it gives a history or one line that names the file: never a stack trace. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { importHistory } from '../../../../../harness/record/import/index.js';

const folder = mkdtempSync(join(tmpdir(), 'import-any-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'history');

async function historyOrLine(text: string): Promise<void> {
  writeFileSync(file, text);
  try {
    const { history } = await importHistory(file, {});
    expect([...history.all()]).toHaveLength(history.length);
  } catch (error) {
    const { name, message } = error as Error;
    expect(name).toBe('DamagedHistory');
    expect(message.startsWith(`${file}, line `)).toBe(true);
    expect(message).not.toMatch(/[\r\n]/);
  }
}

const anything = fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.jsonValue() });
/** Nearly an event: each field is what it should be, or anything. */
const event = fc
  .tuple(
    fc.record({
      type: fc.constantFrom('invoke', 'ok', 'fail', 'info'),
      f: fc.constantFrom('acquire', 'release', 'read-lock', 'start'),
      process: fc.nat(2),
      value: fc.oneof(fc.nat(5), fc.constant(null), fc.tuple(fc.nat(2), fc.nat(5))),
      time: fc.nat(1_000),
      index: fc.nat(1_000),
    }),
    fc.record({ type: anything, f: anything, process: anything, value: anything, time: anything, index: anything }),
  )
  .map(([good, any]) => {
    const changed = Object.entries(any).filter(([, value]) => value !== undefined);
    return { ...good, ...Object.fromEntries(changed) };
  });

function edn(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(edn).join(' ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([name, inner]) => `${/^[a-z]+$/.test(name) ? `:${name}` : JSON.stringify(name)} ${edn(inner)}`)
      .join(', ')}}`;
  return value === null ? 'nil' : JSON.stringify(value);
}

test.each([
  ['JSON', JSON.stringify],
  ['EDN', edn],
] as const)('events in %s, some fields of which are anything', (_, written) =>
  fc.assert(fc.asyncProperty(fc.array(event), (events) => historyOrLine(events.map((one) => written(one)).join('\n')))),
);

test('any JSON', () => fc.assert(fc.asyncProperty(fc.json(), historyOrLine)));

test('brackets, quotes and words in any order', () => {
  const piece = fc.constantFrom(
    ...'{}[]()"\\#:;,^',
    '#_',
    '##Inf',
    ':type',
    ':ok',
    'nil',
    '"a"',
    '1',
    '-1e9',
    '\\u00',
    '\n',
    '\u2028',
    ' ',
  );
  return fc.assert(fc.asyncProperty(fc.array(piece), (pieces) => historyOrLine(pieces.join(''))));
});

test('any text at all', () => fc.assert(fc.asyncProperty(fc.string({ unit: 'binary' }), historyOrLine)));

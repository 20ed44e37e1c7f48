/** What is said of data that does not fit a schema: one clear line, whatever the data. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { runConfigSchema } from '../../../../harness/record/schemas/config.js';
import { conform, conformText, conformWhole } from '../../../../harness/record/schemas/conform.js';
import { planSchema } from '../../../../harness/record/schemas/plan.js';
import { resultsSchema } from '../../../../harness/record/schemas/results.js';
import { readConfig, readPlan, readResults, readWholeConfig, StoreError } from '../../../../harness/record/store.js';
import { sampleInput } from '../../reports/sample.js';

const LINE = /^\P{Cc}+$/u;

const problem = (schema: z.ZodType, data: unknown) => conform(schema, data).problem;

describe('what is expected, where, and what was found', () => {
  it.each<[z.ZodType, unknown, string]>([
    [z.number(), 'x', 'expected a number, got "x"'],
    [z.number(), undefined, 'missing, expected a number'],
    [z.number(), Number.POSITIVE_INFINITY, 'expected a number, got Infinity'],
    [z.int(), 1.5, 'expected a whole number, got 1.5'],
    [z.int(), 1e300, 'expected a whole number, got 1e+300'],
    [z.int().min(1), 0, 'expected a whole number from 1, got 0'],
    [z.int().min(1).max(9), 10, 'expected a whole number from 1 to 9, got 10'],
    [z.number().positive(), 0, 'expected a number above 0, got 0'],
    [z.string().min(1), '', 'expected a string that is not empty, got ""'],
    [z.array(z.string()).min(1), [], 'expected a list that is not empty, got []'],
    [z.array(z.tuple([z.string(), z.string()])), [['a']], '[0]: expected a list of 2, got ["a"]'],
    [z.literal(1), 2, 'expected 1, got 2'],
    [z.enum(['a', 'b']), 3, 'expected one of a, b, got 3'],
    [z.boolean(), 'yes', 'expected true or false, got "yes"'],
    [z.object({ a: z.object({ b: z.string() }) }), { a: [] }, 'a: expected an object, got []'],
    [z.object({ a: z.array(z.object({ b: z.string() })) }), { a: [{ b: 1 }] }, 'a[0].b: expected a string, got 1'],
    [z.record(z.string(), z.number()), { 'a b\n': 'x' }, '["a b\\n"]: expected a number, got "x"'],
    [z.strictObject({ a: z.string() }), { a: 'x', b: 1 }, 'unknown field "b"; there are a'],
    [z.union([z.enum(['a']), z.strictObject({ b: z.string() })]), 'c', 'expected "a" or an object, got "c"'],
    [z.union([z.enum(['a']), z.strictObject({ b: z.string() })]), { b: 1 }, 'b: expected a string, got 1'],
    [z.string(), 7, 'expected a string, got 7'],
  ])('%#: %o', (schema, data, says) => {
    expect(problem(schema, data)).toBe(says);
  });

  it('of objects distinguished by a field, the field', () => {
    const schema = z.discriminatedUnion('type', [
      z.object({ type: z.literal('a') }),
      z.object({ type: z.enum(['b', 'c']) }),
    ]);
    expect(problem(schema, { type: 'q' })).toBe('type: expected one of a, b, c, got "q"');
    expect(problem(schema, {})).toBe('type: missing, expected one of a, b, c');
    expect(problem(schema, 7)).toBe('expected an object, got 7');
  });

  it('cuts what is long, and shows no control character', () => {
    expect(problem(z.number(), 'x'.repeat(100))).toBe(`expected a number, got "${'x'.repeat(59)}…`);
    expect(problem(z.number(), '\u009b31m\u2028')).toBe('expected a number, got "\\u009b31m\\u2028"');
    expect(conformText('{"a":\u001b[31m\n}', (data) => conform(z.object({}), data)).problem).toMatch(LINE);
  });

  it('nested deeper than the stack', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    // Newer versions of Node can show it, and then it is shown in part.
    expect(conformText(deep, (data) => conform(planSchema, data)).problem).toMatch(
      /^expected an object, got (something nested too deep|\[{10,200}…)$/,
    );
  });
});

describe('files of the first release', () => {
  const FOLDER = join(import.meta.dirname, '../../../fixtures/first-release');
  const written = (name: string) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));

  it('are read whole', () => {
    const { again, ...rest } = written('config.json');
    const config = { ...rest, version: 2, reproduce: again };
    expect(readWholeConfig(FOLDER)).toEqual(config);
    expect(readConfig(FOLDER)).toEqual(config);
    // The last step has no duration: a play that ended as it struck has left that.
    expect(readPlan(FOLDER)).toEqual(written('plan.json'));
  });

  it('results among them', () => {
    const { reproduce: again, ...results } = sampleInput().results;
    const folder = mkdtempSync(join(tmpdir(), 'store-'));
    try {
      writeFileSync(join(folder, 'results.json'), JSON.stringify({ ...results, version: 1, again }));
      expect(readResults(folder)).toMatchObject({ runId: results.runId, version: 2, reproduce: again });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('and none of them is taken for the results of a run', () => {
    expect(readResults(FOLDER)).toBeUndefined();
  });

  it.each([
    ['{', /config\.json: not JSON/],
    ['null', /config\.json: expected an object, got null$/],
    ['{"version":9}', /config\.json: version: expected 2, got 9$/],
    ['{"version":1}', /config\.json: runId: missing, expected a string$/],
  ])('%s instead: one clear line', (text, says) => {
    const folder = mkdtempSync(join(tmpdir(), 'store-'));
    try {
      writeFileSync(join(folder, 'config.json'), text);
      expect(() => readConfig(folder)).toThrow(StoreError);
      expect(() => readConfig(folder)).toThrow(says);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('any JSON at all', () => {
  const schemas = { plan: planSchema, config: runConfigSchema, results: resultsSchema };
  /** JSON that has some of the right names in the right places, so that it gets further in than the first. */
  const nearly = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(1, 0, -1, null, true, 'held', 'kill', 'primary', 'acquire', ''),
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 8 }),
    ),
  })).value;

  it.each(Object.entries(schemas))('is a %s, or one clear line', (_, schema) => {
    fc.assert(
      fc.property(nearly, (data) => {
        for (const read of [conform, conformWhole]) {
          const { value, problem } = read(schema as z.ZodType, data);
          if (value === undefined) expect(problem).toMatch(LINE);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('any text at all, too', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.json()), (text) => {
        const { value, problem } = conformText(text, (data) => conform(planSchema, data));
        if (value === undefined) expect(problem).toMatch(LINE);
      }),
      { numRuns: 300 },
    );
  });
});

const NAMES = [
  ...Object.keys(runConfigSchema.shape),
  ...Object.keys(planSchema.shape),
  ...Object.keys(resultsSchema.shape),
  ...['atMs', 'after', 'event', 'count', 'fault', 'target', 'forMs', 'args', 'names'],
  ...['checker', 'holds', 'cause', 'chain', '__proto__', 'constructor', 'a b'],
];

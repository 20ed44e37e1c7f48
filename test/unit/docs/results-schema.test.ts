/** The published schema of results.json: real results fit it, and what does not is found. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { resultsSchemaPage } from '../../../cli/docs/results-schema.js';
import { conform } from '../../../harness/record/schemas/conform.js';
import { resultsSchema } from '../../../harness/record/schemas/results.js';
import { sampleInput } from '../reports/sample.js';
import { SCHEMA, schemaTroubles } from './schema.js';

describe('docs/results.schema.json', () => {
  const { results } = sampleInput();

  it('is what the code reads; if not, run: npm run docs', () => {
    expect(readFileSync(SCHEMA, 'utf8')).toBe(resultsSchemaPage());
  });

  it('reads what was written: a time without end is Infinity again', () => {
    const endless = { ...results.violations[0]!, untilNs: Number.POSITIVE_INFINITY };
    const written = { ...results, violations: [endless] };
    expect(conform(resultsSchema, JSON.parse(JSON.stringify(written))).value).toEqual(written);
  });

  it('fits results', () => {
    expect(schemaTroubles(results)).toEqual([]);
  });

  it('fits times without end, and what only some results have', () => {
    const [violation] = results.violations;
    const endless = {
      ...violation!,
      untilNs: Number.POSITIVE_INFINITY,
      holds: [{ ...violation!.holds[0]!, token: 7, leaseEndNs: Number.POSITIVE_INFINITY }],
    };
    const measurement = { name: 'latency', of: 'acquires', values: { p99Ms: 1.5 }, evidence: [] };
    const reading = {
      reading: 'strict',
      title: 'strict',
      verdict: 'valid',
      procedure: 'cores',
      found: 0,
      proofs: [],
      notes: [],
    };
    const checkers = [{ ...results.checkers[0]!, measurements: [measurement] }];
    expect(schemaTroubles({ ...results, violations: [endless], checkers, readings: [reading] })).toEqual([]);
  });

  it('finds what is missing, unknown or of another kind', () => {
    const { headline: _, ...beheaded } = results;
    expect(schemaTroubles(beheaded)).toEqual([" must have required property 'headline'"]);
    expect(schemaTroubles({ ...results, extra: 1 })).toEqual([' must NOT have additional properties']);
    expect(schemaTroubles({ ...results, exitStatus: 3 })).toEqual([
      '/exitStatus must be equal to one of the allowed values',
    ]);
  });
});

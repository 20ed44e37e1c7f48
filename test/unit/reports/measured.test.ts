import { expect, it } from 'vitest';
import type { CheckerResult } from '../../../harness/vocabulary/verdict.js';
import { htmlReport } from '../../../reports/html.js';
import type { ReportInput } from '../../../reports/input.js';
import { sampleInput } from './sample.js';

const measuring = (measurements: CheckerResult['measurements']): ReportInput => {
  const input = sampleInput();
  const checker: CheckerResult = {
    checker: 'latency',
    verdict: 'valid',
    notes: [],
    violations: [],
    stats: {},
    ...(measurements && { measurements }),
  };
  return { ...input, results: { ...input.results, checkers: [checker] } };
};

it('shows each measurement with its units, and escapes what a lock said', () => {
  const page = htmlReport(
    measuring([
      {
        name: 'latency',
        of: 'acquires <b>granted</b>',
        values: { count: 1_234, p50Ms: 0.5, p99Ms: 12.25 },
        evidence: [],
      },
      { name: 'availability', of: 'the whole run', key: '<i>', values: { availablePercent: 99.5 }, evidence: [] },
    ]),
  );
  expect(page).toContain('<th class="number">p50, ms</th>');
  expect(page).toContain('<td>acquires &lt;b&gt;granted&lt;/b&gt;</td>');
  expect(page).toContain('<th>&lt;i&gt;</th>');
  expect(page).toContain('<td class="bar">99.5 %<i');
  expect(page).toMatch(/<td class="number">1,234<\/td><td class="number">0\.50<\/td><td class="number">12\.3<\/td>/);
});

it('says where to find rows that are left out', () => {
  const rows = Array.from({ length: 70 }, (_, n) => ({
    name: 'latency',
    of: `row ${n}`,
    values: { count: n },
    evidence: [],
  }));
  const page = htmlReport(measuring(rows));
  expect(page).toContain('<td>row 59</td>');
  expect(page).not.toContain('<td>row 60</td>');
  expect(page).toContain('10 further rows are in <code>results.json</code>');
});

it('shows what each reading says, beside the verdict', () => {
  const input = sampleInput();
  const reading = {
    reading: 'strict',
    title: 'strict',
    verdict: 'invalid' as const,
    procedure: 'cores',
    found: 2_000,
    proofs: ['c1 certainly held <it>'],
    notes: [],
  };
  const page = htmlReport({ ...input, results: { ...input.results, readings: [reading] } });
  expect(page).toContain('<span class="state bad">invalid</span></td><td>2,000</td><td>cores</td>');
  expect(page).toContain('c1 certainly held &lt;it&gt;');
  expect(htmlReport(input)).not.toContain('id="readings"');
});

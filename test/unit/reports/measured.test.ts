import { describe, expect, it } from 'vitest';
import type { CheckerResult, SecondProcedure } from '../../../harness/vocabulary/verdict.js';
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

describe('what two procedures decided', () => {
  const input = sampleInput();
  const page = (second: SecondProcedure) => {
    const checkers = [
      { checker: 'mutual-exclusion', verdict: 'valid' as const, notes: [], violations: [], stats: {}, second },
    ];
    return htmlReport({ ...input, results: { ...input.results, checkers } });
  };

  it('is one answer where they agree on every key', () => {
    const told = page({ agreed: 8, open: [], disagreed: [] });
    expect(told).toContain('<span class="state good">one answer</span>');
    expect(told).toContain('They say the same of 8 of 8 keys.');
  });

  it('names the keys that one decided alone, and what they disagree about', () => {
    const alone = page({ agreed: 7, open: ['lock:1: too much to <search>'], disagreed: [] });
    expect(alone).toContain('<span class="state doubt">one procedure only</span>');
    expect(alone).toContain('<li>lock:1: too much to &lt;search&gt;</li>');
    const disagreed = page({ agreed: 7, open: [], disagreed: ['two procedures disagree about exclusion'] });
    expect(disagreed).toContain('<span class="state bad">they disagree</span>');
    expect(disagreed).toContain('<li>two procedures disagree about exclusion</li>');
  });

  it('is followed by other readings, folded, each with why it may differ', () => {
    const reading = {
      reading: 'strict',
      title: 'strict',
      verdict: 'invalid' as const,
      procedure: 'cores',
      found: 2_000,
      proofs: ['c1 certainly held <it>'],
      notes: [],
    };
    const told = htmlReport({ ...input, results: { ...input.results, readings: [reading] } });
    expect(told).toContain('<span class="state bad">invalid</span></td><td>2,000</td><td>cores</td>');
    expect(told).toMatch(
      /<details><summary>The same history under other readings.*<p>Here no lease ends, .*c1 certainly held &lt;it&gt;/s,
    );
    expect(htmlReport(input)).not.toContain('id="readings"');
  });
});

import { describe, expect, it } from 'vitest';
import type { Violation } from '../../../harness/vocabulary/verdict.js';
import { markdownSummary, reports } from '../../../reports/index.js';
import { runRow, runsPage } from '../../../reports/runs.js';
import { markupOf, tagsOf } from './reading.js';
import { inputOf, plainSample, sampleConfig, sampleInput } from './sample.js';

const input = sampleInput();

describe('the list of runs', () => {
  const violated = runRow(sampleConfig, input.results, true);
  const running = runRow({ ...sampleConfig, runId: 'later', startedAt: '2026-03-15T00:00:00Z' }, undefined, false);

  it('has a row for each, newest first, with verdict, causes and a link to the report', () => {
    const page = markupOf(runsPage([violated, running]));
    const rows = tagsOf(page).filter(({ attributes }) => attributes['data-verdict'] !== undefined);
    expect(rows.map(({ attributes }) => attributes['data-verdict'])).toEqual(['none', 'violated']);
    expect(page).toContain('2 runs: 1 violated, 1 none.');
    expect(page).toContain(
      '<span class="state bad">✗\u00a0VIOLATED: not safe on sentinel</span></td><td>the deployment&#39;s ×2, the lease&#39;s ×1</td>',
    );
    const passed = runRow(sampleConfig, { ...input.results, words: undefined!, verdict: 'held' }, true);
    expect(markupOf(runsPage([passed]))).toMatch(
      /data-verdict="passed"><td data-value="2"><span class="state doubt">!\u00a0PASSED/,
    );
    expect(page.replace(/<\/?span[^>]*>/g, '')).toContain(
      'exclusion broken ×2, stale holder ×1: failover-lost-write, client-paused',
    );
    expect(page).toContain(`<a href="./${sampleConfig.runId}/report.html">`);
    expect(page).not.toContain('./later/');
  });

  it('breaks no name within, however many there are, unless it is longer than a line', () => {
    const nemesis = Array.from({ length: 14 }, (_, n) => `pause:client-${n}`);
    const long = `my-${'very-'.repeat(12)}long-lock`;
    const page = markupOf(runsPage([{ ...violated, nemesis, lock: long, topology: 'sentinel' }]));
    expect(page).toContain('<span class="nowrap">sentinel,</span> <span class="nowrap">netns</span>');
    expect(page.match(/<span class="nowrap">pause:client-\d+,<\/span>/g)).toHaveLength(12);
    expect(page).toContain('</span> and 2 more</td>');
    expect(page).toContain(`<td>${long} </td>`);
  });

  it('escapes the names of locks', () => {
    const page = markupOf(
      runsPage([{ ...violated, runId: '"><script>', lock: '<img src=x onerror=alert(1)>', causes: ['<i>'] }]),
    );
    expect(tagsOf(page).map(({ name }) => name)).not.toContain('img');
    expect(page).toContain('./%22%3E%3Cscript%3E/report.html');
  });
});

describe('the summary in Markdown', () => {
  it('says verdict, properties, the first violations and the command', () => {
    const text = markdownSummary(input);
    expect(text).toMatch(
      /^## ❌ lock-torture: VIOLATED: not safe on sentinel .*\n\n- \*\*Lock\*\*: no .*\n- \*\*Deployment\*\*: Redis lost .*\n- \*\*Leases\*\*: /,
    );
    expect(text).toContain('\n    npm run torture -- --topology sentinel --seed 42 --times 20\n');
    const words = { ...input.results.words!, verdict: 'PASSED, WITH 2 DOUBLE HOLDS ALLOWED BY --fail-on lock' };
    const passed = markdownSummary({ ...input, results: { ...input.results, words, verdict: 'held', exitStatus: 0 } });
    expect(passed).toMatch(/^## ⚠️ lock-torture: PASSED, WITH 2 DOUBLE HOLDS/);
    expect(text).toMatch(
      /^\| A lock was held by more clients .* \| ✗ exclusion broken: 2 \| First at 10\.388 s on lock:0/m,
    );
    expect(text).toContain('| After everything was healed, every lock could be acquired again | ✓ held |');
    expect(text).toContain('Why: r2 was promoted without c2');
    expect(text).toContain(
      "1. **exclusion broken, the deployment's**: failover lost the write ×2, longest 812 ms.<br>Clearest: c2",
    );
    expect(text).toContain('<br>Whose: What deployment means. (<https://example.org/deployment>)<br>Proof: ');
    expect(text).toContain('\n    npm run torture -- --topology sentinel --seed 42\n');
  });

  it('shows markup, mentions and links of a lock as text', () => {
    const plain = plainSample();
    plain.config.lock = '<b>`x` *y* [a](https://evil.example) @everyone | z\n# h';
    const text = markdownSummary(inputOf(plain));
    expect(text).not.toMatch(/<b>|[^\\]`x|[^\\]\*y|[^\\]\[a|https:\/\/evil|[^\\]@everyone|\n# h/);
  });
});

describe('the worst violation', () => {
  it('is the one that the report shows first: of the first cause, the clearest', () => {
    const [one] = input.results.violations;
    const drawn = (violations: Violation[]) =>
      /aria-label="([^"]*)"/.exec(
        reports['worst-violation.svg']({ ...input, results: { ...input.results, violations } })!,
      )![1];
    const later = { ...one!, fromNs: one!.fromNs + 1e6, untilNs: one!.untilNs + 5e9 };
    expect(drawn([one!, later])).toMatch(/^Violation 2,/);
    expect(drawn([one!, { ...later, class: 'stale' }])).toMatch(/^Violation 1,/);
  });

  it('is a drawing of its own, and a run that held has none', () => {
    const svg = reports['worst-violation.svg'](input)!;
    expect(svg).toMatch(/^<\?xml[^>]*>\n<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    tagsOf(svg.replace(/<style>[^<]*<\/style>/, ''));
    expect(svg).not.toContain('<a ');
    const held = { ...input, results: { ...input.results, violations: [] } };
    expect(reports['worst-violation.svg'](held)).toBeUndefined();
  });
});

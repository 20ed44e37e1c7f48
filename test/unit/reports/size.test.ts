/** How large the page of a run with many violations is: it is sent, kept and opened as one file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeRecordedRun } from '../../../bench/recorded-run.js';
import { readRun } from '../../../cli/judge/judge.js';
import { htmlReport } from '../../../reports/index.js';
import { markupOf, sheetsOf, withoutScripts } from './reading.js';

it('a page with 98 violations has at most 700 kB, and one drawing until more are asked for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-size-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeRecordedRun(folder, { operations: 1_200, overlaps: 100, observed: true, seed: 7 });
  const input = await readRun(folder);
  const violations = input.results.violations.slice(0, 98);
  const page = htmlReport({
    ...input,
    results: { ...input.results, violations, found: { exclusion: violations.length } },
  });
  process.stderr.write(
    `a page with ${violations.length} violations: ${Math.round(Buffer.byteLength(page) / 1e3)} kB\n`,
  );
  expect(page.includes('<h2 id="violations">98 violations, by cause</h2>')).toBe(true);
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(700_000);
  const drawn = (document: string) =>
    new Set(sheetsOf(document).map(({ tags }) => /^Violation \d+/.exec(tags[0]!.attributes['aria-label']!)![0]));
  expect(drawn(withoutScripts(page)).size).toBe(1);
  expect(drawn(markupOf(page)).size).toBe(18);
});

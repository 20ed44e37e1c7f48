/** Pages in a real browser that need no run: they are made of what tests have. One of a run: `report.test.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runRow, runsPage } from '../../../reports/index.js';
import { open } from '../../support/browser.js';
import { freshFolder } from '../../support/torture.js';
import { sampleConfig, sampleInput } from '../../unit/reports/sample.js';

/** In a folder of its own. */
function written(page: string): string {
  const file = join(freshFolder(), 'page.html');
  writeFileSync(file, page);
  return file;
}

describe('the list of runs', { tags: ['browser'] }, () => {
  const { results } = sampleInput();
  const rows = [
    { ...runRow(sampleConfig, results, true), runId: 'b', seed: 9, lock: 'set-nx-px', startedAt: '3' },
    { ...runRow(sampleConfig, undefined, false), runId: 'a', seed: 10, lock: 'redlock-10', startedAt: '2' },
    { ...runRow(sampleConfig, undefined, false), runId: 'c', seed: 7, lock: 'redlock-9', startedAt: '1' },
  ];
  const file = written(runsPage(rows));

  test('is sorted by the column whose heading is pressed, and the other way round by the next press', async () => {
    await using opened = await open(file);
    const { page, trouble } = opened;
    const order = async () =>
      (await page.locator('tr[data-verdict] td:last-child').allTextContents()).map((text) => text[0]).join('');
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    expect(await order()).toBe('bac');
    await press('seed');
    expect(await order()).toBe('abc');
    await press('seed');
    expect(await order()).toBe('cba');
    expect(await page.locator('th[aria-sort]').allTextContents()).toEqual(['seed']);
    await press('lock');
    expect(await order()).toBe('cab');
    // As a keyboard does it.
    await page.getByRole('button', { name: 'run', exact: true }).press('Enter');
    expect(await order()).toBe('abc');
    await press('verdict');
    expect(await order()).toBe('bac');
    expect(trouble).toEqual([]);
  });

  test('breaks no name on a phone, where it can be sorted as well', async () => {
    await using opened = await open(file, { width: 390 });
    const { page } = opened;
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    const lines = await page
      .locator('.runs .nowrap')
      .evaluateAll((names) => names.map((name) => name.getClientRects().length));
    expect(new Set(lines)).toEqual(new Set([1]));
    expect(await page.getByRole('button', { name: 'seed', exact: true }).isVisible()).toBe(true);
  });
});

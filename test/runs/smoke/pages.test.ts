/** Pages in a real browser that need no run: they are made of what tests have. One of a run: `report.test.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { htmlReport, runRow, runsPage } from '../../../reports/index.js';
import { type Inside, open } from '../../support/browser.js';
import { freshFolder } from '../../support/torture.js';
import { sampleConfig, sampleInput } from '../../unit/reports/sample.js';

declare const lockTorture: Inside;

/** For what the page shows when it has drawn. */
const PATIENCE = { timeout: 20_000 };

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

describe('the report of a run with violations', { tags: ['browser'] }, () => {
  const input = sampleInput();
  const file = written(htmlReport(input));

  test('shows verdict, the clearest violation and what to do on its first screen', async () => {
    await using opened = await open(file);
    const { page } = opened;
    await page.setViewportSize({ width: 1280, height: 800 });
    for (const what of [
      '#verdict .in-short',
      '#properties > summary',
      '#clearest .why',
      '#clearest .blame',
      '#clearest .command',
    ]) {
      const { y, height } = (await page.locator(what).boundingBox())!;
      expect(y + height, what).toBeLessThanOrEqual(800);
    }
    const drawing = (await page.locator('#clearest svg.sheet').boundingBox())!;
    expect(drawing.y + drawing.height / 2).toBeLessThanOrEqual(800);
  });

  test('makes a drawing when its violation is opened, and not before', async () => {
    await using opened = await open(file);
    const { page, trouble } = opened;
    const drawings = () => page.locator('svg.sheet').count();
    expect(await drawings()).toBe(1);
    await page.locator('details.group > summary').first().click();
    expect(await drawings()).toBe(1);
    await page.locator('details.group[open] details.one > summary').first().press('Enter');
    await expect.poll(drawings, PATIENCE).toBe(3);
    // A link to what is folded away opens it.
    await page.evaluate(() => (location.hash = '#violation-3'));
    await expect.poll(drawings, PATIENCE).toBe(4);
    const line = input.results.violations[2]!.evidence[0]!;
    await page.evaluate((id) => (location.hash = `#${id}`), `h${line}`);
    await expect.poll(() => page.locator(`#h${line}`).isVisible(), PATIENCE).toBe(true);
    expect(trouble).toEqual([]);
  });

  test('obeys the keys that its buttons name wherever the focus is, and writes in no field', async () => {
    await using opened = await open(file);
    const { page, trouble } = opened;
    const state = () => page.evaluate(() => lockTorture.view.atUs);
    const first = Math.min(...input.results.violations.map(({ fromNs }) => fromNs)) / 1e3;
    await page.click('[data-do=in]');
    await page.keyboard.press('n');
    expect(await state()).toBe(first);
    await page.click('h2 >> nth=1');
    await page.keyboard.press('n');
    expect(await state()).toBeGreaterThan(first);
    await page.keyboard.press('p');
    expect(await state()).toBe(first);
    expect(await page.locator('#chart').evaluate((chart) => chart.getBoundingClientRect().top < innerHeight)).toBe(
      true,
    );
    await page.evaluate(() => document.body.append(Object.assign(document.createElement('input'), { id: 'field' })));
    await page.locator('#field').pressSequentially('n0');
    expect(await page.inputValue('#field')).toBe('n0');
    expect(await state()).toBe(first);
    expect(trouble).toEqual([]);
  });

  test('explains a word where it stands, by key, and copies a command', async () => {
    await using opened = await open(file, { scripts: false });
    const explanation = opened.page.locator('#term-hold');
    expect(await explanation.isVisible()).toBe(false);
    await opened.page.locator('#clearest .term', { hasText: 'hold #' }).press('Enter');
    expect(await explanation.textContent()).toContain('from a grant until its release');
    await expect.poll(() => explanation.isVisible(), PATIENCE).toBe(true);
    await opened.page.keyboard.press('Escape');
    await expect.poll(() => explanation.isVisible(), PATIENCE).toBe(false);

    await using scripted = await open(file);
    await scripted.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await scripted.page.locator('#clearest [data-copy]').click();
    await expect.poll(() => scripted.page.locator('#clearest [data-copy]').textContent(), PATIENCE).toBe('copied');
    expect(await scripted.page.evaluate(() => navigator.clipboard.readText())).toBe(input.results.reproduce);
    expect(scripted.trouble).toEqual([]);
  });

  test('can be read and scrolled on a phone: no wider than it, and of causes only their names', async () => {
    await using opened = await open(file, { width: 390 });
    const { page } = opened;
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    for (const group of await page.locator('details.group').all())
      expect((await group.boundingBox())!.height).toBeLessThan(150);
    await page.evaluate(() => scrollTo(0, 3_000));
    expect((await page.locator('nav').boundingBox())!.y).toBe(0);
    expect(await page.textContent('nav a[href="#violations"]')).toBe('Violations 3');
  });
});

/**
 * Reports of a run without faults and of long ones, in a real browser. One with violations: smoke/report.test.ts.
 *
 * @module-tag namespaces
 */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeRecordedRun } from '../../../bench/recorded-run.js';
import { judgeRun } from '../../../cli/judge/judge.js';
import { type Inside, open } from '../../support/browser.js';
import { freshFolder, QUIET, torture } from '../../support/torture.js';
import { schemaTroubles } from '../../unit/docs/schema.js';

declare const lockTorture: Inside;

describe('the report of a run without faults', { tags: ['browser'] }, () => {
  test('says its verdict and has no violation to go to', async () => {
    const run = await torture([...QUIET, '--time-limit', '3s']);
    expect(schemaTroubles(run.results)).toEqual([]);
    await using opened = await open(join(run.folder, 'report.html'));
    const { page, trouble } = opened;
    expect(await page.textContent('h1')).toContain(run.results.verdict.toUpperCase());
    expect(await page.textContent('#violations + p')).toContain('None was found');
    expect(await page.locator('[data-do=next-violation]').count()).toBe(0);
    expect(trouble).toEqual([]);
  });
});

/** Bounds that a busy machine keeps; what was measured is printed. */
const FIRST_PAINT_MS = 5_000;
const LEAST_FRAMES_A_SECOND = 10;
const MOST_BYTES = 6e6;

describe('the report of a long run', { tags: ['browser'] }, () => {
  test.each([
    { operations: 100_000, whole: true },
    { operations: 400_000, whole: false },
  ])('$operations operations: opens at once, and moves smoothly', async ({ operations, whole }) => {
    const folder = join(freshFolder(), 'long');
    mkdirSync(folder);
    writeRecordedRun(folder, { operations, overlaps: 40, observed: whole, seed: 7 });
    await judgeRun(folder);
    const report = join(folder, 'report.html');
    const bytes = statSync(report).size;
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES);

    await using opened = await open(report);
    const { page, trouble } = opened;
    const paintMs = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]!.startTime);
    const scriptedMs = await page.evaluate(() => performance.now());
    const perSecond = await page.evaluate(framesPerSecond);
    const megabytes = (bytes / 1e6).toFixed(1);
    process.stderr.write(
      `report of ${operations} operations: ${megabytes} MB, first paint ${Math.round(paintMs)} ms, drawn by ${Math.round(scriptedMs)} ms, ${Math.round(perSecond)} frames/s while panning\n`,
    );
    expect(paintMs).toBeLessThan(FIRST_PAINT_MS);
    expect(perSecond).toBeGreaterThan(LEAST_FRAMES_A_SECOND);
    expect((await page.textContent('main'))!.includes('neighbours are drawn as one')).toBe(!whole);
    expect(trouble).toEqual([]);
  });
});

/** In the page: pans there and back for a while, at two zooms. */
async function framesPerSecond(): Promise<number> {
  const { view, timeline } = lockTorture;
  const frame = () => new Promise(requestAnimationFrame);
  const [fromUs, untilUs] = [view.fromUs, view.untilUs];
  const before = timeline.frames;
  const began = performance.now();
  for (const part of [0.5, 0.02]) {
    const middle = (fromUs + untilUs) / 2;
    view.show(middle - ((untilUs - fromUs) * part) / 2, middle + ((untilUs - fromUs) * part) / 2);
    for (let n = 0; n < 45; n++) {
      view.pan(n % 30 < 15 ? 0.02 : -0.02);
      await frame();
    }
  }
  return ((timeline.frames - before) * 1_000) / (performance.now() - began);
}

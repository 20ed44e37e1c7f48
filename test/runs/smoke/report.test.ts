/**
 * The report of a run with violations, in a real browser.
 *
 * @module-tag namespaces
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { count, duration, exactMoment, moment } from '../../../harness/record/facts/words.js';
import type { Results } from '../../../harness/vocabulary/verdict.js';
import { type Inside, open } from '../../support/browser.js';
import { type Ended, freshFolder, torture } from '../../support/torture.js';
import { schemaTroubles } from '../../unit/docs/schema.js';

/** For what the page shows when it has drawn. */
const PATIENCE = { timeout: 20_000 };
/** Grants everything to everyone, and says what no lock should. */
const HOSTILE = `
const nasty = '</script><img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=2</script>\\u202e\\u001b[31m';
let acquires = 0;
export default {
  name: nasty,
  async connect(topology) {
    const redis = await topology.redis();
    return {
      async acquire(key, { leaseMs }) {
        if (topology.options.client === 'c3' && ++acquires === 3) throw new Error(nasty);
        await redis.set(key, nasty + topology.randomValue(), 'PX', leaseMs);
        return { release: async () => { await redis.del(key); } };
      },
    };
  },
};`;

declare const lockTorture: Inside;

describe('the report of a run that was violated, by a lock that attacks its reader', { tags: ['browser'] }, () => {
  let run: Ended;
  let results: Results;
  let report: string;
  beforeAll(async () => {
    const folder = freshFolder();
    const lock = join(folder, 'hostile.mjs');
    writeFileSync(lock, HOSTILE);
    const summary = join(folder, 'step-summary.md');
    run = await torture(
      [
        '--lock',
        lock,
        '--topology',
        'single',
        '--nemesis',
        'pause:client',
        '--keys',
        '2',
        '--lease',
        '2s',
        '--hold',
        '0.1x..0.5x',
        '--time-limit',
        '7s',
        '--seed',
        '3',
      ],
      { env: { GITHUB_STEP_SUMMARY: summary } },
    );
    expect(run.status, run.output + run.errors).toBe(1);
    expect(schemaTroubles(run.results)).toEqual([]);
    expect(readFileSync(summary, 'utf8')).toMatch(/^## ❌ lock-torture: VIOLATED by the lock\n/);
    results = run.results;
    report = join(run.folder, 'report.html');
  });

  test('says what results.json says, and nothing that the lock said is run', async () => {
    await using opened = await open(report);
    const { page, trouble } = opened;
    expect(await page.textContent('h1')).toContain(results.verdict.toUpperCase());
    expect(await page.textContent('.headline')).toBe(results.headline);
    const properties = (await page.textContent('.properties'))!;
    expect(properties).toContain(`exclusion broken: ${count(results.found.exclusion!)}`);
    const all = (await page.textContent('main'))!;
    results.violations.slice(0, 60).forEach(({ fromNs, untilNs, key }, at) => {
      expect(all).toContain(`${at + 1}. ${key} · at ${moment(fromNs)} for ${duration(untilNs - fromNs)}`);
    });
    const first = await page.locator('#clearest').textContent();
    expect(first).toContain(results.violations[0]!.cause.sentence);
    expect(first).toContain(results.violations[0]!.proof);
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.textContent('#run ~ table')).toContain('onerror');
    expect(trouble).toEqual([]);
  });

  test('zooms by button and by key, and shows what is under the pointer to the microsecond', async () => {
    await using opened = await open(report);
    const { page, trouble } = opened;
    const shown = () => page.evaluate(() => lockTorture.view.untilUs - lockTorture.view.fromUs);
    const whole = await shown();
    await page.click('[data-do=in]');
    expect(await shown()).toBeCloseTo(whole / 2, -1);
    await page.focus('#chart');
    await page.keyboard.press('+');
    expect(await shown()).toBeCloseTo(whole / 4, -1);
    await page.keyboard.press('0');
    expect(await shown()).toBe(whole);

    const [hold] = results.violations[0]!.holds;
    const middle = (hold!.fromNs + hold!.untilNs) / 2e3;
    const [x, y] = await page.evaluate(
      ([us, slot]) => {
        const { lanes, layout } = lockTorture.timeline;
        lockTorture.view.show(us - 1e6, us + 1e6);
        lanes.canvas.scrollIntoView({ block: 'center' });
        const { left, top } = lanes.canvas.getBoundingClientRect();
        return [left + lanes.x(us), top + layout.lanes.find(({ name }) => name === slot)!.y + 6];
      },
      [middle, hold!.client.replace(/\.\d+$/, '')] as const,
    );
    await page.mouse.move(x!, y!);
    const tip = page.locator('#tip');
    await tip.waitFor({ state: 'visible' });
    const words = await tip.textContent();
    expect(words).toContain(`${hold!.client} (hold #${hold!.id}) held ${hold!.key}`);
    expect(words).toContain(`${exactMoment(hold!.fromNs)} – ${exactMoment(hold!.untilNs)}`);
    expect(trouble).toEqual([]);
  });

  test('goes to the next violation, whose link shows the same elsewhere', async () => {
    await using opened = await open(report);
    const { page } = opened;
    const [first] = [...results.violations].sort((a, b) => a.fromNs - b.fromNs);
    await page.click('[data-do=next-violation]');
    // The page follows when it draws: what is looked for comes, be it a moment later.
    const at = `at=${Math.round(first!.fromNs / 1e3) / 1e6}`;
    await expect.poll(() => page.evaluate(() => location.hash), PATIENCE).toContain(at);
    for (const { client, key } of first!.holds)
      await expect.poll(() => page.locator('#state').textContent(), PATIENCE).toContain(`${client} holds ${key}`);
    const hash = await page.evaluate(() => location.hash);
    const told = await page.locator('#state').textContent();

    await using elsewhere = await open(report, { hash });
    await expect.poll(() => elsewhere.page.locator('#state').textContent(), PATIENCE).toBe(told);
    // A link is in seconds, and a number of them need not come back to the last bit.
    const times = ({ view }: Inside) => [view.fromUs, view.untilUs, view.atUs ?? 0].map(Math.round);
    await expect
      .poll(() => elsewhere.page.evaluate(`(${times})(lockTorture)`), PATIENCE)
      .toEqual(await page.evaluate(`(${times})(lockTorture)`));
    await elsewhere.page.keyboard.press('Tab');
    expect(elsewhere.trouble).toEqual([]);
  });

  test('has a dark theme, and fits a phone', async () => {
    await using opened = await open(report, { dark: true, width: 390 });
    const { page, trouble } = opened;
    const brightness = () =>
      page.evaluate(() => {
        const red = (colour: string) => Number(/\d+/.exec(colour)![0]);
        const canvas = lockTorture.timeline.lanes.theme.colour('page');
        return { page: red(getComputedStyle(document.body).backgroundColor), canvas };
      });
    const dark = await brightness();
    expect(dark.page).toBeLessThan(60);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(async () => (await brightness()).page, PATIENCE).toBeGreaterThan(200);
    await expect.poll(async () => (await brightness()).canvas, PATIENCE).not.toBe(dark.canvas);
    expect(trouble).toEqual([]);
  });

  test('without scripts it still says the verdict, the stories and why there is no timeline', async () => {
    await using opened = await open(report, { scripts: false });
    const { page, trouble } = opened;
    expect(await page.textContent('h1')).toContain('VIOLATED');
    expect(await page.locator('#clearest svg.sheet').first().isVisible()).toBe(true);
    const told = await page.locator('noscript').allTextContents();
    expect(told.join('\n')).toMatch(/steps and drawings of all violations but the first.*\n.*drawn by a script/);
    expect(await page.locator('#chart').isVisible()).toBe(false);
    expect(trouble).toEqual([]);
  });

  test('is in the list of runs, which can be filtered', async () => {
    await using opened = await open(join(run.folder, '../index.html'));
    const { page, trouble } = opened;
    expect(await page.locator('tr[data-verdict]').count()).toBe(1);
    expect(await page.getAttribute('tr[data-verdict] a', 'href')).toBe(`./${results.runId}/report.html`);
    await page.fill('#words', 'single pause');
    expect(await page.locator('tr[data-verdict]:visible').count()).toBe(1);
    await page.fill('#words', 'sentinel');
    expect(await page.locator('tr[data-verdict]:visible').count()).toBe(0);
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    expect(trouble).toEqual([]);
  });
});

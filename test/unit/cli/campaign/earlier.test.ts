/** The trend over campaigns: those that began earlier in the same folder, about the same lock, each finding new once. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { earlierCampaigns } from '../../../../cli/campaign/earlier.js';
import { campaignSheet, summariseCampaign } from '../../../../cli/campaign/tally.js';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'lock-torture-earlier-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const cellOf = (lock: string) => ({ lock, topology: 'single', nemesis: 'pause', workload: 'mutex', argv: [] });

function campaign(name: string, lock: string, found: string[] | 'nothing yet' | 'damaged'): string {
  const folder = join(base, name);
  mkdirSync(folder);
  const shard = { index: 1, of: 1 };
  const asked = { version: 1, cells: [cellOf(lock)], seed: 1, runs: 5, shard, known: [], tries: 3 };
  writeFileSync(join(folder, 'campaign.json'), JSON.stringify(asked));
  if (found === 'damaged') writeFileSync(join(folder, 'summary.json'), '{"findings":');
  if (typeof found === 'string') return folder;
  const findings = found.map((fingerprint) => ({ lock, topology: 'single', fingerprint }));
  const coverage = [{ runs: 5, struckHolds: 20, verdicts: { violated: found.length } }];
  writeFileSync(join(folder, 'summary.json'), JSON.stringify({ findings, coverage }));
  return folder;
}

it('is of those before it that came to something, about the same lock', () => {
  campaign('2026-01-01-campaign-a', './mine.ts', ['lost']);
  campaign('2026-01-02-campaign-b', './other.ts', ['lost']);
  campaign('2026-01-03-campaign-c', './mine.ts', 'nothing yet');
  campaign('2026-01-04-campaign-d', './mine.ts', 'damaged');
  campaign('2026-01-05-campaign-e', './mine.ts', ['lost', 'forgot']);
  mkdirSync(join(base, '2026-01-06-single-f'));
  const own = campaign('2026-01-07-campaign-g', './mine.ts', 'nothing yet');
  campaign('2026-01-08-campaign-h', './mine.ts', ['lost']);
  const earlier = earlierCampaigns(own);
  expect(earlier.map(({ id }) => id)).toEqual(['2026-01-01-campaign-a', '2026-01-05-campaign-e']);

  const tally = { cells: [cellOf('./mine.ts')], runs: [], known: [], planned: 5, failed: [], knownOk: false };
  const { tables } = campaignSheet(tally, summariseCampaign(tally), (run) => run, earlier);
  expect(tables.find(({ title }) => title === 'Beside earlier campaigns')!.rows).toEqual([
    ['2026-01-01-campaign-a', '5', '1', '1', '1', '20'],
    ['2026-01-05-campaign-e', '5', '2', '2', '1', '20'],
    ['this one', '0', '0', '0', '0', '0'],
  ]);
});

/** Merging parts of a campaign: what one machine would have said of the same runs, those that it could not make included. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Campaign, cellRunsIn } from '../../../../cli/campaign/campaign-folder.js';
import { write } from '../../../../cli/campaign/campaign-report.js';
import { mergeCommand } from '../../../../cli/campaign/merge-command.js';
import { summariseCampaign } from '../../../../cli/campaign/tally.js';
import type { Results } from '../../../../harness/vocabulary/verdict.js';
import { sampleConfig } from '../../reports/sample.js';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'lock-torture-merge-'));
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(base, { recursive: true, force: true });
});

const cell = { lock: './mine.ts', topology: 'single', nemesis: 'pause', workload: 'mutex', argv: [] };
const campaignOf = (seed: number, part: number): Campaign => ({
  ...{ version: 1, cells: [cell], seed, runs: 4, shard: { index: part, of: 2 }, known: [], tries: 3 },
});
const held: Results = {
  ...{ version: 2, runId: '', verdict: 'held', exitStatus: 0, headline: '', reasons: [], violations: [] },
  ...{ checkers: [], found: {}, readings: [], stats: { holds: 9, strikes: 2, struckHolds: 3 }, reproduce: 'again' },
} as never;

const PLAN = { version: 1, seed: 1, steps: [] };

/** Leaves a part with these runs finished, as a machine does; `failed`: those it could not make. */
function part(index: number, seeds: readonly number[], failed: readonly string[], { first = 1, day = 1 } = {}): string {
  const folder = join(base, `of-${first}`, `part-${index}`, 'its-campaign');
  mkdirSync(folder, { recursive: true });
  const campaign = campaignOf(first, index);
  writeFileSync(join(folder, 'campaign.json'), JSON.stringify(campaign));
  for (const seed of seeds) {
    const run = join(folder, 'runs', `run-${seed}`);
    mkdirSync(run, { recursive: true });
    const startedAt = `2026-01-0${day}T00:00:0${index}.000Z`;
    const files = { config: { ...sampleConfig, runId: `run-${seed}`, seed, startedAt }, results: held, plan: PLAN };
    for (const [name, value] of Object.entries(files)) writeFileSync(join(run, `${name}.json`), JSON.stringify(value));
  }
  write(
    folder,
    { cells: [cell], runs: cellRunsIn(folder, campaign), known: [], planned: 2, failed, knownOk: false },
    [],
  );
  return folder;
}

function merge(parts: readonly string[], name: string) {
  const out = join(base, 'merged', name);
  const status = mergeCommand(parts, { out, knownOk: false }, base);
  const read = (file: string) => readFileSync(join(out, file), 'utf8');
  return { status, summary: JSON.parse(read('summary.json')), page: read('report.html'), markdown: read('summary.md') };
}

it('ends with the status, and in the words, of one machine that could not make the same runs', () => {
  const why = ['seed 3: no server', 'seed 10: no lock'];
  const parts = [part(1, [1], [why[0]!]), part(2, [2], [why[1]!])];
  const runs = parts.flatMap((folder) => cellRunsIn(folder, campaignOf(1, 1)));
  const alone = summariseCampaign({ cells: [cell], runs, known: [], planned: 4, failed: why, knownOk: false });
  expect([alone.exitStatus, alone.headline]).toEqual([3, '2 of 4 runs made, 0 new findings, 2 could not be made']);
  const merged = merge(parts, 'whole');
  const { asked: _, ...summary } = merged.summary;
  expect([merged.status, summary]).toEqual([3, alone]);
  expect(merged.page).toContain('no server');
  expect(merge([...parts].reverse(), 'turned').summary).toEqual(merged.summary);
});

it('cannot tell where a part said nothing of runs that are missing, and where what it said is damaged it says so', () => {
  const parts = [part(1, [1, 3], []), part(2, [2], [])];
  rmSync(join(parts[1]!, 'summary.json'));
  expect(merge(parts, 'whole').status).toBe(2);
  writeFileSync(join(parts[1]!, 'summary.json'), '{"failed":');
  expect(() => merge(parts, 'damaged')).toThrow(/summary\.json: not JSON/);
  // Nothing was written: the name is free.
  rmSync(join(parts[1]!, 'summary.json'));
  expect(merge(parts, 'damaged').status).toBe(2);
});

it('shows the campaigns that were merged beside it before, and is one of them for the next', () => {
  const night = (first: number, day: number) =>
    [1, 2].map((n) => part(n, [first + n - 1, first + n + 1], [], { first, day }));
  const [one, two, three] = [night(10, 1), night(20, 2), night(30, 3)];
  expect(merge(one, 'night-1').markdown).not.toContain('Beside earlier campaigns');
  // What is merged once more is the same campaign.
  merge(one, 'night-1-again');
  expect(merge(two, 'night-2').markdown).toMatch(/Beside earlier campaigns[\s\S]*night-1 [\s\S]*this one/);
  const { markdown } = merge(three, 'night-3');
  expect(markdown.match(/night-\S+/g)).toEqual(['night-1', 'night-2']);
});

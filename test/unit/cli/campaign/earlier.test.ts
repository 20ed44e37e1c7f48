/** The trend over campaigns: those that began earlier in the same folder, about the same lock, merged ones too, each once. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CampaignBeside, campaignsBeside, earlierThan, trendOver } from '../../../../cli/campaign/earlier.js';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'lock-torture-earlier-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

interface Wanted {
  lock?: string;
  /** The days of January on which its first and its last run began. */
  days?: [number, number];
  seed?: number;
  runs?: number;
  found?: string[];
}
const day = (n: number) => `2026-01-${String(n).padStart(2, '0')}T01:23:45.000Z`;
const summaryOf = ({ lock = './mine.ts', days, seed = 1, runs = 5, found = [] }: Wanted) => ({
  asked: { seed, digest: `${lock} ${seed}` },
  ...(days && { began: { first: day(days[0]), last: day(days[1]) } }),
  findings: found.map((fingerprint) => ({ lock, topology: 'single', fingerprint })),
  coverage: [{ cell: { lock, topology: 'single' }, runs, strikes: 20, verdicts: { violated: found.length } }],
});
const beside = (id: string, wanted: Wanted): CampaignBeside => ({ id, summary: summaryOf(wanted) });
const idsBefore = (own: Wanted, all: CampaignBeside[]) => earlierThan(summaryOf(own), all).map(({ id }) => id);

function left(name: string, text: string): void {
  mkdirSync(join(base, name));
  writeFileSync(join(base, name, 'summary.json'), text);
}

it('is of what summaries beside it say, whatever else their folders have', () => {
  const mine = summaryOf({ days: [1, 1], found: ['lost'] });
  left('whole-1', JSON.stringify({ version: 1, ...mine, headline: 'more than the trend needs' }));
  left('a-series', JSON.stringify({ runs: [] }));
  left('damaged', '{"findings":');
  mkdirSync(join(base, 'nothing-yet'));
  left('own', JSON.stringify(mine));
  expect(campaignsBeside(join(base, 'own'))).toEqual([{ id: 'whole-1', summary: mine }]);
});

it('tells those that began before it, about one of its locks, by when that was and not by their names', () => {
  const all = [
    beside('a', { days: [6, 6], seed: 6 }),
    beside('b', { days: [3, 3], seed: 3 }),
    beside('c', { days: [2, 2], seed: 2 }),
    beside('d', { days: [1, 1], lock: './other.ts' }),
    beside('e', { seed: 9 }),
  ];
  expect(idsBefore({ days: [5, 5], seed: 5 }, all)).toEqual(['c', 'b']);
  expect(idsBefore({ seed: 5 }, all)).toEqual([]);
});

it('tells a campaign once, not its parts besides, nor those of its own; and the same seed made again later is another', () => {
  const whole = beside('whole', { days: [1, 4], runs: 10 });
  const parts = [beside('part-1', { days: [1, 3] }), beside('part-2', { days: [2, 4] })];
  expect(idsBefore({ days: [8, 8] }, [...parts, whole])).toEqual(['whole']);
  expect(idsBefore({ days: [8, 8] }, parts)).toEqual(['part-1', 'part-2']);
  expect(idsBefore({ days: [8, 8] }, [whole, { ...whole, id: 'merged-again' }, ...parts])).toEqual(['merged-again']);
  expect(idsBefore({ days: [1, 4] }, [...parts, { ...whole, id: 'merged-again' }])).toEqual([]);
  expect(idsBefore({ days: [2, 4] }, [whole])).toEqual([]);
  expect(idsBefore({ days: [8, 8] }, [whole, beside('other', { days: [2, 3], seed: 2 })])).toEqual(['whole', 'other']);
});

it('counts a finding as new where it was first seen, and shows the latest of many', () => {
  const first = beside('a', { days: [1, 1], found: ['lost'] });
  const second = beside('b', { days: [2, 2], found: ['lost', 'forgot'] });
  const own = summaryOf({ days: [3, 3], found: ['forgot'] });
  expect(trendOver([first, second], own)).toEqual([
    ['a', '2026-01-01 01:23 UTC', '5', '1', '1', '1', '20'],
    ['b', '2026-01-02 01:23 UTC', '5', '2', '2', '1', '20'],
    ['this one', '2026-01-03 01:23 UTC', '5', '1', '1', '0', '20'],
  ]);
  expect(trendOver([], own)).toEqual([]);
  const many = [first, ...Array.from({ length: 40 }, (_, n) => ({ ...second, id: `${n}` }))];
  const rows = trendOver(many, own);
  expect([rows.length, rows[0]![0], rows.at(-1)![0], rows[0]![5]]).toEqual([30, '11', 'this one', '0']);
});

it('counts strikes of real and of virtual time apart, and none where an earlier version did not count them', () => {
  const own = summaryOf({ days: [3, 3] });
  const [row] = own.coverage;
  const virtual = { ...row!, cell: { ...row!.cell, topology: 'single, in virtual time' }, strikes: 7 };
  const strikes = (...coverage: (typeof own.coverage)[number][]) =>
    trendOver([beside('a', { days: [1, 1] })], { ...own, coverage })
      .at(-1)!
      .at(-1);
  expect(strikes(row!, virtual)).toBe('20, and 7 in virtual time');
  expect(strikes(virtual, virtual)).toBe('14 in virtual time');
  const { strikes: _, ...uncounted } = row!;
  expect(strikes(uncounted as never)).toBe('–');
});

/** What a campaign says of its runs: findings once, known ones apart, and the exit status that follows. */
import { expect, it } from 'vitest';
import type { CellRun } from '../../../../cli/campaign/campaign-folder.js';
import { campaignSheet, summariseCampaign, type Tally } from '../../../../cli/campaign/tally.js';
import { type KnownFinding, slugOf } from '../../../../cli/run/known.js';
import type { StruckByFault } from '../../../../harness/vocabulary/verdict.js';

const LOST = 'lock/exclusion/overlap/released-by-other';
const cells = ['pause', 'none'].map((nemesis) => ({
  lock: './mine.ts',
  topology: 'single',
  nemesis,
  workload: 'mutex',
  argv: ['--nemesis', nemesis],
}));
const run = (n: number, over: Partial<CellRun> = {}): CellRun => ({
  cell: 0,
  seed: n,
  runId: `r${n}`,
  folder: `/runs/r${n}`,
  startedAt: `2026-01-0${n}T00:00:00.000Z`,
  verdict: 'held',
  exitStatus: 0,
  headline: '',
  reproduce: `again ${n}`,
  holds: 50,
  strikes: 10,
  struckHolds: 20,
  faults: 3,
  found: [],
  ...over,
});
const violated = (n: number, faults: number): CellRun =>
  run(n, {
    ...{ verdict: 'violated', exitStatus: 1, faults },
    found: [{ fingerprint: LOST, sentence: `how ${n}`, fails: true }],
  });
const known: KnownFinding = {
  ...{
    version: 1,
    lock: './mine.ts',
    topology: 'single',
    fingerprint: LOST,
    sentence: '',
    argv: [],
    seed: 1,
    faults: 1,
  },
};
const tally = (runs: CellRun[], over: Partial<Tally> = {}): Tally => ({
  ...{ cells, runs, known: [], planned: runs.length, failed: [], knownOk: false },
  ...over,
});

it('tells a finding once, with when and how often it was seen, and the run of fewest faults', () => {
  const runs = [violated(2, 4), run(3, { cell: 1 }), violated(4, 1), violated(1, 2)];
  const { findings, exitStatus, headline } = summariseCampaign(tally(runs));
  expect(findings).toMatchObject([
    {
      ...{
        state: 'new',
        fingerprint: LOST,
        runs: 3,
        of: 4,
        faults: 1,
        seed: 4,
        sentence: 'how 4',
        reproduce: 'again 4',
      },
      ...{ firstSeen: '2026-01-01T00:00:00.000Z', lastSeen: '2026-01-04T00:00:00.000Z' },
    },
  ]);
  expect([exitStatus, headline]).toEqual([1, '4 of 4 runs made, 1 new finding']);
});

it('says the same in whatever order the runs come', () => {
  const runs = [violated(2, 1), violated(1, 1), run(3), violated(4, 1)];
  expect(summariseCampaign(tally([...runs].reverse()))).toEqual(summariseCampaign(tally(runs)));
});

it('tells what is new in a run that tried what is known, which fails it', () => {
  const other = { fingerprint: 'lock/exclusion/overlap/released-by-itself', sentence: 'how', fails: true };
  const tries = [violated(2, 1), { ...violated(3, 1), found: [...violated(3, 1).found, other] }];
  const { findings, exitStatus, headline } = summariseCampaign(
    tally([run(1)], { known: [{ known, tries }], knownOk: true }),
  );
  expect(findings).toMatchObject([{ state: 'new', fingerprint: other.fingerprint, runId: 'r3', runs: 1, of: 3 }]);
  expect([exitStatus, headline]).toEqual([1, '1 of 1 run made, 1 new finding']);
});

it('says of what is known whether it is still there, and lets it pass only where that is asked for', () => {
  const tried = (tries: CellRun[]) => ({ known: [{ known, tries }] });
  const again = tally([violated(1, 1)], tried([violated(2, 1), run(3)]));
  const { findings, known: told, exitStatus, headline } = summariseCampaign(again);
  expect([findings[0]!.state, told[0]!.text, exitStatus]).toEqual(['known', 'still there: 1 of 2 tries', 1]);
  expect(headline).toBe('1 of 1 run made, 0 new findings, 1 known');
  expect(summariseCampaign({ ...again, knownOk: true }).exitStatus).toBe(0);
  const more = run(4, {
    verdict: 'violated',
    exitStatus: 1,
    found: [{ fingerprint: 'lock/x/y/z', sentence: '', fails: true }],
  });
  expect(summariseCampaign({ ...again, runs: [...again.runs, more], knownOk: true }).exitStatus).toBe(1);
  const { text } = summariseCampaign(tally([run(1)], tried([run(2), run(3), run(4)]))).known[0]!;
  expect(text).toBe('not seen: 0 of 3 tries violated; at most 63 % at 95 %');
});

it('cannot tell of a run that only what is known fails, where it left something open', () => {
  const again = (open: boolean) =>
    summariseCampaign(
      tally([{ ...violated(1, 1), ...(open && { open }) }], { known: [{ known, tries: [] }], knownOk: true }),
    );
  expect([again(false).exitStatus, again(true).exitStatus]).toEqual([0, 2]);
});

it('cannot tell of a cell with fewer holds or strikes than asked for, over the runs that can tell, unless something is found in it', () => {
  const atLeast = { holds: 100, strikes: 20 };
  const runs = [run(1), run(2), ...[3, 4].map((n) => run(n, { cell: 1, strikes: 0, struckHolds: 0 }))];
  expect(summariseCampaign(tally(runs, { atLeast })).exitStatus).toBe(0);
  const weak = summariseCampaign(tally(runs, { atLeast: { strikes: 21 } }));
  expect([weak.exitStatus, weak.headline]).toEqual([
    2,
    '4 of 4 runs made, 0 new findings, 1 cell with less than asked for',
  ]);
  expect(weak.coverage.map(({ tooFew }) => tooFew)).toEqual(['only 20 of 21 strikes', undefined]);
  // As an earlier version asked, which a campaign that goes on still has.
  const earlier = summariseCampaign(tally(runs, { atLeast: { struckHolds: 41 } }));
  expect(earlier.coverage.map(({ tooFew }) => tooFew)).toEqual(['only 40 of 41 struck holds', undefined]);
  const blind = [runs[0]!, run(2, { verdict: 'unknown', exitStatus: 2 }), ...runs.slice(2)];
  expect(summariseCampaign(tally(blind, { atLeast })).coverage[0]!.tooFew).toBe('only 50 of 100 holds');
  const bad = summariseCampaign(tally([violated(1, 1), ...runs.slice(2)], { atLeast }));
  expect([bad.exitStatus, bad.coverage[0]!.tooFew]).toEqual([1, undefined]);
});

it('of the same fingerprint on another topology nothing is known', () => {
  const elsewhere = { ...known, topology: 'sentinel' };
  const { findings, exitStatus } = summariseCampaign(
    tally([violated(1, 1)], { known: [{ known: elsewhere, tries: [] }], knownOk: true }),
  );
  expect([findings[0]!.state, exitStatus]).toEqual(['new', 1]);
  expect(slugOf(known)).not.toBe(slugOf(elsewhere));
});

it('bounds what was struck where nothing was found, by runs of which something can be told', () => {
  const { coverage } = summariseCampaign(
    tally([run(1), run(2, { verdict: 'unknown', exitStatus: 2 }), run(3, { cell: 1 })]),
  );
  expect(coverage[0]).toMatchObject({
    runs: 2,
    strikes: 20,
    struckHolds: 40,
    bound: '0 of 10 strikes violated; at most 26 % at 95 % (20 holds struck)',
  });
  expect(coverage[1]!.bound).toMatch(/^0 of 50 holds .*, without any fault: contention was tested/);
  // Of an earlier version, which counted none.
  const uncounted = summariseCampaign(tally([run(1), run(2, { strikes: 0, struckHolds: 500 })]));
  expect(uncounted.coverage[0]!.bound).toBe('0 of 10 strikes violated; at most 26 % at 95 % (20 holds struck)');
  expect(summariseCampaign(tally([violated(1, 1)])).coverage[0]!.bound).toBeUndefined();
});

it('is no pass where runs are missing or could not be made', () => {
  expect(summariseCampaign(tally([run(1)], { planned: 2 })).exitStatus).toBe(2);
  expect(summariseCampaign(tally([run(1)], { failed: ['why'] })).exitStatus).toBe(3);
  expect(summariseCampaign(tally([])).exitStatus).toBe(3);
});

/** In each strike it met two brief holds, or one long one. */
const by = (fault: string, brief: number, long: number) => ({
  fault,
  struck: { brief, short: 0, long, over: 0 },
  strikes: { brief: Math.ceil(brief / 2), short: 0, long, over: 0 },
});
const struckRun = (n: number, faults: StruckByFault['faults'], over: Partial<CellRun> = {}) =>
  run(n, { struck: { holds: { brief: 60, short: 0, long: 30, over: 0 }, faults }, ...over });

it('tells what each fault struck by length of hold, over all cells of a lock, and the bound of what can be told', () => {
  const runs = [
    struckRun(1, [by('pause', 40, 0), by('kill', 9, 1)]),
    struckRun(2, [by('kill', 50, 2)], { cell: 1 }),
    struckRun(3, [by('kill', 1, 4)], { verdict: 'unknown', exitStatus: 2 }),
    run(4), // of an earlier version, and a later one that did not count strikes
    struckRun(5, [{ fault: 'kill', struck: { brief: 100, short: 0, long: 0, over: 0 } }]),
  ];
  const all = tally(runs);
  const summary = summariseCampaign(all);
  const bounded = (strikes: number, percent: string, holds: number) =>
    `0 of ${strikes} strikes violated; at most ${percent} % at 95 % (${holds} holds struck)`;
  expect(summary.struck).toEqual([
    {
      ...{ lock: './mine.ts', topology: 'single', fault: 'kill' },
      struck: { brief: 160, short: 0, long: 7, over: 0 },
      bounds: { brief: bounded(30, '9.5', 59), long: bounded(3, '63', 3) },
    },
    {
      ...{ lock: './mine.ts', topology: 'single', fault: 'pause' },
      struck: { brief: 40, short: 0, long: 0, over: 0 },
      bounds: { brief: bounded(20, '14', 40) },
    },
  ]);
  const table = campaignSheet(all, summary, (id) => id).tables.find(({ title }) => title.startsWith('Struck holds'));
  expect(table?.rows[0]).toEqual([
    './mine.ts',
    'single',
    'kill',
    `160: ${bounded(30, '9.5', 59)}`,
    '0',
    `7: ${bounded(3, '63', 3)}`,
    '0',
  ]);
});

it('bounds nothing for a fault in whose runs something was found', () => {
  const runs = [
    struckRun(1, [by('pause', 40, 0)], { verdict: 'violated', exitStatus: 1, found: violated(1, 1).found }),
    struckRun(2, [by('pause', 40, 0), by('kill', 40, 0)]),
  ];
  const { struck } = summariseCampaign(tally(runs));
  expect(struck.map(({ fault, bounds }) => [fault, Object.keys(bounds)])).toEqual([
    ['kill', ['brief']],
    ['pause', []],
  ]);
});

it('counts what was struck in virtual time apart, and neither fills up the other', () => {
  const lengths = { brief: 20, short: 0, long: 0, over: 0 };
  const struck = { holds: lengths, faults: [{ fault: 'pause', struck: lengths }] };
  const virtual = { virtualTime: true as const, struck };
  const mixed = summariseCampaign(tally([run(1, { struck }), run(2, virtual)], { atLeast: { strikes: 15 } }));
  expect(mixed.coverage.map(({ cell, runs, strikes, tooFew }) => [cell.topology, runs, strikes, tooFew])).toEqual([
    ['single', 1, 10, 'only 10 of 15 strikes'],
    ['single', 0, 0, undefined],
    ['single, in virtual time', 1, 10, 'only 10 of 15 strikes'],
  ]);
  expect(mixed.struck.map(({ topology, struck: of }) => [topology, of.brief])).toEqual([
    ['single', 20],
    ['single, in virtual time', 20],
  ]);
  const wentOn = (of: typeof mixed, runs: CellRun[]) =>
    campaignSheet(tally(runs), of, (id) => id).tables.find(({ title }) => title === 'As it went on')?.rows;
  expect(wentOn(mixed, [run(1, { startedAt: run(2).startedAt }), run(2, virtual)])?.map((row) => row.at(-1))).toEqual([
    '10',
    '10 in virtual time',
  ]);
  const alone = summariseCampaign(tally([run(1, virtual), run(2, virtual)]));
  expect(alone.coverage.map(({ cell, strikes }) => [cell.topology, strikes])).toEqual([
    ['single, in virtual time', 20],
    ['single', 0],
  ]);
});

/** Which jobs a campaign has, and that each comes once, whatever ended it in between and however many machines share it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Grid,
  type GridJob,
  JobOrder,
  type JobOutcome,
  jobOf,
  jobsPlanned,
} from '../../../../cli/campaign/grid.js';
import { drawn } from '../../../support/drawn.js';

const grid = (cells: number, over: Partial<Grid> = {}): Grid => ({
  cells: Array.from({ length: cells }, (_, n) => ({
    lock: 'l',
    topology: 't',
    nemesis: String(n),
    workload: 'w',
    argv: [],
  })),
  seed: 2 ** 31 - 3, // the seeds go round
  shard: { index: 1, of: 1 },
  ...over,
});
const nothing = (job: GridJob): JobOutcome => ({ ...job, struckHolds: 0, fingerprints: [] });
const take = (jobs: Iterable<GridJob>, count: number) => {
  const taken: GridJob[] = [];
  const order = jobs[Symbol.iterator]();
  for (let next = order.next(); !next.done && taken.push(next.value) < count; ) next = order.next();
  return taken;
};

it('gives each job once, over shards, and over ends at any moment that lose what was going on', () => {
  const cases = fc.record({
    cells: fc.integer({ min: 1, max: 5 }),
    runs: fc.integer({ min: 1, max: 60 }),
    of: fc.integer({ min: 1, max: 4 }),
    ends: fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 3 })), { maxLength: 8 }),
    struck: fc.integer({ min: 0, max: 50 }),
  });
  fc.assert(
    fc.property(cases, ({ cells, runs, of, ends, struck }) => {
      const all = Array.from({ length: of }, (_, n) => {
        const part = grid(cells, { runs, shard: { index: n + 1, of } });
        const finished: JobOutcome[] = [];
        // Each start takes some jobs, and a kill loses the last of them.
        for (const [count, lost] of [...ends, [runs, 0] as const]) {
          const begun = take(new JobOrder(part, finished), count);
          finished.push(
            ...begun.slice(0, begun.length - lost).map((job) => ({ ...nothing(job), struckHolds: struck })),
          );
        }
        expect(finished.length).toBe(jobsPlanned(part));
        return finished;
      }).flat();
      expect(new Set(all.map(({ seed }) => seed)).size).toBe(all.length);
      expect(all.length).toBe(runs);
      for (const { seed, cell } of all) expect(jobOf(grid(cells, { runs }), seed)).toEqual({ seed, cell });
    }),
    drawn(100),
  );
});

it('without a number of runs goes on, each shard with its own', () => {
  const ofShard = (index: number) => take(new JobOrder(grid(2, { shard: { index, of: 4 } }), []), 20);
  const seeds = [1, 2, 3, 4].flatMap(ofShard).map(({ seed }) => seed);
  expect(new Set(seeds).size).toBe(80);
  expect(take(new JobOrder(grid(1), [], [], () => false), 5)).toEqual([]);
});

it('looks first where something new was found, for some rounds, then where the fewest holds were struck', () => {
  const order = new JobOrder(grid(3), [], ['known']);
  const jobs = order[Symbol.iterator]();
  const next = () => jobs.next().value as GridJob;
  for (const struckHolds of [40, 8, 80]) order.tell({ ...next(), struckHolds, fingerprints: ['known'] });
  // 13, 18, 23 and 28 are below 45; the other two cells are further.
  expect([next().cell, next().cell]).toEqual([1, 1]);
  order.tell({ cell: 2, seed: 0, struckHolds: 9, fingerprints: ['new'] });
  expect([next().cell, next().cell, next().cell]).toEqual([2, 2, 2]);
  order.tell({ cell: 2, seed: 0, struckHolds: 9, fingerprints: ['new'] });
  expect(next().cell).toBe(1);
});

const counts = (brief: number, long: number) => ({ brief, short: 0, long, over: 0 });
/** A run that struck so many brief and long holds with each fault, of which it had 100 brief and, unless it is said, 10 long. */
const struckBy = (faults: Record<string, [brief: number, long: number]>, long = 10) => ({
  holds: counts(100, long),
  faults: Object.entries(faults).map(([fault, [brief, longOnes]]) => ({ fault, struck: counts(brief, longOnes) })),
});

describe('of cells that struck alike', () => {
  const firstAfter = (outcomes: Omit<JobOutcome, 'seed' | 'fingerprints' | 'struckHolds'>[], of = grid(3)) => {
    const told = outcomes.map((one, n) => ({
      ...one,
      seed: (of.seed + n) % 2 ** 31,
      struckHolds: 40,
      fingerprints: [],
    }));
    const next = (finished: JobOutcome[]) => take(new JobOrder(of, finished), 1)[0]!.cell;
    // The same runs, the same next one, in whatever order they came.
    expect(next([...told].reverse())).toBe(next(told));
    return next(told);
  };

  it('the one with a fault that was seldom struck on its lock goes first, in whichever cell it was', () => {
    const often: [number, number] = [20, 20];
    const seldom: [number, number] = [20, 2];
    const outcomes = (kill: [number, number], pause: [number, number]) => [
      { cell: 0, struck: struckBy({ kill, pause }) },
      { cell: 1, struck: struckBy({ kill: often }) },
      { cell: 2, struck: struckBy({ pause: often }) },
    ];
    expect(firstAfter(outcomes([0, 0], [90, 90]))).toBe(1);
    expect(firstAfter(outcomes([90, 90], [0, 0]))).toBe(2);
    // Two of a kind count together: the single cell's own few long ones are made up for by the other's.
    expect(
      firstAfter([
        { cell: 0, struck: struckBy({ kill: [0, 90] }) },
        { cell: 1, struck: struckBy({ kill: seldom }) },
        { cell: 2, struck: struckBy({ pause: seldom }) },
      ]),
    ).toBe(2);
  });

  it('the one whose holds of a length were seldom struck goes first, if it has had such holds', () => {
    const both = (longOf0: number, longOf1: number, heldBy0 = 10) => [
      { cell: 0, struck: struckBy({ kill: [20, longOf0] }, heldBy0) },
      { cell: 1, struck: struckBy({ pause: [20, longOf1] }) },
      { cell: 2, struck: struckBy({ clock: [20, 20] }) },
    ];
    expect(firstAfter(both(0, 20))).toBe(0);
    expect(firstAfter(both(20, 0))).toBe(1);
    // Without long holds there is nothing to be struck: its twenty brief ones are all that it can strike.
    expect(firstAfter(both(0, 4, 0))).toBe(1);
  });

  it('another lock’s count for nothing, and runs of an earlier version for their struck holds', () => {
    const of = grid(2);
    of.cells[1]!.lock = 'other';
    const outcomes = [
      { cell: 0, struck: struckBy({ kill: [20, 20] }) },
      { cell: 1, struck: struckBy({ kill: [1, 1] }) },
    ];
    expect(firstAfter(outcomes, of)).toBe(1);
    expect(firstAfter([{ cell: 0 }, { cell: 1, struck: struckBy({ kill: [20, 2] }) }], grid(2))).toBe(1);
    expect(firstAfter([{ cell: 0 }, { cell: 1, struck: struckBy({ kill: [90, 90] }) }], grid(2))).toBe(0);
  });
});

it('knows its own seeds', () => {
  expect(jobOf(grid(2, { runs: 4 }), 1)).toBeUndefined();
  expect(jobOf(grid(2, { runs: 4 }), 0)).toEqual({ cell: 1, seed: 0 });
});

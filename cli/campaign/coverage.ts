/** What a campaign's runs of one cell come to, and what that is worth. Pure. */
import { strengthOf, strengthWithoutFaults } from '../../checkers/index.js';
import { plural } from '../../harness/record/facts/words.js';
import type { LeastWorth } from '../../harness/vocabulary/run.js';
import type { CellRun, FinishedRun } from './campaign-folder.js';
import type { GridCell } from './grid.js';

export interface Coverage {
  cell: Omit<GridCell, 'argv'>;
  runs: number;
  verdicts: Record<FinishedRun['verdict'], number>;
  holds: number;
  strikes: number;
  struckHolds: number;
  /** The bound that so many strikes give, of a cell without faults so many holds; absent: something was found, or nothing can be told. */
  bound?: string;
  /** Set where the runs that can tell have fewer holds or strikes than were asked for: how many of how many. */
  tooFew?: string;
}

export function coverageOf({ argv: _, ...cell }: GridCell, runs: readonly CellRun[], atLeast?: LeastWorth): Coverage {
  const sum = (of: 'holds' | 'strikes' | 'struckHolds', among = runs) =>
    among.reduce((total, run) => total + run[of], 0);
  const verdicts: Coverage['verdicts'] = { violated: 0, held: 0, unknown: 0 };
  for (const { verdict } of runs) verdicts[verdict]++;
  // What was held in runs of which nothing can be told bounds nothing.
  const told = runs.filter(({ verdict }) => verdict === 'held');
  const nothingFound = runs.every(({ found }) => found.length === 0);
  const counted = { holds: sum('holds', told), strikes: sum('strikes', told), struckHolds: sum('struckHolds', told) };
  const tooFew = nothingFound && atLeast ? fewerThanAsked(cell, counted, atLeast) : undefined;
  // Of runs of an earlier version the strikes were not counted.
  const struckHolds = sum(
    'struckHolds',
    told.filter(({ strikes }) => strikes > 0),
  );
  const bound =
    cell.nemesis === 'none' ? strengthWithoutFaults(counted.holds) : strengthOf({ ...counted, struckHolds });
  return {
    cell,
    runs: runs.length,
    verdicts,
    holds: sum('holds'),
    strikes: sum('strikes'),
    struckHolds: sum('struckHolds'),
    ...(bound !== undefined && nothingFound && { bound }),
    ...(tooFew !== undefined && { tooFew }),
  };
}

function fewerThanAsked(
  { nemesis }: Pick<GridCell, 'nemesis'>,
  counted: Required<LeastWorth>,
  least: LeastWorth,
): string | undefined {
  const fewer = (of: keyof LeastWorth, what: string) =>
    counted[of] < (least[of] ?? 0) ? `only ${counted[of]} of ${plural(least[of]!, what)}` : undefined;
  const few = fewer('holds', 'hold');
  if (few !== undefined || nemesis === 'none') return few;
  return fewer('strikes', 'strike') ?? fewer('struckHolds', 'struck hold');
}

/** What a self-test says: a line for each run as it ends, a table at the end, and the same as a page. */
import { type Sheet, type SheetCell, sheetState } from '../../reports/index.js';
import { batchHeadline } from './batch-record.js';
import { type SelftestRow, statusOf, type TrialResult } from './selftest-jobs.js';

/** What `selftest.json` holds: each run's row, and the status of them all. */
export function selftestSummary(rows: readonly SelftestRow[], planned: number, seconds?: number) {
  const exitStatus = statusOf(rows, planned);
  return {
    version: 2 as const,
    exitStatus,
    headline: headline(rows, planned),
    ...(seconds !== undefined && { seconds: Math.round(seconds) }),
    planned,
    rows: [...rows],
  };
}

export type SelftestSummary = ReturnType<typeof selftestSummary>;

const SHOWN: Record<TrialResult, string> = {
  caught: 'caught',
  'not-accused': 'not accused',
  missed: 'MISSED',
  accused: 'ACCUSED',
  'cannot-tell': 'cannot tell',
  'not-provoked': 'not provoked',
  'could-not-run': 'could not run',
  'not-tried': 'not tried',
};

export function rowText(row: SelftestRow): string {
  return `${row.lock.padEnd(36)} ${SHOWN[row.shown].padEnd(13)} ${after(row)}${row.why}`;
}

function after({ afterSeconds }: SelftestRow): string {
  return afterSeconds === undefined ? '' : `after ${afterSeconds} s, by `;
}

export function headline(rows: readonly SelftestRow[], planned: number): string {
  const count = (shown: TrialResult) => rows.filter((row) => row.shown === shown).length;
  const tried = rows.filter(({ shown }) => shown !== 'not-tried');
  const canaries = tried.filter(({ canary }) => canary).length;
  const sound = tried.length - canaries;
  const parts = [
    `${count('caught')} of ${canaries} canaries caught`,
    `${count('accused')} of ${sound} sound runs accused`,
    ...(count('cannot-tell') > 0 ? [`${count('cannot-tell')} runs prove nothing`] : []),
    ...(count('not-provoked') > 0 ? [`${count('not-provoked')} not provoked`] : []),
    ...(count('could-not-run') > 0 ? [`${count('could-not-run')} could not run`] : []),
    ...(count('not-tried') > 0 ? [`${count('not-tried')} not tried, for want of a server`] : []),
    ...(rows.length < planned ? [`${planned - rows.length} were not made`] : []),
  ];
  return parts.join(', ');
}

/** Lines about the runs that did not come out as they must. */
export function troublesOf(rows: readonly SelftestRow[]): string[] {
  const good = ['caught', 'not-accused', 'not-tried'];
  const troubles = rows.filter(({ shown }) => !good.includes(shown));
  return troubles.flatMap((row) => [
    `  ${SHOWN[row.shown]}: ${row.lock}: ${row.why}`,
    ...(row.reproduce ? [`    Reproduce: ${row.reproduce}`] : []),
  ]);
}

/** The same for `selftest.html` and `selftest.md`. */
export function selftestSheet(summary: SelftestSummary, id: string): Sheet {
  const canaries = summary.rows.filter(({ canary }) => canary);
  const others = summary.rows.filter(({ canary }) => !canary);
  const common = (row: SelftestRow): SheetCell[] => [
    row.why,
    row.run === undefined ? String(row.seed) : { text: String(row.seed), run: row.run },
    row.story,
  ];
  const shown = (row: SelftestRow): SheetCell => ({
    text: SHOWN[row.shown],
    ...(row.shown !== 'not-tried' && { good: row.shown === 'caught' || row.shown === 'not-accused' }),
  });
  return {
    title: `self-test ${id}`,
    state: sheetState(summary.exitStatus),
    headline: batchHeadline(summary),
    tables: [
      {
        title: 'Canaries, each with one mistake that must be found',
        columns: ['lock', 'shown', 'after', 'by, or why', 'seed', 'story'],
        rows: canaries.map((row) => [
          row.lock,
          shown(row),
          row.afterSeconds === undefined ? '' : `${row.afterSeconds} s`,
          ...common(row),
        ]),
      },
      {
        title: 'Their mended twins, and sound locks under faults that they must survive',
        columns: ['lock', 'shown', 'why', 'seed', 'story'],
        rows: others.map((row) => [row.lock, shown(row), ...common(row)]),
      },
    ],
  };
}

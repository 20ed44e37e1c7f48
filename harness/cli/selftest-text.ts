/** What a self-test says: a line for each run as it ends, a table at the end, and the same as Markdown. */
import type { SelftestSummary } from './selftest-command.js';
import type { Row, Shown } from './selftest-jobs.js';
import { markdownCell } from './summary-text.js';

const SHOWN: Record<Shown, string> = {
  caught: 'caught',
  'not-accused': 'not accused',
  missed: 'MISSED',
  accused: 'ACCUSED',
  'cannot-tell': 'cannot tell',
  'could-not-run': 'could not run',
};

export function rowLine(row: Row, n: number, of: number): string {
  return `${String(n).padStart(String(of).length)}/${of}  ${row.lock.padEnd(36)} ${SHOWN[row.shown].padEnd(13)} ${after(row)}${row.why}`;
}

function after({ afterSeconds }: Row): string {
  return afterSeconds === undefined ? '' : `after ${afterSeconds} s, by `;
}

export function headline(rows: readonly Row[], planned: number): string {
  const count = (shown: Shown) => rows.filter((row) => row.shown === shown).length;
  const canaries = count('caught') + count('missed');
  const sound = count('not-accused') + count('accused');
  const parts = [
    `${count('caught')} of ${canaries} canaries caught`,
    `${count('accused')} of ${sound} sound runs accused`,
    ...(count('cannot-tell') > 0 ? [`${count('cannot-tell')} runs prove nothing`] : []),
    ...(count('could-not-run') > 0 ? [`${count('could-not-run')} could not run`] : []),
    ...(rows.length < planned ? [`${planned - rows.length} were not made`] : []),
  ];
  return parts.join(', ');
}

/** What a terminal shows at the end. */
export function selftestText(summary: SelftestSummary, path: string): string {
  const troubles = summary.rows.filter(({ shown }) => shown !== 'caught' && shown !== 'not-accused');
  return [
    '',
    `${summary.exitStatus === 0 ? 'GOOD' : 'NOT GOOD'} (exit status ${summary.exitStatus}): ${summary.headline}, in ${summary.seconds} s`,
    ...troubles.flatMap((row) => [
      `  ${SHOWN[row.shown]}: ${row.lock}: ${row.why}`,
      ...(row.again ? [`    again: ${row.again}`] : []),
    ]),
    `Table: ${path}`,
  ].join('\n');
}

export function selftestMarkdown(summary: SelftestSummary, id: string): string {
  const line = (row: Row) =>
    `| ${row.lock} | ${SHOWN[row.shown]} | ${row.afterSeconds ?? ''} | ${markdownCell(row.why)} | ${row.run ? `[${row.seed}](../${row.run}/report.html)` : row.seed} | ${markdownCell(row.story)} |`;
  const table = (rows: readonly Row[]) => [
    '| lock | shown | after s | by, or why | seed | story |',
    '| --- | --- | ---: | --- | --- | --- |',
    ...rows.map(line),
    '',
  ];
  const canaries = summary.rows.filter(({ shown }) => shown === 'caught' || shown === 'missed');
  return [
    `# Self-test ${id}`,
    '',
    `${summary.headline}, in ${summary.seconds} s.`,
    '',
    '## Canaries, each with one mistake that must be found',
    '',
    ...table(canaries),
    '## Their mended twins, and sound locks under faults that they must survive',
    '',
    ...table(summary.rows.filter((row) => !canaries.includes(row))),
  ].join('\n');
}

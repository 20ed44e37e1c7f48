/** What came of cells of the matrix, as it is published: kept by `matrix --keep` in matrix/measured/cells.json, read by pages. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { inProject } from '../../harness/machine/project-files.js';
import { MEASURED_FILE } from '../../matrix/index.js';
import { safeWords } from '../batches/matrix-cells.js';
import { TOOL } from '../common/standing.js';
import { markdownCell } from '../judge/summary-text.js';

export const measuredSchema = z.object({
  cells: z.array(
    z.object({
      lock: z.string(),
      fault: z.string(),
      topology: z.string(),
      /** `open`: otherwise than it must, or led by a finding without a proven cause, and nobody has explained it yet. */
      came: z.enum(['safe', 'exclusion', 'stale', 'harm', 'liveness', 'refused', 'open', 'not-tried']),
      /** Of a safe cell: strikes in real time, and in virtual time. Absent: none, or nobody has counted them. */
      strikes: z.number().optional(),
      virtualStrikes: z.number().optional(),
      /** Of what was refused or not tried: the reason. */
      headline: z.string(),
      /** Why it must come so. */
      reason: z.string(),
      /** When it was last run, YYYY-MM-DD. */
      day: z.string(),
      /** What was tortured, as it told itself: "Redis 7.0.15". Absent: nothing was run. */
      server: z.string().optional(),
      /** Absent: nothing was run. */
      reproduce: z.string().optional(),
    }),
  ),
});
export type MeasuredCell = z.infer<typeof measuredSchema>['cells'][number];

export function measuredCells(): MeasuredCell[] {
  return measuredSchema.parse(JSON.parse(readFileSync(inProject(MEASURED_FILE), 'utf8'))).cells;
}

const WORDS: Record<Exclude<MeasuredCell['came'], 'safe'>, string> = {
  exclusion: '**exclusion**',
  stale: 'stale holder',
  harm: '**harm**',
  liveness: '**liveness**',
  refused: 'not asked',
  open: 'not explained yet',
  'not-tried': 'not tried',
};

/** What a table says of a cell, with a link to where it is told in full on `page` (empty: the same). */
export function cameText(cell: MeasuredCell, page: string): string {
  return cell.came === 'safe' ? safeWords(cell) : `[${WORDS[cell.came]}](${page}#${anchorOf(cell)})`;
}

/** What a row of a table was run on, and when: "Redis 7.0.15, 2026-11-26", "Redis 7.0.15, 2026-11-26 to 2026-11-30". */
export function runOn(cells: readonly MeasuredCell[]): string {
  const run = cells.filter(({ server }) => server !== undefined);
  if (run.length === 0) return 'not run';
  const servers = [...new Set(run.map(({ server }) => server!))].sort();
  const days = run.map(({ day }) => day).sort();
  const [first, last] = [days[0]!, days.at(-1)!];
  return [...servers, first === last ? first : `${first} to ${last}`].join(', ');
}

/** A list's item for a cell: what was found, and the command that repeats it; `what`: how the page calls it. */
export function foundItem(cell: MeasuredCell, what: string): string {
  const text = `- ${anchorTag(cell)}${what}: ${markdownCell(cell.headline)}`;
  return cell.reproduce === undefined ? text : `${text}\n\n  \`${asInstalled(cell.reproduce)}\``;
}

/** Where a table leads to. */
export function anchorTag(cell: MeasuredCell): string {
  return `<a id="${anchorOf(cell)}"></a>`;
}

/** A lock on one topology has one cell for a fault; one that is shown on several needs the topology in it. */
function anchorOf({ lock, fault, topology }: MeasuredCell): string {
  const where = topology === 'single' ? '' : `-${topology}`;
  return `${lock}-${fault}${where}`.replaceAll('/', '-');
}

/** A page with the texts between its markers made anew, each by the name of its markers. */
export function between(path: string, texts: Readonly<Record<string, string>>): string {
  return Object.entries(texts).reduce(
    (page, [name, text]) => {
      const marked = new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- end of ${name} -->`);
      if (!marked.test(page)) throw new Error(`${path} has no marker for "${name}"`);
      return page.replace(marked, () => `<!-- ${name} -->\n\n${text}\n\n<!-- end of ${name} -->`);
    },
    readFileSync(path, 'utf8'),
  );
}

/** Lines of a table. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [columns, columns.map(() => '---'), ...rows];
  return lines.map((words) => `| ${words.join(' | ')} |`).join('\n');
}

/** As somebody types it who has the tool as a package. */
function asInstalled(command: string): string {
  return command.startsWith(TOOL) ? `npx lock-torture${command.slice(TOOL.length)}` : command;
}

/** What came of cells of the matrix, as it is published: kept by `npm run bench -- publish` in matrix/measured/, read by pages. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { inProject } from '../../harness/machine/project-files.js';
import type { PublishedGroup } from '../../matrix/index.js';
import { safeWords } from '../batches/matrix-cells.js';
import { TOOL } from '../common/standing.js';
import { markdownCell } from '../judge/summary-text.js';

export const measuredSchema = z.object({
  /** The day of the last of them. */
  day: z.string(),
  /** What was tortured, with its version, as it told itself. */
  servers: z.array(z.string()),
  cells: z.array(
    z.object({
      lock: z.string(),
      fault: z.string(),
      topology: z.string(),
      came: z.enum(['safe', 'exclusion', 'stale', 'harm', 'liveness', 'refused']),
      /** Of a safe cell: strikes in real time, and in virtual time. Absent: none, or nobody has counted them. */
      strikes: z.number().optional(),
      virtualStrikes: z.number().optional(),
      /** Of what was refused: the words of the refusal. */
      headline: z.string(),
      /** Why it must come so. */
      reason: z.string(),
      /** Absent: nothing was run. */
      reproduce: z.string().optional(),
    }),
  ),
});
export type Measured = z.infer<typeof measuredSchema>;
export type MeasuredCell = Measured['cells'][number];

/** Below the project. */
export function measuredFile(group: PublishedGroup): string {
  return `matrix/measured/${group}.json`;
}

export function measured(group: PublishedGroup): Measured {
  return measuredSchema.parse(JSON.parse(readFileSync(inProject(measuredFile(group)), 'utf8')));
}

const WORDS: Record<Exclude<MeasuredCell['came'], 'safe'>, string> = {
  exclusion: '**exclusion**',
  stale: 'stale holder',
  harm: '**harm**',
  liveness: '**liveness**',
  refused: 'not asked',
};

/** What a table says of a cell, with a link to where it is told in full on `page` (empty: the same). A dash: nothing is published. */
export function cameText(cell: MeasuredCell | undefined, page: string): string {
  if (!cell) return '–';
  return cell.came === 'safe' ? safeWords(cell) : `[${WORDS[cell.came]}](${page}#${anchorOf(cell)})`;
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
  const where = topology === 'single' || topology === 'redlock' ? '' : `-${topology}`;
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

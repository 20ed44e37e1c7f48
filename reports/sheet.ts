/** Tables of many runs (a self-test, scenarios) as a page and as Markdown: one verdict, then rows that lead to the runs' reports. */

import { clipped } from '../harness/record/schemas/foreign-text.js';
import { plainMarkdown } from './markdown.js';
import { Markup, markup } from './markup.js';
import { pageFrame } from './page/frame.js';

/** A text; `run`: the id of the run whose report it leads to; `good`: whether it is what was wanted. */
export type SheetCell = string | { text: string; run?: string; good?: boolean };

export interface Sheet {
  title: string;
  /** Everything came out as it must; `unknown`: nothing came out otherwise, but not everything came out. */
  state: 'good' | 'bad' | 'unknown';
  /** Its first words; absent: AS EXPECTED, NOT AS EXPECTED or CANNOT TELL. */
  words?: string;
  headline: string;
  /** Where a run's folder is, as the page links to it; absent: beside the page's own. */
  folderOf?: (run: string) => string;
  tables: readonly { title: string; columns: readonly string[]; rows: readonly (readonly SheetCell[])[] }[];
}

const STATES = {
  good: ['held', 'AS EXPECTED'],
  bad: ['violated', 'NOT AS EXPECTED'],
  unknown: ['unknown', 'CANNOT TELL'],
} as const;

/** What many runs came to, by the exit status of their command. */
export function sheetState(exitStatus: 0 | 1 | 2 | 3): Sheet['state'] {
  if (exitStatus === 0) return 'good';
  return exitStatus === 2 ? 'unknown' : 'bad';
}

/** The same in the words that a sheet of it begins with. */
export function sheetWords(exitStatus: 0 | 1 | 2 | 3): string {
  return STATES[sheetState(exitStatus)][1];
}

const LONGEST_CELL = 600;

/** `<name>.html` in a folder beside the runs' own. */
export function sheetPage({ title, state, words, headline, tables, folderOf }: Sheet): string {
  const [style, word] = STATES[state];
  return pageFrame({
    title: `lock-torture: ${title}`,
    body: markup`<header class="verdict ${style}"><h1>${words ?? word} <span>${title}</span></h1><p class="headline">${headline}</p></header>
${tables.map(
  (table) => markup`<h2>${table.title}</h2>
<div class="scroll batch"><table><thead><tr>${table.columns.map((column) => markup`<th>${column}</th>`)}</tr></thead><tbody>${table.rows.map(
    (cells) =>
      markup`<tr>${cells.map((cell) => markup`<td${isName(cell) ? NOWRAP : undefined}>${cellMarkup(cell, folderOf)}</td>`)}</tr>\n`,
  )}</tbody></table></div>
`,
)}`,
  });
}

const NOWRAP = new Markup(' class="nowrap"');
/** A browser would break names at their hyphens. */
const LONGEST_NAME = 32;

function isName(cell: SheetCell): boolean {
  const text = typeof cell === 'string' ? cell : cell.text;
  return text.length <= LONGEST_NAME && !/\s/.test(text);
}

function cellMarkup(cell: SheetCell, folderOf?: Sheet['folderOf']): Markup {
  const { text, run, good } = typeof cell === 'string' ? { text: cell } : cell;
  const words = markup`${clipped(text, LONGEST_CELL)}`;
  const linked = run === undefined ? words : markup`<a href="${reportOf(run, folderOf)}">${words}</a>`;
  return good === undefined ? linked : markup`<span class="state ${good ? 'good' : 'bad'}">${linked}</span>`;
}

/** The same as `<name>.md`. */
export function sheetMarkdown({ title, state, words, headline, tables, folderOf }: Sheet): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    `# ${plainMarkdown(title)}`,
    '',
    `**${plainMarkdown(words ?? STATES[state][1])}**: ${plainMarkdown(headline)}`,
    '',
    ...tables.flatMap(({ title: of, columns, rows }) => [
      `## ${plainMarkdown(of)}`,
      '',
      line(columns.map(plainMarkdown)),
      line(columns.map(() => '---')),
      ...rows.map((cells) => line(cells.map((cell) => cellMarkdown(cell, folderOf)))),
      '',
    ]),
  ].join('\n');
}

function cellMarkdown(cell: SheetCell, folderOf?: Sheet['folderOf']): string {
  const { text, run } = typeof cell === 'string' ? { text: cell } : cell;
  return run === undefined ? plainMarkdown(text) : `[${plainMarkdown(text)}](${reportOf(run, folderOf)})`;
}

function reportOf(run: string, folderOf: Sheet['folderOf'] = (id) => `../${id}`): string {
  const folder = folderOf(run).split('/').map(encodeURIComponent).join('/');
  return `${folder}/report.html`;
}

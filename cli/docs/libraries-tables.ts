/** What came of lock libraries of other languages: tables of README.md, and below them in the docs how each cell is repeated. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { inProject } from '../../harness/machine/project-files.js';
import { externalLocks } from '../../lock-impl/external/index.js';
import { TOOL } from '../common/standing.js';
import { markdownCell } from '../judge/summary-text.js';

/** Written by `npm run bench -- publish` from matrices that were run. */
export const measuredSchema = z.object({
  /** The day of the last of them. */
  day: z.string(),
  server: z.string(),
  cells: z.array(
    z.object({
      lock: z.string(),
      fault: z.string(),
      topology: z.string(),
      came: z.enum(['safe', 'exclusion', 'stale', 'harm', 'liveness']),
      headline: z.string(),
      reproduce: z.string(),
    }),
  ),
});
export type Measured = z.infer<typeof measuredSchema>;
type MeasuredCell = Measured['cells'][number];

const FILE = 'matrix/measured/external.json';

export function measuredLibraries(): Measured {
  return measuredSchema.parse(JSON.parse(readFileSync(inProject(FILE), 'utf8')));
}

/** Rows of the matrix, by what the table calls them, in its order. */
const COLUMNS: Readonly<Record<string, string>> = {
  nothing: 'nothing',
  'client-paused': 'client paused',
  'holder-cut-off': 'holder cut off',
  'client-crash': 'client crash',
  'node-forgets': 'node forgets',
  'node-clock-forward': 'node’s clock ahead',
  eviction: 'node evicts',
  'restart-with-every-write-on-disk': 'restart, every write on disk',
  partition: 'server cut off',
  'release-by-an-expired-holder': 'late release',
  'primary-lost-before-replication': 'failover (Sentinel)',
};
const WORDS: Record<MeasuredCell['came'], string> = {
  safe: 'safe',
  exclusion: '**exclusion**',
  stale: 'stale holder',
  harm: '**harm**',
  liveness: '**liveness**',
};
const HOW = 'docs/published-libraries.md';

/** README.md with its tables made anew. */
export function readmePage(path: string, measured = measuredLibraries()): string {
  return between(path, 'libraries of other languages', tables(measured));
}

/** docs/published-libraries.md with its list made anew. */
export function librariesPage(path: string, measured = measuredLibraries()): string {
  return between(path, 'how each is repeated', list(measured));
}

function between(path: string, name: string, text: string): string {
  const page = readFileSync(path, 'utf8');
  const marked = new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- end of ${name} -->`);
  if (!marked.test(page)) throw new Error(`${path} has no marker for "${name}"`);
  return page.replace(marked, () => `<!-- ${name} -->\n\n${text}\n\n<!-- end of ${name} -->`);
}

/** A language's libraries, in the order of the registry. */
function languages({ cells }: Measured): Map<string, string[]> {
  const languages = new Map<string, string[]>();
  for (const name of Object.keys(externalLocks)) {
    if (!cells.some(({ lock }) => lock === name)) continue;
    const language = LANGUAGES[name.split('/')[0]!]!;
    languages.set(language, [...(languages.get(language) ?? []), name]);
  }
  return languages;
}

const LANGUAGES: Readonly<Record<string, string>> = {
  redisson: 'Java',
  spring: 'Java',
  go: 'Go',
  python: 'Python',
  rust: 'Rust',
};

function tables(measured: Measured): string {
  return [...languages(measured)]
    .map(([language, names]) => {
      const cells = measured.cells.filter(({ lock }) => names.includes(lock));
      const faults = Object.keys(COLUMNS).filter((fault) => cells.some((cell) => cell.fault === fault));
      const lines = [
        [`${language}, ${measured.day}, ${measured.server}`, ...faults.map((fault) => COLUMNS[fault]!)],
        ['---', ...faults.map(() => '---')],
        ...names.map((name) => [
          `\`${name}\` ${versionOf(name)}`,
          ...faults.map((fault) => textOf(cells.filter((cell) => cell.lock === name && cell.fault === fault))),
        ]),
      ];
      return lines.map((words) => `| ${words.join(' | ')} |`).join('\n');
    })
    .join('\n\n');
}

function versionOf(name: string): string {
  return /@(\S+): /.exec(externalLocks[name]!.summary)![1]!;
}

function textOf(cells: readonly MeasuredCell[]): string {
  const [cell] = cells;
  if (!cell) return '–';
  return cell.came === 'safe' ? WORDS.safe : `[${WORDS[cell.came]}](${HOW}#${anchorOf(cell)})`;
}

function anchorOf({ lock, fault }: MeasuredCell): string {
  return `${lock}-${fault}`.replaceAll('/', '-');
}

function list(measured: Measured): string {
  return [...languages(measured)]
    .flatMap(([language, names]) => {
      const cells = names.flatMap((name) =>
        measured.cells.filter(({ lock, came }) => lock === name && came !== 'safe'),
      );
      if (cells.length === 0) return [];
      const items = cells.map((cell) => {
        const what = `<a id="${anchorOf(cell)}"></a>\`${cell.lock}\`, ${COLUMNS[cell.fault]}: ${markdownCell(cell.headline)}`;
        return `- ${what}\n\n  \`${asInstalled(cell.reproduce)}\``;
      });
      return [`### ${language}`, ...items];
    })
    .join('\n\n');
}

/** As somebody types it who has the tool as a package. */
function asInstalled(command: string): string {
  return command.startsWith(TOOL) ? `npx lock-torture${command.slice(TOOL.length)}` : command;
}

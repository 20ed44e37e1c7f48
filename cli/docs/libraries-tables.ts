/** What came of lock libraries of other languages: a table for each language, and below them how each cell is repeated. */
import { externalLock, externalLocks } from '../../lock-impl/external/index.js';
import { parseLockSpec, writeLockSpec } from '../../lock-impl/lock-spec.js';
import { between, cameText, foundItem, type Measured, markdownTable, measured } from './measured.js';

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

/** docs/published-libraries.md with its tables and its list made anew. */
export function librariesPage(path: string, of = measured('external')): string {
  return between(path, { 'libraries of other languages': tables(of), 'how each is repeated': list(of) });
}

/** A language's libraries, in the order of the registry. */
function languages({ cells }: Measured): Map<string, string[]> {
  const languages = new Map<string, string[]>();
  const measured = [...new Set(cells.map(({ lock }) => lock))];
  const inOrder = Object.keys(externalLocks).flatMap((name) =>
    measured.filter((lock) => parseLockSpec(lock).name === name),
  );
  for (const name of inOrder) {
    const language = LANGUAGES[name.split('/')[0]!]!;
    languages.set(language, [...(languages.get(language) ?? []), name]);
  }
  return languages;
}

const LANGUAGES: Readonly<Record<string, string>> = {
  redisson: 'Java',
  spring: 'Java',
  curator: 'Java',
  go: 'Go',
  python: 'Python',
  rust: 'Rust',
};

function tables(of: Measured): string {
  return [...languages(of)]
    .map(([language, names]) => {
      const cells = of.cells.filter(({ lock }) => names.includes(lock));
      const faults = Object.keys(COLUMNS).filter((fault) => cells.some((cell) => cell.fault === fault));
      return markdownTable(
        [`${language}, ${of.day}, ${of.servers.join(', ')}`, ...faults.map((fault) => COLUMNS[fault]!)],
        names.map((name) => [
          `\`${withoutVersion(name)}\` ${versionOf(name)}`,
          ...faults.map((fault) =>
            cameText(
              cells.find((cell) => cell.lock === name && cell.fault === fault),
              '',
            ),
          ),
        ]),
      );
    })
    .join('\n\n');
}

function withoutVersion(spec: string): string {
  const { version: _, ...others } = parseLockSpec(spec);
  return writeLockSpec(others);
}

function versionOf(spec: string): string {
  return parseLockSpec(spec).version ?? externalLock(spec)!.versions.byDefault!;
}

function list(of: Measured): string {
  return [...languages(of)]
    .flatMap(([language, names]) => {
      const cells = names.flatMap((name) => of.cells.filter(({ lock, came }) => lock === name && came !== 'safe'));
      if (cells.length === 0) return [];
      return [`### ${language}`, ...cells.map((cell) => foundItem(cell, `\`${cell.lock}\`, ${COLUMNS[cell.fault]}`))];
    })
    .join('\n\n');
}

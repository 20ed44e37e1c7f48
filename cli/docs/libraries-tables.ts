/** What came of published lock libraries: a table for npm and for each other language, and below them how each cell is repeated. */
import { externalLock, externalLocks } from '../../lock-impl/external/index.js';
import { parseLockSpec, writeLockSpec } from '../../lock-impl/lock-spec.js';
import { publishedLocks } from '../../lock-impl/third-party/index.js';
import { type Cell, publishedCells, whyNoCell } from '../../matrix/index.js';
import { between, cameText, foundItem, type MeasuredCell, markdownTable, measuredCells, runOn } from './measured.js';

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
  'primary-lost-before-replication': 'failover',
  'node-hangs': 'node hangs',
};
/** Of the table of npm's packages. */
const NPM_FAULTS = [
  ...['nothing', 'client-paused', 'holder-cut-off', 'client-crash', 'node-forgets', 'node-clock-forward', 'eviction'],
  ...['node-hangs', 'restart-with-every-write-on-disk', 'partition'],
];

/** Rows of the table of npm's packages: locks of one package are one row, and what another call than the first came to has its name. */
const NPM_ROWS: readonly [title: string, locks: Readonly<Record<string, string>>][] = [
  ['', { 'third-party/redlock-4': '' }],
  ['', { 'third-party/redlock-5': '', 'third-party/redlock-5-using': '`using`' }],
  ['', { 'third-party/sesamecare-redlock': '', 'third-party/sesamecare-redlock-using': '`using`' }],
  [
    ', RedlockMutex',
    {
      'third-party/redis-semaphore-redlock-mutex': '',
      'third-party/redis-semaphore-redlock-mutex-default-client': 'over ioredis’ default clients',
    },
  ],
  [', Mutex (one server)', { 'third-party/redis-semaphore-mutex': '' }],
  ['', { 'third-party/redlock-universal': '' }],
  ['for comparison: `redlock` of this project', { redlock: '' }],
];

/** docs/published-libraries.md with its tables and its list made anew. */
export function librariesPage(path: string, of = measuredCells()): string {
  return between(path, {
    'libraries of npm': npmTable(of),
    'libraries of other languages': tables(of),
    'how each is repeated': list(of),
  });
}

function npmTable(of: readonly MeasuredCell[]): string {
  const rows = NPM_ROWS.map(([title, locks]) => {
    const [first] = Object.keys(locks) as [string];
    const library = published(first);
    const name = library === undefined ? title : `\`${library.name}\` ${library.version}${title}`;
    const cells = of.filter(({ lock, topology }) => lock in locks && (topology === 'single' || topology === 'redlock'));
    return { name, locks, first, cells };
  });
  const faults = NPM_FAULTS.filter((fault) => rows.some(({ cells }) => cells.some((cell) => cell.fault === fault)));
  return markdownTable(
    ['npm package, as it is', ...faults.map((fault) => COLUMNS[fault]!), 'run on'],
    rows.map(({ name, locks, first, cells }) => [
      name,
      ...faults.map((fault) => {
        const here = Object.entries(locks).flatMap(([lock, call]) => {
          const cell = cells.find((one) => one.lock === lock && one.fault === fault);
          if (!cell) return [];
          const text = cameText(cell, '');
          return [call === '' ? text : `${text} (${call})`];
        });
        return here.length > 0 ? here.join('; ') : whyNoCell(publishedCells, first, fault);
      }),
      runOn(cells),
    ]),
  );
}

/** Of the registry's summary, "redlock@4.2.0: lock, extend and unlock"; undefined: the project's own. */
function published(lock: string): { name: string; version: string } | undefined {
  const [, name, version] = /^(.+?)@([^@:]+):/.exec(publishedLocks[lock]?.summary ?? '') ?? [];
  return name === undefined || version === undefined ? undefined : { name, version };
}

/** A language's libraries, in the order of the registry. */
function languages(cells: readonly MeasuredCell[]): Map<string, string[]> {
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

function tables(of: readonly MeasuredCell[]): string {
  return [...languages(of)]
    .flatMap(([language, names]) =>
      PLACES.map(([place, isThere]) =>
        tableOf(`${language}${place}`, names, of.filter(isThere), publishedCells.filter(isThere)),
      ),
    )
    .filter((table) => table !== '')
    .join('\n\n');
}

type Place = Pick<MeasuredCell, 'lock' | 'topology'>;

/** A lock of one server or of independent nodes that runs on a Cluster, or on such nodes, as well has a row for each. */
const PLACES: readonly [title: string, isThere: (of: Place) => boolean][] = [
  ['', (of) => of.topology !== 'cluster' && !isOneOfEach(of)],
  [', on Cluster', ({ topology }) => topology === 'cluster'],
  [', one part on each of five nodes', isOneOfEach],
];

function isOneOfEach({ lock, topology }: Place): boolean {
  return topology === 'redlock' && publishedCells.some((cell) => cell.lock === lock && cell.topology === 'single');
}

/** Empty: nothing is known of them there. */
function tableOf(title: string, names: readonly string[], of: readonly MeasuredCell[], there: readonly Cell[]): string {
  const cells = of.filter(({ lock }) => names.includes(lock));
  const faults = Object.keys(COLUMNS).filter((fault) => cells.some((cell) => cell.fault === fault));
  const rows = names.flatMap((name) => {
    const its = cells.filter(({ lock }) => lock === name);
    if (its.length === 0) return [];
    const came = faults.map((fault) => {
      const cell = its.find((one) => one.fault === fault);
      return cell ? cameText(cell, '') : whyNoCell(there, name, fault);
    });
    return [[`\`${withoutVersion(name)}\` ${versionOf(name)}`, ...came, runOn(its)]];
  });
  return rows.length === 0 ? '' : markdownTable([title, ...faults.map((fault) => COLUMNS[fault]!), 'run on'], rows);
}

function withoutVersion(spec: string): string {
  const { version: _, ...others } = parseLockSpec(spec);
  return writeLockSpec(others);
}

function versionOf(spec: string): string {
  return parseLockSpec(spec).version ?? externalLock(spec)!.versions.byDefault!;
}

function list(of: readonly MeasuredCell[]): string {
  const npm = NPM_ROWS.flatMap(([, locks]) => Object.keys(locks));
  return [['npm', npm] as const, ...languages(of)]
    .flatMap(([language, names]) => {
      const cells = names.flatMap((name) =>
        of.filter(({ lock, came, fault }) => lock === name && came !== 'safe' && fault in COLUMNS),
      );
      if (cells.length === 0) return [];
      return [`### ${language}`, ...cells.map((cell) => foundItem(cell, `\`${cell.lock}\`, ${COLUMNS[cell.fault]}`))];
    })
    .join('\n\n');
}

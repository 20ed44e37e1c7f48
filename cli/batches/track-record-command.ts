/**
 * `track-record`: real bugs of published locks, each looked for in the version that had it, and then in the one that mended it. Ways are
 * tried from the plainest on, and the first that finds it is the one by which the mended version is run.
 */
import { type Command, Option } from 'commander';
import { PROJECT } from '../../harness/machine/project-files.js';
import { plural } from '../../harness/record/facts/words.js';
import { insteadOf } from '../../harness/record/schemas/names.js';
import type { Results } from '../../harness/vocabulary/verdict.js';
import { parseLockSpec, writeLockSpec } from '../../lock-impl/lock-spec.js';
import { type Sheet, sheetState } from '../../reports/index.js';
import { kinds, type PlayedAs, type TrackRecordEntry, trackRecord } from '../../scenarios/track-record/index.js';
import { UsageError } from '../common/errors.js';
import { saying } from '../common/say.js';
import { durationMs, wholeNumberIn } from '../common/values.js';
import { mustHaveTime } from '../run/ask-run.js';
import { SEEDS } from '../run/flags.js';
import { type BatchRun, decideByFlags, runBatch } from './batch.js';
import { addBatchFlags, type BatchFlags, batchOptions } from './batch-flags.js';
import { batchHeadline, recordBatch } from './batch-record.js';
import { runWhereItCan } from './server-needs.js';
import { thoseThatMayBe } from './track-record-found.js';

export interface TrackRecordFlags extends BatchFlags {
  seed: number;
  timeLimit: number;
}

/** How an entry is looked for: with the flags that a run has by itself, or with those of its lock's kind. */
type Way = 'run' | 'kind';
const WAYS: readonly Way[] = ['run', 'kind'];

/** What came of an entry. */
export interface TrackRecordRow {
  id: string;
  library: string;
  broken: string;
  mended: string;
  what: string;
  link: string;
  /** `not-found`: no way found it. `blamed`: the mended version is blamed for the same property. */
  came: 'found' | 'not-found' | 'blamed' | 'not-tried' | 'could-not-run';
  /** The first way that found it. */
  by?: Way;
  why: string;
  /** How much the silence of the mended version is worth; absent: it was not run, or its run had no strikes. */
  strength?: string;
  runs: { version: string; way: Way; run?: string; seed: number; reproduce?: string; headline?: string }[];
}

export function addTrackRecordFlags(command: Command): Command {
  return addBatchFlags(
    command
      .argument('<what>', 'list; play, with names of entries; or all')
      .argument('[names...]', 'entries, as in C33')
      .addOption(new Option('--seed <n>', 'of every run').argParser(wholeNumberIn(0, SEEDS - 1)).default(1))
      .addOption(new Option('--time-limit <duration>', 'of each run').argParser(durationMs).default(20_000, '20s')),
  );
}

/** Plays, prints what came of each, and resolves with the exit status. */
export async function trackRecordCommand(
  what: string,
  names: readonly string[],
  flags: TrackRecordFlags,
  { cwd }: { cwd: string },
): Promise<number> {
  const chosen = chosenEntries(what, names);
  if (what === 'list') return list();
  mustHaveTime(flags.timeLimit);
  const say = saying(flags);
  const options = await batchOptions(flags, cwd, say);
  using _ = options.stop;
  const rows: TrackRecordRow[] = [];
  const record = recordBatch(
    { base: options.base, name: 'track-record', json: flags.json },
    () => trackRecordSummary(rows, chosen.length),
    trackRecordSheet,
  );
  const ended = (row: TrackRecordRow) => {
    rows.push(row);
    const text = `${row.id}  ${row.library} ${row.broken}: ${row.came.replace(/-/g, ' ')}${row.by ? ` (${WAY_WORDS[row.by]})` : ''}: ${row.why}`;
    record.ended({ type: 'entry', ...row }, rows.length, chosen.length, text);
  };
  const open = chosen.map((entry) => ({ entry, row: begun(entry) }));
  for (const { entry, row } of open)
    if ('notYet' in entry.tried) ended({ ...row, came: 'not-tried', why: entry.tried.notYet });
  const playable = open.flatMap(({ entry, row }) => {
    const { tried } = entry;
    return 'notYet' in tried ? [] : [{ entry, tried, row, lock: tried.lock }];
  });
  await runWhereItCan(
    playable,
    options,
    { flags, cwd, say },
    {
      run: async (some, on) => {
        const byFlags = decideByFlags(on, PROJECT);
        const play = async (jobs: readonly Job[], done: (job: Job, run: BatchRun) => void) =>
          runBatch(jobs, on, (job) => byFlags({ argv: argvOf(job, flags.timeLimit) }, flags.seed), done);
        let left: readonly Playable[] = some;
        for (const way of WAYS) {
          const found: Playable[] = [];
          await play(
            left.map((one) => ({ ...one, way, version: 'broken' as const })),
            (job, run) => {
              if (isFound(job, run)) found.push(job);
            },
          );
          await play(
            found.map((one) => ({ ...one, way, version: 'mended' as const })),
            (job, run) => {
              judgeMended(job, run);
              ended(job.row);
            },
          );
          left = left.filter(({ row }) => !found.some((one) => one.row === row));
          if (options.stop.asked) return;
        }
        for (const { row } of left) ended(row);
      },
      lacks: ({ row }, why) => ended({ ...row, came: 'not-tried', why }),
    },
  );
  return record.end();
}

interface Playable {
  entry: TrackRecordEntry;
  tried: PlayedAs;
  row: TrackRecordRow;
  lock: string;
}

interface Job extends Playable {
  way: Way;
  version: 'broken' | 'mended';
}

const WAY_WORDS: Readonly<Record<Way, string>> = { run: 'by a plain run', kind: 'by the flags of its kind' };

function chosenEntries(what: string, names: readonly string[]): readonly TrackRecordEntry[] {
  if (!['list', 'play', 'all'].includes(what))
    throw new UsageError(`track-record ${what}: ${insteadOf(what, ['list', 'play', 'all'])}`);
  if (what !== 'play' && names.length > 0) throw new UsageError(`track-record ${what} takes no names; play does`);
  if (what !== 'play') return trackRecord;
  if (names.length === 0) throw new UsageError('which entry? track-record list tells what there is');
  return names.map((name) => {
    const entry = trackRecord.find(({ id }) => id === name);
    if (entry) return entry;
    const known = trackRecord.map(({ id }) => id);
    throw new UsageError(`no entry "${name}"; ${insteadOf(name, known, { list: 'track-record list' })}`);
  });
}

function list(): number {
  for (const { id, library, broken, mended, mendedLibrary, property, what, link, tried } of trackRecord) {
    const how = 'notYet' in tried ? `not tried yet: ${tried.notYet}` : `${tried.lock}, as ${tried.kind}`;
    const after = mendedLibrary === undefined ? mended : `${mendedLibrary} ${mended}`;
    process.stdout.write(
      `${id}  ${library} ${broken} -> ${after} (${property})\n    ${what}\n    ${link}\n    ${how}\n\n`,
    );
  }
  return 0;
}

function begun({ id, library, broken, mended, what, link }: TrackRecordEntry): TrackRecordRow {
  return { id, library, broken, mended, what, link, came: 'not-found', why: 'no way found it', runs: [] };
}

/** What somebody types who runs that lock in that version. */
function argvOf({ entry, tried, way, version }: Job, timeLimitMs: number): string[] {
  const { lock, mendedLock = lock, kind } = tried;
  const spec = parseLockSpec(version === 'broken' ? lock : mendedLock);
  const named = writeLockSpec({ ...spec, version: entry[version] });
  const flags = kinds[kind];
  const [, topology] = flags.slice(flags.indexOf('--topology'));
  const ways = { run: ['--topology', topology!], kind: flags };
  return [...ways[way], '--lock', named, '--time-limit', `${timeLimitMs}ms`];
}

function noted({ row, entry, way, version }: Job, { runId, seed, reproduce, results }: BatchRun): void {
  row.runs.push({ version: entry[version], way, run: runId, seed, reproduce, headline: results?.headline });
}

/** Whether this run found the bug; notes what it came to. */
function isFound(job: Job, run: BatchRun): boolean {
  const { row, entry, way } = job;
  noted(job, run);
  if (!run.results) {
    // Another way may be possible.
    Object.assign(row, { came: 'could-not-run', why: run.error ?? 'it could not run' });
    return false;
  }
  const [first] = thoseThatMayBe(entry.property, run.results.violations);
  if (!first) {
    Object.assign(row, { came: 'not-found', why: run.results.headline });
    return false;
  }
  Object.assign(row, { came: 'found', by: way, why: wordsOf(first) });
  return true;
}

function wordsOf({ class: name, kind, cause }: Results['violations'][number]): string {
  return `${name}, ${kind}: ${cause.sentence}`;
}

function judgeMended(job: Job, run: BatchRun): void {
  const { row, entry } = job;
  noted(job, run);
  const { results, error } = run;
  if (!results) {
    Object.assign(row, { came: 'could-not-run', why: `${entry.mended}: ${error ?? 'it could not run'}` });
    return;
  }
  const [first] = thoseThatMayBe(entry.property, results.violations);
  if (first) Object.assign(row, { came: 'blamed', why: `${entry.mended} as well: ${wordsOf(first)}` });
  else if (results.strength !== undefined) row.strength = results.strength;
}

/** Every entry counts, tried or not. */
export function trackRecordSummary(rows: readonly TrackRecordRow[], planned: number) {
  const counted = (came: TrackRecordRow['came']) => rows.filter((row) => row.came === came).length;
  const rest: [TrackRecordRow['came'], string][] = [
    ['not-found', 'not found'],
    ['not-tried', 'not tried'],
    ['could-not-run', 'could not run'],
  ];
  const foundInOld = counted('found') + counted('blamed');
  const headline = [
    `${foundInOld} of ${plural(planned, 'bug')} found in the version that had ${planned === 1 ? 'it' : 'them'}`,
    `${counted('found')} silent in the one that mended it`,
    ...rest.flatMap(([came, text]) => (counted(came) > 0 ? [`${counted(came)} ${text}`] : [])),
    ...(rows.length < planned ? [`${planned - rows.length} not made`] : []),
  ].join(', ');
  return { version: 1 as const, exitStatus: statusOf(rows, planned), headline, planned, rows: [...rows] };
}

/** What is not tried, or not found, is a row of the record as well: only what must be silent and is not fails it. */
function statusOf(rows: readonly TrackRecordRow[], planned: number): 0 | 1 | 2 | 3 {
  const some = (came: TrackRecordRow['came']) => rows.some((row) => row.came === came);
  if (some('blamed')) return 1;
  if (some('could-not-run')) return 3;
  return rows.length < planned || rows.every(({ came }) => came === 'not-tried') ? 2 : 0;
}

export function trackRecordSheet(summary: ReturnType<typeof trackRecordSummary>, id: string): Sheet {
  return {
    title: `track record ${id}`,
    state: sheetState(summary.exitStatus),
    headline: batchHeadline(summary),
    tables: [
      {
        title: 'Bugs of published locks',
        columns: ['bug', 'library', 'had it', 'mended', 'what went wrong', 'came out', 'found', 'silence'],
        rows: summary.rows.map((row) => {
          const last = row.runs.at(-1)?.run;
          return [
            last === undefined ? row.id : { text: row.id, run: last },
            row.library,
            row.broken,
            row.mended,
            row.what,
            {
              text: `${row.came.replace(/-/g, ' ')}${row.by ? ` ${WAY_WORDS[row.by]}` : ''}`,
              good: row.came === 'found',
            },
            row.why,
            row.strength ?? '',
          ];
        }),
      },
    ],
  };
}

/** Below the flags. */
export const TRACK_RECORD_HELP = `
An entry is a bug of a published lock that was reported, mended and released: the last version that has it, and the first that has
not. It is looked for by a plain run and then by flags that were fixed for its kind of lock. The mended version is run by the way
that found it, and must not be blamed for the same. Versions are fetched into the cache.

Examples:
  npm run torture -- track-record list
  npm run torture -- track-record play C33 C34
  npm run torture -- track-record all

Exit status: 0 what was found is silent where it was mended, 1 something is not, 2 none could be tried, 3 some could not run.
`;

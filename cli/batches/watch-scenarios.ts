/**
 * `scenario --watch`: plays again when a file changes that the lock is made of, first what failed last and, once nothing of that
 * fails any more, the others. Ctrl-C ends it with the exit status of what was played last.
 */
import { EXIT_COULD_NOT_RUN, UsageError } from '../common/errors.js';
import { saying } from '../common/say.js';
import { filesOfLock, namedFiles, untilStopped, watchFiles } from '../run/watched-files.js';
import { type Cast, chosenPlays } from './scenario-cast.js';
import { playScenarios, type ScenarioFlags, type ScenarioRow } from './scenario-command.js';

/** Plays until the user ends it, and resolves with the last exit status. Throws one line where there is nothing to watch. */
export async function watchScenarios(
  names: readonly string[],
  flags: ScenarioFlags,
  { cwd }: { cwd: string },
): Promise<number> {
  for (const [flag, given] of [
    ['--list', flags.list],
    ['--shard', flags.shard !== undefined],
    ['--json', flags.json],
  ] as const)
    if (given) throw new UsageError(`--watch plays again after each change, for reading: leave out ${flag}`);
  const say = saying(flags);
  const chosen = chosenPlays(names, flags, say);
  using stop = untilStopped();
  let failed: readonly Cast[] = [];
  let known: readonly string[] = [];
  for (;;) {
    known = await filesOfLock(flags.lock ?? '', cwd, known);
    using files = watchFiles(known);
    let status = EXIT_COULD_NOT_RUN;
    for (const some of inTurn(chosen, failed)) {
      if (failed.length > 0) say(`first what failed: ${some.map(({ name }) => name).join(', ')}`);
      const played = await playScenarios(some, flags, cwd);
      status = played.status;
      if (stop.signal.aborted) return status;
      failed = stillFailing(some, failed, played.rows);
      if (failed.length > 0) break;
    }
    say(`watching ${namedFiles(files.paths, cwd)}; Ctrl-C ends`);
    const changed = await files.changed(stop.signal);
    if (changed.length === 0) return status;
    say(`${namedFiles(changed, cwd)} changed`);
  }
}

/** What failed, then the others; all at once where nothing did, or everything. */
function inTurn(chosen: readonly Cast[], failed: readonly Cast[]): (readonly Cast[])[] {
  return [failed, chosen.filter((one) => !failed.includes(one))].filter((some) => some.length > 0);
}

/** What failed now; and what had failed, of which it cannot be told now. */
export function stillFailing(
  played: readonly Cast[],
  failed: readonly Cast[],
  rows: readonly Pick<ScenarioRow, 'scenario' | 'went'>[],
): Cast[] {
  const fails = ({ went }: Pick<ScenarioRow, 'went'>, before: boolean) =>
    went === 'violated' || went === 'otherwise' || went === 'could-not-run' || (before && went === 'cannot-tell');
  return played.filter((one) => rows.some((row) => row.scenario === one.name && fails(row, failed.includes(one))));
}

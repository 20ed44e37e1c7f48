/**
 * `run --watch`: runs again when a file changes that the lock is made of, first with the seed that failed last and, once that
 * finds nothing any more, with another one. Ctrl-C ends it with the exit status of the last run.
 */
import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { couldNotRun, EXIT_COULD_NOT_RUN, UsageError } from '../common/errors.js';
import { saying } from '../common/say.js';
import type { Invocation } from './ask-run.js';
import { type RunFlags, SEEDS } from './flags.js';
import { type ConfiguredRun, configuredRun, runCommand } from './run-command.js';
import { filesOfLock, namedFiles, untilStopped, watchFiles } from './watched-files.js';

/** Runs until the user ends it, and resolves with the last exit status. Throws one line where there is nothing to watch. */
export async function watchCommand(flags: RunFlags, invocation: Invocation): Promise<number> {
  for (const [flag, given] of [
    ['--times', flags.times !== undefined],
    ['--until-violation', flags.untilViolation],
    ['--json', flags.json],
  ] as const)
    if (given) throw new UsageError(`--watch makes one run after each change, for reading: leave out ${flag}`);
  const say = saying(flags);
  using stop = untilStopped();
  let failed: number | undefined;
  let status = EXIT_COULD_NOT_RUN;
  let known: readonly string[] = [];
  for (let round = 0; ; round++) {
    const run = await configuredRun(flags, invocation);
    known = await filesOf(run, known);
    using files = watchFiles(known);
    const seed = run.flags.seed ?? failed ?? randomInt(0, SEEDS);
    const again = seed === failed;
    if (again) say(`seed ${seed} again, with which it failed`);
    try {
      status = await runCommand({ ...run, flags: { ...run.flags, seed } });
    } catch (error) {
      // Flags that are wrong no change of a file mends.
      if (round === 0) throw error;
      status = couldNotRun(error);
    }
    if (stop.signal.aborted) return status;
    if (status === VIOLATED) failed = seed;
    else if (again && status === HELD) {
      failed = undefined;
      if (run.flags.seed === undefined) {
        say(`seed ${seed} finds nothing any more: on with another`);
        continue;
      }
    }
    say(`watching ${namedFiles(files.paths, invocation.cwd)}; Ctrl-C ends`);
    const changed = await files.changed(stop.signal);
    if (changed.length === 0) return status;
    say(`${namedFiles(changed, invocation.cwd)} changed`);
  }
}

const HELD = 0;
const VIOLATED = 1;

/** What the lock is made of, and the files that say how to run. */
async function filesOf(
  { flags, invocation: { cwd }, config }: ConfiguredRun,
  known: readonly string[],
): Promise<readonly string[]> {
  const others = [config, flags.plan === undefined ? undefined : resolve(cwd, flags.plan)];
  const sources = await filesOfLock(flags.lock ?? '', cwd, known);
  return [...new Set([...sources, ...others.filter((path) => path !== undefined)])];
}

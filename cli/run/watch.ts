/**
 * `run --watch`: runs again when a file changes that the lock is made of, first with the seed that failed last and, once that
 * finds nothing any more, with another one. Ctrl-C ends it with the exit status of the last run.
 */
import { randomInt } from 'node:crypto';
import { existsSync, unwatchFile, watchFile } from 'node:fs';
import { relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { couldNotRun, EXIT_COULD_NOT_RUN, UsageError } from '../common/errors.js';
import { saying } from '../common/say.js';
import type { Invocation } from './ask-run.js';
import { LockSpecError } from './bundle.js';
import { type RunFlags, SEEDS } from './flags.js';
import { sourcesOf } from './lock-source.js';
import { type ConfiguredRun, configuredRun, runCommand } from './run-command.js';
import { SIGNALS } from './supervise.js';

/** By looking, for what tells of changes differs by system, file system and editor. */
const LOOK_EVERY_MS = 200;
/** An editor that saves several files, or one in parts, is done by then. */
const SETTLED_MS = 150;

/** Runs until the user ends it, and resolves with the last exit status. Throws one line where there is nothing to watch. */
export async function watchCommand(flags: RunFlags, invocation: Invocation): Promise<number> {
  for (const [flag, given] of [
    ['--times', flags.times !== undefined],
    ['--until-violation', flags.untilViolation],
    ['--json', flags.json],
  ] as const)
    if (given) throw new UsageError(`--watch makes one run after each change, for reading: leave out ${flag}`);
  const say = saying(flags);
  using stop = stopped();
  let failed: number | undefined;
  let status = EXIT_COULD_NOT_RUN;
  let known: readonly string[] = [];
  for (let round = 0; ; round++) {
    const run = await configuredRun(flags, invocation);
    known = await filesOf(run, known);
    using files = watching(known);
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
    say(`watching ${named(files.paths, invocation.cwd)}; Ctrl-C ends`);
    const changed = await files.changed(stop.signal);
    if (changed.length === 0) return status;
    say(`${named(changed, invocation.cwd)} changed`);
  }
}

const HELD = 0;
const VIOLATED = 1;

/** What the lock is made of, and the files that say how to run. Throws where nothing of it is the user's. */
async function filesOf(
  { flags, invocation: { cwd }, config }: ConfiguredRun,
  known: readonly string[],
): Promise<string[]> {
  const others = [config, flags.plan === undefined ? undefined : resolve(cwd, flags.plan)];
  const lock = flags.lock ?? '';
  const clientMain = fileURLToPath(new URL('../../harness/client/main.js', import.meta.url));
  const sources = await sourcesOf(lock, { cwd, clientMain }).catch((error) => {
    // It does not compile: the run says so, and a change may mend it, of what it was made of before, too.
    if (error instanceof LockSpecError && existsSync(resolve(cwd, lock))) return [resolve(cwd, lock), ...known];
    throw error;
  });
  if (sources.length === 0)
    throw new UsageError("--watch waits for changes of a lock of yours: --lock ./my-lock.ts, or 'cmd:./program'");
  return [...new Set([...sources, ...others.filter((path) => path !== undefined)])];
}

interface Watching extends Disposable {
  paths: readonly string[];
  /** Which have changed since watching began: at once if some have, none once `signal` aborts. */
  changed(signal: AbortSignal): Promise<string[]>;
}

function watching(paths: readonly string[]): Watching {
  const changed = new Set<string>();
  let wake = () => {};
  const listeners = paths.map((path) => {
    const listener = () => {
      changed.add(path);
      wake();
    };
    watchFile(path, { interval: LOOK_EVERY_MS }, listener);
    return [path, listener] as const;
  });
  return {
    paths,
    async changed(signal) {
      await new Promise<void>((done) => {
        wake = done;
        signal.addEventListener('abort', () => done(), { once: true });
        if (changed.size > 0 || signal.aborted) done();
      });
      if (signal.aborted) return [];
      await sleep(SETTLED_MS);
      return [...changed];
    },
    [Symbol.dispose]() {
      for (const [path, listener] of listeners) unwatchFile(path, listener);
    },
  };
}

/** Aborts once the user wants it to end. */
function stopped(): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const stop = () => controller.abort();
  for (const signal of SIGNALS) process.on(signal, stop);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const signal of SIGNALS) process.off(signal, stop);
    },
  };
}

function named(paths: readonly string[], cwd: string): string {
  const [first] = paths;
  const name = relative(cwd, first!);
  return paths.length === 1 ? name : `${name} and ${paths.length - 1} more`;
}

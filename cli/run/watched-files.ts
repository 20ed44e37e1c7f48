/** `--watch`: which files a lock is made of, and waiting until one of them changes or the user ends it. */
import { existsSync, unwatchFile, watchFile } from 'node:fs';
import { relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../common/errors.js';
import { LockSpecError } from './bundle.js';
import { sourcesOf } from './lock-source.js';
import { SIGNALS } from './supervise.js';

/** By looking, for what tells of changes differs by system, file system and editor. */
const LOOK_EVERY_MS = 200;
/** An editor that saves several files, or one in parts, is done by then. */
const SETTLED_MS = 150;

/**
 * What the lock is made of; `known`: what it was made of before. Throws one line where nothing of it is the user's.
 */
export async function filesOfLock(lock: string, cwd: string, known: readonly string[]): Promise<readonly string[]> {
  const clientMain = fileURLToPath(new URL('../../harness/client/main.js', import.meta.url));
  const sources = await sourcesOf(lock, { cwd, clientMain }).catch((error) => {
    // It does not compile: the run says so, and a change may mend it, of what it was made of before, too.
    if (error instanceof LockSpecError && existsSync(resolve(cwd, lock))) return [resolve(cwd, lock), ...known];
    throw error;
  });
  if (sources.length === 0)
    throw new UsageError("--watch waits for changes of a lock of yours: --lock ./my-lock.ts, or 'cmd:./program'");
  return [...new Set(sources)];
}

export interface Watching extends Disposable {
  paths: readonly string[];
  /** Which have changed since watching began: at once if some have, none once `signal` aborts. */
  changed(signal: AbortSignal): Promise<string[]>;
}

export function watchFiles(paths: readonly string[]): Watching {
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
export function untilStopped(): Disposable & { signal: AbortSignal } {
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

export function namedFiles(paths: readonly string[], cwd: string): string {
  const [first] = paths;
  const name = relative(cwd, first!);
  return paths.length === 1 ? name : `${name} and ${paths.length - 1} more`;
}

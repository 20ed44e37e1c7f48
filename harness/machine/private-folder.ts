/**
 * Folders in which a download or a compilation is prepared before it is renamed into place, all or nothing. A folder
 * names the process that made it, so that the next process removes what a killed one left behind; nothing is locked.
 */
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../record/make-folder.js';

/** The cache folder cannot be used. The message is one line, with the remedy. */
export class CacheFolderError extends Error {
  override name = 'CacheFolderError';
}

/** A folder of another container (another process namespace) cannot be asked after: it goes when it is this old. */
const FOREIGN_MS_MAX = 24 * 3600 * 1000;

export interface PrivateFolder extends Disposable {
  readonly path: string;
}

/**
 * A new folder in `parent` that is removed when disposed, or by a later call if we are killed. Throws a CacheFolderError where
 * none can be made there.
 */
export function privateFolder(parent: string): PrivateFolder {
  const { namespace, pid, started } = identity(process.pid)!;
  const path = inCache(parent, () => {
    makeFolder(parent);
    return mkdtempSync(join(parent, `tmp-${namespace}-${pid}-${started}-`));
  });
  sweep(parent, statSync(path).mtimeMs);
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

function inCache<T>(folder: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    throw new CacheFolderError(
      `nothing can be kept in the cache folder ${folder} (${why}): set LOCK_TORTURE_CACHE to a folder that you can write to`,
    );
  }
}

function sweep(parent: string, nowMs: number): void {
  const ours = processNamespace();
  for (const name of readdirSync(parent)) {
    const [, namespace, pid, started] = /^tmp-(\d+)-(\d+)-(\d+)-/.exec(name) ?? [];
    if (pid === undefined) continue;
    const path = join(parent, name);
    // In a folder that all share, such as /tmp, another user's is theirs.
    if (ownerOf(path) !== process.geteuid?.()) continue;
    const dead = namespace === ours && identity(Number(pid))?.started !== started;
    if (dead || (namespace !== ours && nowMs - modifiedMs(path, nowMs) > FOREIGN_MS_MAX)) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}

interface Identity {
  namespace: string;
  pid: number;
  /** Ticks from boot to its start: tells it from another process that got the same number later. */
  started: string;
}

/** Undefined when there is no such process. */
function identity(pid: number): Identity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the name, is in parentheses and may hold anything; the start is field 22.
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!;
    return { namespace: processNamespace(), pid, started };
  } catch (error) {
    if (isMissing(error) && !(pid === process.pid)) return undefined;
    throw error;
  }
}

function processNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))![0];
}

/** Undefined: it is gone by now. */
function ownerOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid;
}

function modifiedMs(path: string, otherwiseMs: number): number {
  try {
    return statSync(path).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return otherwiseMs; // its owner was quicker
    throw error;
  }
}

/** ESRCH: the process ended between the opening and the reading of its file. */
function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ESRCH';
}

/**
 * Folders that a process has for a while: in the cache, where a download or a compilation is prepared before it is renamed into
 * place, all or nothing; and temporary ones. A folder names the process that made it, so that the next process removes what a
 * killed one left behind; nothing is locked.
 */
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../record/make-folder.js';

/** The cache folder cannot be used. The message is one line, with the remedy. */
export class CacheFolderError extends Error {
  override name = 'CacheFolderError';
}

/** No temporary folder can be made. The message is one line, with the remedy. */
export class TemporaryFolderError extends Error {
  override name = 'TemporaryFolderError';
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
  return ownFolder(parent, '', (why) => {
    const remedy = 'set LOCK_TORTURE_CACHE to a folder that you can write to';
    return new CacheFolderError(`nothing can be kept in the cache folder ${parent} (${why}): ${remedy}`);
  });
}

/** As `privateFolder`, where the system has its temporary folders, or below `parent`. Throws a TemporaryFolderError. */
export function temporaryFolder(parent = tmpdir()): PrivateFolder {
  return ownFolder(parent, 'lock-torture-', (why) => {
    const remedy = 'set TMPDIR to a folder that you can write to';
    return new TemporaryFolderError(`no temporary folder can be made in ${parent} (${why}): ${remedy}`);
  });
}

function ownFolder(parent: string, prefix: string, failed: (why: string) => Error): PrivateFolder {
  const { namespace, pid, started } = identity(process.pid)!;
  let path: string;
  try {
    makeFolder(parent);
    path = mkdtempSync(join(parent, `${prefix}tmp-${namespace}-${pid}-${started}-`));
  } catch (error) {
    throw failed((error as NodeJS.ErrnoException).code ?? (error as Error).message);
  }
  sweep(parent, statSync(path).mtimeMs);
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

function sweep(parent: string, nowMs: number): void {
  const ours = processNamespace();
  for (const name of readdirSync(parent)) {
    const [, namespace, pid, started] = /^(?:lock-torture-)?tmp-(\d+)-(\d+)-(\d+)-/.exec(name) ?? [];
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

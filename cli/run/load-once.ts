/**
 * Loads a lock of the user's once, in a process of its own, before anything else of a run is started: what its module does wrong by
 * itself is told at once.
 *
 * Excludes what only a server shows: `connect` is not called. A module that does not come to an end is left to the handshake, which
 * has its own time for it.
 */
import { readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { execa } from 'execa';
import { LOAD_ONLY } from '../../harness/client/load-lock.js';
import { dyingWithUs } from '../../harness/machine/command.js';
import { shown } from '../../harness/record/schemas/foreign-text.js';
import { diedOf } from '../../harness/topologies/last-words.js';
import { LockSpecError } from './bundle.js';

const LOADS_WITHIN_MS = 15_000;

export interface Loading {
  /** The command that starts a client; the last of it is the module. */
  clientArgv: readonly string[];
  /** The user's file, as typed, and where they stand. */
  spec: string;
  cwd: string;
  /** A folder with nothing of the user's, as clients have. */
  folder: string;
}

/** Rejects with a LockSpecError that names the user's file, and the line where that is known. */
export async function loadOnce({ clientArgv, spec, cwd, folder }: Loading): Promise<void> {
  const module = clientArgv.at(-1)!;
  const [command, ...args] = [...(await dyingWithUs()), ...clientArgv.slice(0, -1), LOAD_ONLY, module];
  const { stdout, stderr, timedOut, exitCode, signal } = await execa(command!, args, {
    cwd: folder,
    reject: false,
    stdin: 'ignore',
    timeout: LOADS_WITHIN_MS,
    killSignal: 'SIGKILL',
  });
  if (timedOut || stdout === LOADED) return;
  const file = resolve(cwd, spec);
  const said = stdout.startsWith(module) ? stdout.slice(module.length) : undefined;
  if (said === undefined) {
    const last = diedOf(stderr);
    const words = last === '' ? '' : `: ${shown(last)}`;
    throw new LockSpecError(
      `${from(cwd, file)} ended the process in which it was loaded (${signal ?? exitCode})${words}`,
    );
  }
  // What it exports is wrong: at the line where it does.
  const line = said.startsWith(':') ? lineOfExport(await readFile(file, 'utf8')) : undefined;
  const place = line === undefined ? '' : `:${line}`;
  throw new LockSpecError(`${from(cwd, file)}${place}${said}`.replaceAll(`${cwd}/`, ''));
}

/** What the client program says of a module that is a lock. */
const LOADED = 'loaded';

function from(cwd: string, file: string): string {
  const inside = relative(cwd, file);
  return inside.startsWith('..') ? file : inside;
}

const EXPORTS =
  /^[ \t]*(export\s+default\b|export\s*\{[^}]*\bas\s+default\b|module\.exports\s*=|exports\.default\s*=)/gm;

/** From 1 on, with its column; undefined: it has none that can be seen. */
export function lineOfExport(source: string): string | undefined {
  const found = [...source.matchAll(EXPORTS)].at(-1);
  if (!found) return undefined;
  const before = source.slice(0, found.index).split('\n').length;
  return `${before}:${/^[ \t]*/.exec(found[0])![0].length + 1}`;
}

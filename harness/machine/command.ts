/**
 * Runs the commands of set-up to their end, on this machine (commands on a run's hosts go through `Host`). A command
 * that cannot be started or takes too long is an exit code with words, never an exception; a command does not outlive
 * this process where util-linux's `setpriv` is there to see to it.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import type { ExecResult } from '../vocabulary/host.js';

export interface CommandOptions {
  /** Added to this process's environment. */
  env?: Record<string, string>;
  cwd?: string;
  timeoutMs?: number;
}

/** As in a shell: the command was not found or is not executable. */
export const COULD_NOT_START = 127;
/** As in timeout(1). */
export const TIMED_OUT = 124;

const TIMEOUT_MS = 20_000;

export async function runProgram(argv: readonly string[], options: CommandOptions = {}): Promise<ExecResult> {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const [file, ...args] = [...(await dyingWithUs()), ...argv];
  if (!findOnPath(argv[0]!)) return { exitCode: COULD_NOT_START, stdout: '', stderr: `${argv[0]} was not found` };
  const { exitCode, stdout, stderr, timedOut, signal, shortMessage } = await execa(file!, args, {
    reject: false,
    stdin: 'ignore',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    // Messages are read below, and dates and numbers are the C locale's.
    env: { LC_ALL: 'C', ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  if (timedOut)
    return { exitCode: TIMED_OUT, stdout, stderr: `${stderr}\n${argv[0]} took longer than ${timeoutMs} ms`.trim() };
  if (signal !== undefined)
    return { exitCode: 128, stdout, stderr: `${stderr}\n${argv[0]} was ended by ${signal}`.trim() };
  return exitCode === undefined
    ? { exitCode: COULD_NOT_START, stdout, stderr: shortMessage ?? '' }
    : { exitCode, stdout, stderr };
}

/** The path of an executable: `command` itself where it is a path, else found on PATH. */
export function findOnPath(command: string, path = process.env.PATH ?? ''): string | undefined {
  const candidates = command.includes('/')
    ? [command]
    : path.split(delimiter).map((folder) => join(folder || '.', command));
  return candidates.find((candidate) => {
    try {
      accessSync(candidate, constants.X_OK);
      return statSync(candidate).isFile();
    } catch {
      return false; // not here
    }
  });
}

/** By the PATH on which it was looked for. */
const prefixes = new Map<string | undefined, Promise<string[]>>();

/** What to put before a command so that the kernel ends it with us; empty where there is no (or only BusyBox's) setpriv. */
export function dyingWithUs(): Promise<string[]> {
  const argv = ['setpriv', '--pdeathsig', 'KILL'];
  const { PATH } = process.env;
  const prefix =
    prefixes.get(PATH) ??
    execa(argv[0]!, [...argv.slice(1), 'true'], { reject: false }).then(({ exitCode }) => (exitCode === 0 ? argv : []));
  prefixes.set(PATH, prefix);
  return prefix;
}

/**
 * Calls the tool in a process of its own: one way to do a thing, and nothing of a test runner (fake timers, mocks, a
 * patched console) reaches a run. The process dies with the one that asked.
 */
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { dyingWithUs } from '../../harness/machine/command.js';
import { exclusively } from '../../harness/machine/exclusively.js';
import { inProject } from '../../harness/machine/project-files.js';

/** It could not run: bad input, or something is missing. The message is one line that says what to do. */
export class LockTortureError extends Error {
  override name = 'LockTortureError';
}

export interface CallOptions {
  /** What relative paths start from, and where `runs/` lies: by default where this process stands. */
  cwd?: string;
  /** Ends the run: it is healed, torn down and judged as far as it came; then the call rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called with each line of progress. */
  onProgress?: (line: string) => void;
  /**
   * Whether it waits until no other call on this machine makes a run, whichever process makes it: test files that run at the same
   * time would disturb each other's runs. True unless said otherwise; only false where the machine is known to be large enough.
   */
  queue?: boolean;
}

/** One of the objects that `--json` prints. */
export type Told = Record<string, unknown>;

/** Longer than any reason that the tool gives. */
const LONGEST_COMPLAINT = 8_000;

/** One run at a time: what a machine is loaded with beside it makes a run "cannot tell". */
const SLOT = 'runs that programs ask for';

/** As `callTool`, for what makes a run: one after the other, on the whole machine. */
export async function callInTurn(argv: readonly string[], options: CallOptions): Promise<Told[]> {
  const { signal, queue = true, onProgress } = options;
  if (!queue) return callTool(argv, options);
  signal?.throwIfAborted();
  const waits = () => onProgress?.('waiting for another run of this machine to end (queue: false does not wait)');
  return new Promise((resolve, reject) => {
    let begun = false;
    // Who is called off while waiting does not wait: the turn then passes on at once. Later the run itself is stopped.
    const callOff = () => {
      if (!begun) reject(signal!.reason);
    };
    signal?.addEventListener('abort', callOff, { once: true });
    exclusively(SLOT, waits, () => {
      begun = true;
      return callTool(argv, options);
    })
      .finally(() => signal?.removeEventListener('abort', callOff))
      .then(resolve, reject);
  });
}

/** Resolves with all that was told but progress. Rejects with a LockTortureError, or the signal's reason. */
export async function callTool(argv: readonly string[], options: CallOptions): Promise<Told[]> {
  const { cwd = process.cwd(), signal, onProgress } = options;
  signal?.throwIfAborted();
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new LockTortureError(`cwd: ${cwd} is no folder`);
  const tool = [process.execPath, inProject('bin/torture.mjs'), ...argv, '--json'];
  const [command, ...args] = [...(await dyingWithUs()), ...tool];
  // A clone takes from npm where the user stands.
  const env = { ...process.env, INIT_CWD: cwd };
  const child = spawn(command!, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => child.kill('SIGINT');
  signal?.addEventListener('abort', stop, { once: true });

  const told: Told[] = [];
  let rest = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const one = toldBy(line);
      if (one === undefined) onProgress?.(line);
      else if (one.type === 'progress') onProgress?.(String(one.line));
      else told.push(one);
    }
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-LONGEST_COMPLAINT);
  });
  try {
    const [code, by] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (...end) => resolve(end));
    });
    signal?.throwIfAborted();
    if (code === 0 || code === 1 || code === 2) return told;
    throw new LockTortureError(complaint(errors) ?? `lock-torture was ended by ${by ?? `exit status ${code}`}`);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** Undefined: it is not of the tool, but of the user's code that it loads. */
function toldBy(line: string): Told | undefined {
  try {
    const one: unknown = JSON.parse(line);
    return typeof one === 'object' && one !== null ? (one as Told) : undefined;
  } catch {
    return undefined; // no JSON
  }
}

/** The last thing that it said for people. */
function complaint(errors: string): string | undefined {
  const [, ...said] = `\n${errors}`.split(/\nlock-torture: /);
  return said.at(-1)?.trim();
}

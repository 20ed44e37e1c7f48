/**
 * Runs the rest of a run inside namespaces of its own, and makes sure that it does not outlive us.
 *
 * Three ropes hold it: the kernel kills `unshare` when we die (PR_SET_PDEATHSIG), `unshare --kill-child` takes the inner
 * process with it, and the inner process, first of its process namespace, takes everything else with it. Should the
 * first rope be torn (setpriv missing, or death before it was tied), the inner process also watches a pipe to us.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable } from 'node:stream';
import { dyingWithUs } from '../../harness/machine/command.js';
import { inNamespaces } from '../../harness/machine/namespaces.js';

/** How an inner run ended: its exit status, or the signal that ended it. */
export type InnerEnd = { code: number } | { signal: NodeJS.Signals };

export interface Inner {
  ended: Promise<InnerEnd>;
  /** What it prints, where it was started with `capture`. */
  captured?: { output: Readable; errors: Readable };
  /** What it tells us on the descriptor on which it watches us. */
  channel: Readable;
  /** Asks the inner process to heal, tear down, check and report what there is. */
  askToStop(): void;
  /** Ends everything at once. */
  kill(): void;
}

/** The descriptor on which the inner process watches us. */
export const WATCH_FD = 3;
export const STOP_REQUEST = 'stop\n';

export interface EnterOptions {
  stdout?: 'inherit' | 'ignore' | 'capture';
  /**
   * Where hosts live, for it is a process like any other where they do not live in its namespaces. Containers it has to remove when
   * we are gone; of a simulated world nothing is left without it.
   */
  hosts?: 'namespaces' | 'containers' | 'a world of its own';
}

/**
 * Starts `argv` in its own network, process and mount namespaces. What it says on standard error is always heard; with
 * `capture` both outputs come to us, and are ours to show.
 */
export async function enterNamespaces(
  argv: readonly string[],
  { stdout = 'inherit', hosts = 'namespaces' }: EnterOptions = {},
): Promise<Inner> {
  const leavesThings = hosts === 'containers';
  const before = [...(leavesThings ? [] : await dyingWithUs()), ...(hosts === 'namespaces' ? inNamespaces() : [])];
  const [command, ...args] = [...before, ...argv];
  // A session of its own: Ctrl-C reaches only us, and we pass it on as a request, so that Redis and the clients live on
  // until the run has been healed and judged.
  const capture = stdout === 'capture';
  const child = spawn(command!, args, {
    stdio: ['ignore', capture ? 'pipe' : stdout, capture ? 'pipe' : 'inherit', 'pipe'],
    detached: true,
  });
  const pipe = child.stdio[WATCH_FD] as Duplex;
  pipe.on('error', () => {}); // it is gone: `ended` says so
  return {
    ended: endOf(child, capture ? 'close' : 'exit'),
    ...(capture && { captured: { output: child.stdout!, errors: child.stderr! } }),
    channel: pipe,
    askToStop: () => pipe.write(STOP_REQUEST),
    // Containers do not end with it: it notices the closed pipe, and removes what it has made.
    kill: () => (leavesThings ? pipe.destroy() : child.kill('SIGKILL')),
  };
}

/** `close`: when all that it printed has arrived, too. */
function endOf(child: ChildProcess, event: 'exit' | 'close'): Promise<InnerEnd> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once(event, (code, signal) => resolve(signal ? { signal } : { code: code ?? 1 }));
  });
}

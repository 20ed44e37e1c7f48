/**
 * A process on a host of the `netns` runtime, as the kernel tells of it.
 *
 * One that is alone (`SpawnOptions.alone`) lives in a process namespace of its own, so three processes stand for it: `unshare`,
 * which is our child and ends as the namespace does; `init`, first of the namespace, a shell that waits for one command; and
 * the command itself, whose number inside is always the same. It is no init itself: the kernel ignores a SIGSTOP that the
 * first of a namespace sends itself, and clients stop themselves at a step. Signals go to the command and to nothing else; when it
 * ends so does init, and the kernel ends whatever it had started. `unshare` dying takes all of it along (`--kill-child`).
 */
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { HostProcess, ProcessExit } from '../vocabulary/host.js';
import type { Clock } from '../vocabulary/time.js';

const LOCATED_POLL_MS = 2;
/** A shell tells of a command that a signal ended by a status above this. */
const ENDED_BY_SIGNAL = 128;

/** In the foreground, because a shell starts others deaf to SIGINT; what it says itself of how the command ended is in its status. */
const INIT = 'exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit $?';

/** What to put before a command so that it is alone. */
export const ALONE: readonly string[] = [
  ...['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', '--'],
  ...['sh', '-c', INIT, 'init'],
];

export class NetnsProcess implements HostProcess {
  /** Ours, not that inside; -1 until it is known, or where it could not be started. */
  pid = -1;
  readonly exited: Promise<ProcessExit>;
  /** Resolves when `pid` is known, or the process has ended before it was. */
  private readonly located: Promise<void>;
  private ended = false;

  constructor(
    private readonly child: ChildProcess,
    /** Whether it was started with `ALONE`, and is not the child itself. */
    private readonly isAlone: boolean,
    clock: Clock,
  ) {
    this.exited = new Promise((resolve) => {
      const end = (exit: ProcessExit) => {
        this.ended = true;
        resolve(exit);
      };
      child.once('exit', (code, signal) => end(isAlone ? endOfCommand(code, signal) : { code, signal }));
      child.once('error', () => end({ code: 127, signal: null }));
    });
    this.located = this.locate(clock);
    // A write to a dead client's pipe is no news: its exit is.
    child.stdin?.on('error', () => {});
  }

  get stdin() {
    return this.child.stdin!;
  }

  get stdout() {
    return this.child.stdout!;
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.isAlone) this.child.kill(signal);
    else if (this.pid > 0) this.send(signal);
    // What does not arrive shows when the state is asked for.
    else void this.located.then(() => this.send(signal));
  }

  async state(): Promise<'running' | 'stopped' | 'dead'> {
    await this.located;
    if (this.ended || this.pid < 0) return 'dead';
    let stat: string;
    try {
      stat = readFileSync(`/proc/${this.pid}/stat`, 'utf8');
    } catch {
      return 'dead'; // no such process any more
    }
    // "pid (comm) S ...": comm may hold anything, so read after the last parenthesis.
    const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
    // The first thread of a killed process may be gone while others still have its sockets: who is started again at once
    // would find its port taken.
    if (state === 'Z' || state === 'X') return othersOf(this.pid) > 0 ? 'running' : 'dead';
    return state === 'T' || state === 't' ? 'stopped' : 'running';
  }

  private send(signal: NodeJS.Signals): void {
    if (this.ended || this.pid < 0) return;
    try {
      process.kill(this.pid, signal);
    } catch {
      // it ended meanwhile
    }
  }

  private async locate(clock: Clock): Promise<void> {
    const { pid } = this.child;
    if (pid === undefined) return;
    if (!this.isAlone) {
      this.pid = pid;
      return;
    }
    while (!this.ended) {
      const init = onlyChildOf(pid);
      const command = init === undefined ? undefined : onlyChildOf(init);
      if (command !== undefined) {
        this.pid = command;
        return;
      }
      await clock.sleep(LOCATED_POLL_MS);
    }
  }
}

function onlyChildOf(pid: number): number | undefined {
  let children: string;
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    return undefined; // gone
  }
  const [first] = children.trim().split(' ');
  return first ? Number(first) : undefined;
}

/** How the command ended, from how `unshare` did. */
function endOfCommand(code: number | null, signal: NodeJS.Signals | null): ProcessExit {
  if (code === null || code <= ENDED_BY_SIGNAL) return { code, signal };
  const name = Object.entries(constants.signals).find(([, number]) => number === code - ENDED_BY_SIGNAL)?.[0];
  return name === undefined ? { code, signal } : { code: null, signal: name as NodeJS.Signals };
}

/** How many threads a process has beside its first. */
function othersOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length - 1;
  } catch {
    return 0; // gone
  }
}

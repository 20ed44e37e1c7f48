/**
 * A server that is more than one process (PostgreSQL's postmaster and its backends): a signal that stops, continues or kills it
 * is for all of them, for a backend goes on when only its parent is stopped. Read from `/proc`, so by whoever sees their numbers.
 */
import { readFileSync } from 'node:fs';

type State = 'running' | 'stopped' | 'dead';

interface Parent {
  /** As this process counts. */
  readonly pid: number;
  signal(signal: NodeJS.Signals): void;
  state(): State | Promise<State>;
}

/** A process and its children. It is dead when all of them are. */
export class Family {
  private children: readonly number[] = [];

  constructor(private readonly parent: Parent) {}

  signal(signal: NodeJS.Signals): void {
    this.look();
    // The parent first, so that it starts no more of them; and continued last, or it takes the stopped for hung.
    if (signal !== 'SIGCONT') this.parent.signal(signal);
    this.look();
    for (const pid of this.children) send(pid, signal);
    if (signal === 'SIGCONT') this.parent.signal(signal);
  }

  async state(): Promise<State> {
    const own = await this.parent.state();
    this.look();
    const states = this.children.map(stateOf);
    if (own === 'dead') return states.some((state) => state !== 'dead') ? 'running' : 'dead';
    // One that is being forked just now is its parent's.
    return own === 'stopped' && states.every((state) => state !== 'running') ? 'stopped' : 'running';
  }

  /** One that is dead has no children any more: then those that it had last are its own. */
  private look(): void {
    const { pid } = this.parent;
    const now = childrenOf(pid);
    if (now && (now.length > 0 || stateOf(pid) !== 'dead')) this.children = now;
  }
}

/** Undefined where the parent is gone. */
function childrenOf(pid: number): number[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return undefined;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it ended meanwhile
  }
}

function stateOf(pid: number): State {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
    if (state === 'Z' || state === 'X') return 'dead';
    return state === 'T' || state === 't' ? 'stopped' : 'running';
  } catch {
    return 'dead';
  }
}

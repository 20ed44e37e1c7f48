/**
 * A server that is more than one process (PostgreSQL's postmaster and its backends): a signal that stops, continues or kills it
 * is for all of them, for a backend goes on when only its parent is stopped. Read from `/proc`, so for hosts of this machine.
 */
import { readFileSync } from 'node:fs';
import type { HostProcess } from '../vocabulary/host.js';

export function asFamily(parent: HostProcess): HostProcess {
  let last: number[] = [];
  const children = (): number[] => {
    const now = childrenOf(parent.pid);
    if (now) last = now;
    return last;
  };
  return {
    get pid() {
      return parent.pid;
    },
    get stdin() {
      return parent.stdin;
    },
    get stdout() {
      return parent.stdout;
    },
    exited: parent.exited,
    signal(signal) {
      // The parent first, so that it starts no more of them; and continued last, or it takes the stopped for hung.
      if (signal !== 'SIGCONT') parent.signal(signal);
      for (const pid of children()) send(pid, signal);
      if (signal === 'SIGCONT') parent.signal(signal);
    },
    async state() {
      const own = await parent.state();
      const states = children().map(stateOf);
      if (own === 'dead') return states.some((state) => state !== 'dead') ? 'running' : 'dead';
      // One that is being forked just now is its parent's.
      return own === 'stopped' && states.every((state) => state !== 'running') ? 'stopped' : 'running';
    },
  };
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

function stateOf(pid: number): 'running' | 'stopped' | 'dead' {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
    if (state === 'Z' || state === 'X') return 'dead';
    return state === 'T' || state === 't' ? 'stopped' : 'running';
  } catch {
    return 'dead';
  }
}

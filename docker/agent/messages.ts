/** What the harness asks of the agent of a host. Every call has an answer; a process or socket goes on under its id. */
import type { PowerCut } from '../../harness/vocabulary/host.js';

export type Call =
  /** Makes the host's folders and its clock file (`clock`: base64), and tells where we are. */
  | { do: 'prepare'; folder: string; log: string; clock: string }
  | { do: 'write'; path: string; mode: number; data: string }
  /** Writes over the beginning of a file without ever truncating it. */
  | { do: 'overwrite'; path: string; data: string }
  | { do: 'exec'; argv: readonly string[]; cwd: string; timeoutMs: number }
  | {
      do: 'spawn';
      argv: readonly string[];
      cwd: string;
      env: Record<string, string>;
      /** Standard output goes to the host's log, as standard error does. */
      logStdout: boolean;
      /** Its number in the container is the same in others. */
      alone: boolean;
      /** Signals are for its children too, and its state is theirs. */
      family: boolean;
    }
  | { do: 'signal'; process: number; signal: NodeJS.Signals }
  /** Read from the kernel. */
  | { do: 'state'; process: number }
  /** Answered by a `ReadPiece`, or null where there is no such file. */
  | { do: 'read'; path: string; piece?: { from: number; bytesMax: number } }
  | { do: 'list'; path: string }
  /** `path` is relative to the host's folder. */
  | { do: 'dial'; path: string }
  /** Of the host's folder, see `Host`. */
  | { do: 'disk-trouble'; folder: string; pid: number }
  | { do: 'lose-power'; folder: string; cut: PowerCut };

export type AgentReply = { value: unknown } | { error: string };

export interface Prepared {
  /** IPv4 address in the run's network. */
  address: string;
  /** Tells two kernels apart. */
  bootId: string;
  /** CLOCK_MONOTONIC, raw nanoseconds, as text: it may be longer than a double is exact. */
  monotonicNs: string;
}

/** A `FilePiece`, its data in base64. */
export interface ReadPiece {
  data: string;
  id: string;
  sizeBytes: number;
}

export interface Spawned {
  pid: number;
}

export type ProcessState = 'running' | 'stopped' | 'dead';

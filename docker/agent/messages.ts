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
    }
  | { do: 'signal'; process: number; signal: NodeJS.Signals }
  /** Read from the kernel. */
  | { do: 'state'; process: number }
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

export interface Spawned {
  pid: number;
}

export type ProcessState = 'running' | 'stopped' | 'dead';

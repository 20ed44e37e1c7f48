/** Places where commands run, and what makes them. */
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Clock } from './time.js';

export interface ExecResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process on a host. */
export interface HostProcess {
  /** As the machine counts, not as the process itself may; -1 until it is known. */
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly exited: Promise<ProcessExit>;
  signal(signal: NodeJS.Signals): void;
  /** Read from the kernel, not from memory: this is what proves a kill or a pause. */
  state(): Promise<'running' | 'stopped' | 'dead'>;
}

export interface SpawnOptions {
  env?: Record<string, string>;
  /** Working directory; the host's own folder unless given. */
  cwd?: string;
  /** Standard error goes to `logs/<host>.log` of the run; with this, standard output too. */
  logStdout?: boolean;
  /**
   * As the program of a container of its own: the number that it has for itself (`process.pid`) is that of its like on the
   * other hosts, and is not 1.
   */
  alone?: boolean;
}

/** A clock's distance from the machine's: offset now, and how much it gains each second (drift). */
export interface ClockSkew {
  offsetMs: number;
  /** Parts per million gained against the machine's clock; 0 for a jump. */
  ratePpm: number;
}

/**
 * A place with its own network identity and host name in which commands run. A Redis node, a Sentinel and a lock client are
 * processes on hosts; a fault is a command on a host.
 */
export interface Host {
  readonly name: string;
  /** IPv4 address in the run's private network. */
  readonly address: string;
  /** The host's own folder below the run's folder, created. */
  readonly folder: string;
  /** Runs a command to its end. `argv` is never given to a shell. Rejects only if it could not be started or timed out. */
  exec(argv: readonly string[], options?: { timeoutMs?: number; cwd?: string }): Promise<ExecResult>;
  /** Starts a long-running process, with the host's (possibly skewed) clock. */
  spawn(argv: readonly string[], options?: SpawnOptions): HostProcess;
  /** Writes a file below the host's folder and resolves with its path as processes of the host see it. */
  writeFile(name: string, data: string): Promise<string>;
  /** Opens a unix socket, named relative to the host's folder, through a channel that no fault cuts. */
  dial(socketPath: string): Promise<Duplex>;
  /** Sets the wall clock that processes of this host see. Rejects where `Runtime.unavailable.clock` is set. */
  setClock(skew: ClockSkew): Promise<void>;
  /**
   * Starts the program that shapes what this host sends over its device `near`, which the program makes (see
   * `harness/native/link-shaper.c`). Throws where `Runtime.unavailable.link` is set.
   */
  startLinkShaper(near: string, seed: number): HostProcess;
}

/** What a fault may need of a runtime. */
export type Capability = 'clock' | 'link' | 'network' | 'process';

/** Makes hosts; disposing it ends every process and removes every host. */
export interface Runtime extends AsyncDisposable {
  readonly name: string;
  readonly clock: Clock;
  /** Capabilities that are not available here, each with the reason and the remedy. */
  readonly unavailable: Partial<Record<Capability, string>>;
  /** An address of the private network that no host has: for a virtual IP. */
  readonly spareAddress: string;
  createHosts(names: readonly string[]): Promise<Host[]>;
}

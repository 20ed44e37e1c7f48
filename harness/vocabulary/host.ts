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

/** A stop in the midst of what a process does, that was asked for. */
export interface StopWithin {
  /** Resolves at the moment at which it is stopped; with false: it ended before, or nobody asks for it any more. */
  readonly stopped: Promise<boolean>;
  /** Resolves when it goes on, or has ended. */
  readonly over: Promise<void>;
  /** It is not to be stopped any more; one that is stopped goes on in its time. */
  cancel(): void;
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
  /**
   * Stops it for so long right before it reads a clock, sends or sets a timer for the nth time from now on, be it in the midst of
   * its code. Absent where nobody can (`Runtime.unavailable.turns`).
   */
  stopWithin?(nth: number, forMs: number): StopWithin;
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
  /** What it syncs to its host's folder is recorded, where the run needs that, so that the host can lose power. */
  disk?: boolean;
  /** It is more than one process (PostgreSQL's postmaster and its backends): signals are for all of them, and its state is theirs. */
  family?: boolean;
}

/** A piece of a file. */
export interface FilePiece {
  data: Buffer;
  /** Another where the file is another, be it of the same name. */
  id: string;
  /** Of the whole file. */
  sizeBytes: number;
}

/** Reads what lies on a host. Paths are relative to the host's folder, or absolute. */
export interface HostFiles {
  /** Undefined where there is no such file. */
  readFile(path: string, piece?: { from: number; bytesMax: number }): Promise<FilePiece | undefined>;
  /** Names in a folder; none where there is no such folder. */
  listFolder(path: string): Promise<string[]>;
}

/** A clock's distance from the machine's: offset now, and how much it gains each second (drift). */
export interface ClockSkew {
  offsetMs: number;
  /** Parts per million gained against the machine's clock; 0 for a jump. */
  ratePpm: number;
}

/** What becomes of what was written and not synced when a host loses power. */
export interface PowerCut {
  /**
   * `exact`: all of it is gone. `torn`: each file keeps some of it. `zeros`: files have their sizes already, and some of the
   * pages are zeros.
   */
  mode: 'exact' | 'torn' | 'zeros';
  /** Decides what is kept where that is a matter of chance. */
  seed: number;
}

/** A file after a power cut. */
export interface FileAfterPowerCut {
  /** Below the host's folder. */
  name: string;
  /** The size of what had this name. */
  writtenBytes: number;
  /** How much of what has this name now had been synced, and how much of it is there. */
  durableBytes: number;
  leftBytes: number;
  /** Of `zeros`: how much of what is there is zeros. */
  zeroedBytes?: number;
  /** Its name was not durable: `gone`, or the older file that had it before is `back`. */
  became?: 'gone' | 'back';
}

/**
 * A place with its own network identity and host name in which commands run. A Redis node, a Sentinel and a lock client are
 * processes on hosts; a fault is a command on a host.
 */
export interface Host extends HostFiles {
  readonly name: string;
  /** IPv4 address in the run's private network. */
  readonly address: string;
  /** The host's own folder below the run's folder, created. */
  readonly folder: string;
  /** argv before a command that refuses to be root: with it, it is nobody, who may write to the host's folder and owns what it writes. */
  readonly asNobody: readonly string[];
  /** Runs a command to its end. `argv` is never given to a shell. Rejects only if it could not be started or timed out. */
  exec(argv: readonly string[], options?: { timeoutMs?: number; cwd?: string }): Promise<ExecResult>;
  /** Starts a long-running process, with the host's (possibly skewed) clock. */
  spawn(argv: readonly string[], options?: SpawnOptions): HostProcess;
  /** Writes a file below the host's folder and resolves with its path as processes of the host see it. `mode`: 0o644 unless given. */
  writeFile(name: string, data: string, mode?: number): Promise<string>;
  /** Opens a unix socket, named relative to the host's folder, through a channel that no fault cuts. */
  dial(socketPath: string): Promise<Duplex>;
  /** Sets the wall clock that processes of this host see. Rejects where `Runtime.unavailable.clock` is set. */
  setClock(skew: ClockSkew): Promise<void>;
  /**
   * Starts the program that shapes what this host sends over its device `near`, which the program makes (see
   * `harness/native/link-shaper.c`). Rejects where `Runtime.unavailable.link` is set.
   */
  startLinkShaper(near: string, seed: number): Promise<HostProcess>;
  /** Why nothing is known of what process `pid` has synced, in words; undefined if it is. */
  diskTrouble(pid: number): Promise<string | undefined>;
  /**
   * Makes the host's folder what it is after a power cut; resolves with the files of the processes that were started with
   * `disk`. They must have been killed: rejects if one lives on.
   */
  losePower(cut: PowerCut): Promise<FileAfterPowerCut[]>;
  /** Of a runtime whose disks are its own; absent: the machine's. */
  readonly ownDisk?: OwnDisk;
}

/** A disk that does at once what it is told to. */
export interface OwnDisk {
  /** How long a sync takes; 0: no time. */
  readonly syncMs: number;
  /** How many there were since the run began: those that are over. */
  readonly syncs: number;
  /** Of each that begins from now on. */
  setSyncTime(syncMs: number): void;
}

/** What is asked of what a host sends to a peer; what is 0 is left as it is. */
export interface LinkShape {
  delayMs: number;
  /** The delay is drawn evenly from so much less to so much more; packets keep their order. */
  jitterMs: number;
  /** Parts per million. */
  lossPpm: number;
  duplicatePpm: number;
  reorderPpm: number;
  /** How much later packets come that others are to overtake. */
  gapMs: number;
  /** Kilobytes a second; 0: as fast as it goes. */
  rateKbps: number;
}

/** What a link that does something to messages did to them until now. */
export interface LinkCounts {
  messages: number;
  /** How often a packet of one was lost, and sent again. */
  lost: number;
  twice: number;
  overtaken: number;
}

/**
 * The network of a runtime whose links are its own, where there is no kernel to ask: what faults do to it, it does at once. Hosts
 * by their names; one direction each.
 */
export interface OwnNetwork {
  cut(from: string, to: string): void;
  /** What met the cut goes on its way then, as when TCP sends it again. */
  heal(from: string, to: string): void;
  isCut(from: string, to: string): boolean;
  /** What is sent from now on is carried so, as users of TCP notice it; undefined: as usual, and what waits for its turn goes at once. */
  shape(from: string, to: string, by: LinkShape | undefined): void;
  shapeOf(from: string, to: string): LinkShape | undefined;
  /** Since the run began. */
  countsOf(from: string, to: string): LinkCounts;
  /** The name of the host that has the address. */
  holderOf(address: string): string | undefined;
  /** Takes the address from whoever has it and gives it to that host, at once: never are there two, or none. */
  moveAddress(address: string, host: string): void;
  /**
   * The next so many answers from that port of the first host to the second are lost, each with its connection, of which both
   * ends hear that the other has given up; 0: no more. `numbers`: only those that are one, as that to DEL is.
   */
  loseReplies(from: string, to: string, port: number, count: number, which: 'any' | 'numbers'): void;
  /** How many are still to be lost, and the ports of the second host's ends of all connections that went with one. */
  lostReplies(from: string, to: string): { left: number; ports: readonly number[] };
  /** Tells both ends of a connection that the other has given up; `ownPort` is that of the first host. */
  reset(one: string, other: string, ownPort: number, otherPort: number): void;
  readonly precedence: OwnPrecedence;
  readonly moments: OwnMoments;
}

/** Who is heard first where several ask at about the same time. Hosts by their names. */
export interface OwnPrecedence {
  /** Whether there is an order. */
  readonly isSet: boolean;
  /**
   * What these hosts ask is heard in this order wherever several of them are about something: what one sends waits while another before
   * it is, but for no longer than `withinMs`. Undefined: as it comes.
   */
  set(hosts: readonly string[] | undefined, withinMs: number): void;
  /**
   * Holds the nth request from these hosts back, counted from now on; `goingOn`: of those that one sends as it hears an answer. It comes so much later, and where there is an order all that comes
   * by its connection is heard last from then on. `held` is called when it is held back, `over` when it comes. The result has it come
   * at once, if it is held, and asks for nothing more.
   */
  holdBack(
    nth: number,
    forMs: number,
    of: { hosts: readonly string[]; goingOn: boolean },
    tell: { held(request: HeldBack): void; over(): void },
  ): () => void;
}

/** When what clients ask comes to its server, and what becomes of it there. */
export interface OwnMoments {
  /**
   * Calls `come` once at the nth request of these, counted from now on: `before` it comes to its server, or `after` the server has
   * carried it out and before its client hears so. From then on the request, or the answer, waits, and what follows it on its way, until
   * the result is called. Called before, the result asks for nothing more.
   */
  wait(nth: number, of: RequestMoment, come: (request: HeldBack) => void): () => void;
}

export interface RequestMoment {
  side: 'before' | 'after';
  /**
   * All requests; those that a client sends as it hears an answer; or those that are answered otherwise than the one before on their
   * connection: which, nobody knows before they are answered.
   */
  event: 'request' | 'going-on' | 'change';
  /** Which requests count, asked when one has come to its server. */
  counts(request: HeldBack): boolean;
}

/** A request that is held back: by whom, and to whom. Names of hosts. */
export interface HeldBack {
  from: string;
  to: string;
}

/** What a fault may need of a runtime. */
export type RuntimeCapability = 'clock' | 'disk' | 'link' | 'network' | 'process' | 'sync-time' | 'turns';

/**
 * What a fault may need: of a runtime, or of a service: that it is Redis or Valkey (`redis`), which moves
 * slots by itself (`slots-at-once`), that somebody may replace its primary
 * (`roles`), that a server tells for how long it has a key (`holds`), that
 * answers can be read on their way to a client (`answers`).
 */
export type Capability = RuntimeCapability | 'redis' | 'slots-at-once' | 'roles' | 'holds' | 'answers';

/** Makes hosts; disposing it ends every process and removes every host. */
export interface Runtime extends AsyncDisposable {
  readonly name: string;
  readonly clock: Clock;
  /** Capabilities that are not available here, each with the reason and the remedy. */
  readonly unavailable: Partial<Record<Capability, string>>;
  /** An address of the private network that no host has: for a virtual IP. */
  readonly spareAddress: string;
  createHosts(names: readonly string[]): Promise<Host[]>;
  /** Time stands still while a server carries out a command: it looks at its clock and prints it at one instant. */
  readonly exactStamps?: true;
  /** Absent: the kernel's. */
  readonly ownNetwork?: OwnNetwork;
}

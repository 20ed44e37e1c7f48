/**
 * A run as data: what the clients did and saw, what the nemesis did, what the servers believed. It is long because whoever reads a
 * record wants the form of all its lines in one place.
 */
import type { FileAfterPowerCut, PowerCut } from './host.js';
import type { Deadlines, LeaseKind, LockMode, LockModel } from './protocol.js';
import type { Quorum, ServerRole, ServiceNews, Setting } from './topology.js';

/** `read` and `write` go to a resource that the lock protects, under a hold. */
export type OpName = 'acquire' | 'release' | 'extend' | 'clock' | 'read' | 'write';

/**
 * One line of `history.jsonl`. `i` is the line number from 0; `atNs` is when the harness sent, read or did it. The history never
 * changes once written, and is all that the verdict depends on together with `observations.jsonl`.
 */
export type HistoryEvent = { i: number; atNs: number } & HistoryBody;

export type HistoryBody =
  | { type: 'run'; version: 2; runId: string; seed: number; epochWallMs: number }
  /** What was really started, as the servers tell it. */
  | {
      type: 'deployment';
      topology: string;
      runtime: string;
      serverVersion: string;
      settings: Setting[];
      /** Absent where it is not known: in a record of version 1 whose configuration is not at hand. */
      quorum?: Quorum;
      /** The stamps of the servers' commands are the very instants at which they ran: time stood still meanwhile. */
      exactStamps?: boolean;
    }
  | { type: 'phase'; phase: Phase }
  /** A client process came up (after its handshake). `slot` names the place that it fills: c1, c1.2, c1.3 share slot c1. */
  | {
      type: 'client-up';
      client: string;
      slot: string;
      /** Of one of several callers in a process, which come and go with it: that process. Absent: the client is it. */
      process?: string;
      host: string;
      address: string;
      lock: string;
      features: string[];
      /** What the lock promises, where it said so. */
      model?: LockModel;
      /** What ends its holds by itself, where it said so. */
      lease?: LeaseKind;
      /** When its places and permits end, where it said so. */
      deadlines?: Deadlines;
      /** Under which names it keeps a key, where it said so: `{key}` stands for the key. */
      keys?: string[];
    }
  /**
   * A client is gone. `endNs` is the last instant at which it may still have acted (before the kill was sent, or when its death
   * was noticed if none was sent): its holds end there. `broke`: why nothing more of it was heard.
   */
  | { type: 'client-down'; client: string; endNs: number; reason: string; broke?: ProtocolBreak }
  | {
      type: 'invoke';
      client: string;
      id: number;
      op: OpName;
      key: string;
      hold?: number;
      leaseMs?: number;
      waitMs?: number;
      /** Of an acquire of a read-write lock: `read` shares. Absent: exclusive. Of a release only in histories recorded elsewhere. */
      mode?: LockMode;
      /** Of a write: what is to be stored. */
      value?: number;
    }
  | ({ type: 'ok' | 'fail' | 'info'; client: string; id: number; op: OpName; key: string; hold?: number } & Completion)
  | { type: 'renewed'; client: string; hold: number; key: string; sentNs: number; leaseMs: number }
  | { type: 'lost'; client: string; hold: number; key: string; clientNs: number; reason?: string }
  | { type: 'step'; client: string; name: string; clientNs: number; hold?: number }
  /** A fault's life: `strike` when it was done and read back, `refused`/`failed` when it was not, `heal` when undone. */
  | ({ type: 'fault' } & FaultRecord)
  /** Something about the machine or the harness that a verdict must know of. */
  | { type: 'disturbance'; disturbance: 'harness-stall' | 'wall-clock-step'; ms: number; beganNs: number }
  | { type: 'recovered'; afterMs: number; missing: string[] }
  /** The liveness probe's result for one key. `untried`: it was not asked for, because no client could be started. */
  | {
      type: 'probe';
      key: string;
      client: string;
      acquired: boolean;
      afterMs: number;
      reason?: string;
      untried?: boolean;
    }
  /** The record is closed. How many lines `observations.jsonl` has, so that one which is missing or cut is noticed. */
  | { type: 'closed'; observations: number };

export type Phase = 'warm-up' | 'torture' | 'heal' | 'recovery' | 'probe' | 'end';

export interface Completion {
  /** The client's own stamps; absent where the client does not stamp or never answered. */
  beganNs?: number;
  endedNs?: number;
  reason?: string;
  /** Of an acquire that its caller gave up: when the client was told. */
  cancelledNs?: number;
  /** Of an acquire. */
  token?: number;
  validForMs?: number;
  grantSentNs?: number;
  /** Of an extend: when the successful extension was sent. */
  sentNs?: number;
  /** Of a clock reading. */
  wallMs?: number;
  /** Of a read: what was stored. */
  value?: number;
  /** Of a read or write: how many writes the resource had taken by then, with this one: its own order. */
  version?: number;
}

export interface FaultRecord {
  /** Index of the step in the plan; -1: it was no step's doing (a mishap, or a client that stopped at a step of its lock). */
  step: number;
  /** Its name, for people: what it did is in `effects`. */
  fault: string;
  state: 'strike' | 'phase' | 'heal' | 'refused' | 'failed';
  /** Whom it resolved to: host names of nodes and Sentinels, client process names. */
  targets: string[];
  /** What was done, in words: "SIGKILL to r1", "cut r1 -x- r2, r3, s1". */
  did: string;
  /** What was read back to prove it, in words; `failed` says what was read instead. */
  proof?: string;
  /** When the nemesis began with what this record tells: it was done between then and the record's own time. */
  beganNs?: number;
  /** As it was read back. An effect lasts until it is reported again with its end (the same but for `untilNs`), or a heal. */
  effects: FaultEffect[];
  /** Of what was in no plan. */
  mishap?: Mishap;
  /** Of a strike at a step of a lock: why a command may have left before it. Of a heal: why it was not as it was asked for. */
  late?: string;
}

/** A client said what the protocol rules out, or what contradicts itself. */
export interface ProtocolBreak {
  /** What it said, in words. */
  what: string;
  /** The operation whose answer is lost by that: the client may have been granted what it asked for. */
  lost?: { id: number; op: OpName; key: string };
}

/**
 * What a fault did to hosts and processes. `who` are host names, or names of client processes where a process was struck.
 * `sinceNs` is when it was read back, absent: the record's own time. `untilNs` is when it was certainly still in force,
 * just before it was undone; absent while it is in force.
 */
export type FaultEffect = EffectKind & { sinceNs?: number; untilNs?: number };

export type EffectKind =
  /** SIGSTOP: the process runs nothing until it is continued. */
  | { kind: 'stopped'; who: string[] }
  /** Stopped for `stopMs` every `everyMs`: at any moment it may be either. */
  | { kind: 'slowed'; who: string[]; stopMs: number; everyMs: number }
  /** A sync of a file takes its server so long. */
  | { kind: 'syncs-slowly'; who: string[]; syncMs: number }
  /** SIGKILL: the process is dead. A server is started again when this is undone, a client is replaced by another process. */
  | { kind: 'killed'; who: string[] }
  /** The host lost power: what was left of the files that its server had written. A server that was down then had none to lose. */
  | { kind: 'lost-power'; who: string[]; mode: PowerCut['mode']; files: FileAfterPowerCut[] }
  /** The server lost its data, or whatever its persistence had not saved. */
  | { kind: 'forgot'; who: string[] }
  /** Whatever `from` sends to `to` is dropped. Directed: both ways are two pairs. */
  | { kind: 'cut'; pairs: [from: string, to: string][] }
  /** What `from` sends to `to` comes late, in part, twice, out of order or slowly. What is 0 is as it was. */
  | ({ kind: 'degraded'; pairs: [from: string, to: string][] } & Degradation)
  /**
   * What `from` sends to `to` is heard there after what comes from others at about the same time: it waits for them, for up to
   * `withinMs`. Of several senders, after those of the pairs before.
   */
  | { kind: 'heard-after'; pairs: [from: string, to: string][]; withinMs: number }
  /** Connections between these were reset at that moment: both ends were told that the other had given up. */
  | { kind: 'connections-reset'; pairs: [from: string, to: string][] }
  /** The host's network link is down: it neither sends nor receives. */
  | { kind: 'off-network'; who: string[] }
  /** The wall clock of the host jumped by `offsetMs`. */
  | { kind: 'clock-jumped'; who: string[]; offsetMs: number }
  /** The wall clock gains `ratePpm` parts per million; at `sinceNs` it had gained `gainedMs`. */
  | { kind: 'clock-drifts'; who: string[]; ratePpm: number; gainedMs: number }
  /** The wall clock jumps by `offsetMs` and back, again and again: at any moment it may be at either end. */
  | { kind: 'clock-strobes'; who: string[]; offsetMs: number }
  /** The server's memory is limited and filled, so that it evicts keys. */
  | { kind: 'short-of-memory'; who: string[] }
  /** The server evicted these keys of the run while they were held. */
  | { kind: 'evicted'; who: string[]; keys: string[] }
  /** The servers name another primary. `by` is absent where the record does not say which. */
  | { kind: 'replaced'; who: string[]; by?: string }
  /**
   * A slot of a Cluster is on its way from the first of these to the second: either may have keys of it. `atOnce`: the servers move it by
   * themselves, and send no client from the one to the other meanwhile.
   */
  | { kind: 'slot-moves'; who: string[]; slot: number; atOnce?: true };

/** How a link is degraded: each packet of one direction by itself. */
export interface Degradation {
  /** Drawn evenly between `delayMs - jitterMs` and `delayMs + jitterMs`; packets keep their order. */
  delayMs: number;
  jitterMs: number;
  /** Parts per million of the packets. */
  lossPpm: number;
  duplicatePpm: number;
  reorderPpm: number;
  /** Kilobytes a second. */
  rateKbps: number;
}

/** What befell a run without a plan: the record could not be written, a server ended by itself, something is not healed. */
export type Mishap = 'disk' | 'server' | 'unhealed';

/** Events of which a run has few, whatever its length; they are kept as they are. */
export type RareEvent = Extract<
  HistoryEvent,
  {
    type:
      | 'run'
      | 'deployment'
      | 'phase'
      | 'client-up'
      | 'client-down'
      | 'fault'
      | 'disturbance'
      | 'recovered'
      | 'probe'
      | 'closed';
  }
>;

/**
 * A run's history in memory. Operations and notices, of which a long run has millions, are kept in columns; `event` and `all`
 * make an event from them when it is asked for.
 */
export interface History {
  /** How many events there are: the lines of `history.jsonl`. */
  readonly length: number;
  /** The event on line `i`, from 0; undefined if there is no such line. */
  event(i: number): HistoryEvent | undefined;
  /** Every event in order, each made as it is reached. Prefer `rare` or the columns where they will do. */
  all(): Iterable<HistoryEvent>;
  /** All events but operations and notices, in order. */
  readonly rare: readonly RareEvent[];
  readonly operations: Operations;
  readonly notices: Notices;
  /** When the last event was recorded. */
  readonly endNs: number;
  /** True when the last line was torn (the harness was killed while writing); that line is left out. */
  readonly torn: boolean;
}

/**
 * Every operation, one row each, in the order of their invokes. A number that was not recorded is NaN, an index -1. Columns
 * may be longer than `count`. The codes of `op`, `outcome` and `mode` are in `harness/record/history-columns.ts`.
 */
export interface Operations {
  readonly count: number;
  /** Names, by what `client`, `key` and `reason` hold. */
  readonly clients: readonly string[];
  readonly keys: readonly string[];
  readonly reasons: readonly string[];
  readonly client: Int32Array;
  readonly key: Int32Array;
  readonly op: Uint8Array;
  readonly mode: Uint8Array;
  /** `none` where no outcome was recorded: the client never answered. */
  readonly outcome: Uint8Array;
  readonly reason: Int32Array;
  /** The row of the acquire whose hold it is about. */
  readonly hold: Int32Array;
  readonly invokeLine: Int32Array;
  readonly completionLine: Int32Array;
  /** The operation's id, which is its client's own. */
  readonly id: Float64Array;
  /** When the harness sent it, and read the answer. */
  readonly sentNs: Float64Array;
  readonly readNs: Float64Array;
  /** The client's own stamps. */
  readonly beganNs: Float64Array;
  readonly endedNs: Float64Array;
  /** `grantSentNs` of an acquire, `sentNs` of an extend. */
  readonly leaseFromNs: Float64Array;
  readonly leaseMs: Float64Array;
  readonly waitMs: Float64Array;
  readonly validForMs: Float64Array;
  readonly token: Float64Array;
  /** Of a write what it stores, of a read what it found, of a clock reading `wallMs`. */
  readonly value: Float64Array;
  readonly version: Float64Array;
  readonly cancelledNs: Float64Array;
}

/** Every notice (`renewed`, `lost`, `step`), one row each, in order; kept like `Operations`. */
export interface Notices {
  readonly count: number;
  /** Names of steps and reasons of losses, by what `text` holds. */
  readonly texts: readonly string[];
  readonly type: Uint8Array;
  readonly line: Int32Array;
  /** Index into the operations' `clients`. */
  readonly client: Int32Array;
  /** The row of the acquire that it is about. */
  readonly hold: Int32Array;
  readonly text: Int32Array;
  /** When the harness read it. */
  readonly atNs: Float64Array;
  /** The client's own stamp: when the renewal was sent, the loss noticed, the step reached. */
  readonly clientNs: Float64Array;
  readonly leaseMs: Float64Array;
}

/** One line of `observations.jsonl`: what a *server* believed. Only ever used to say why, never to accuse. */
export type Observation = { atNs: number; node: string } & ObservationBody;

export type ObservationBody =
  /**
   * A command on one of the run's keys, in the server's own order (MONITOR). `client` is the lock client process whose address
   * sent it (absent: a script's inner command, the replication link, or an unknown sender; see `source`). Commands on a whole
   * database are reported, too, and a script that names none of the keys but calls a command that does. `db`: if not the first.
   */
  | { type: 'command'; serverWallMs: number; source: string; client?: string; db?: number; argv: string[] }
  | {
      type: 'sample';
      role: 'primary' | 'replica' | 'unknown';
      /** Replication offset; and, on a replica, whether its link to the primary is up. */
      offset: number;
      linkUp?: boolean;
      /** A new run id means a restarted process. */
      runId: string;
      /** The server's wall clock minus the machine's, milliseconds. */
      skewMs: number;
      /** The server's own clock before it was asked for the keys, and after; absent in records of version 1. */
      wallMs?: [from: number, until: number];
      /** It had nothing at all in its first database; absent: it had, or was not asked. */
      isEmpty?: true;
      /** Each workload key that exists: what is stored (a string, or a hash as JSON) and its PTTL (-1: no expiry). */
      keys: Record<string, { owner: string; pttlMs: number; type?: 'string' | 'hash' | 'other' }>;
      /** Keys that it may have and does not show: their slot is coming to it, or has not gone yet. Absent: none. */
      unseen?: string[];
    }
  /**
   * Of a service that is not Redis: what it has stored under a key, in its own words (`ServiceNews`). `client`: the process
   * whose owner value it is.
   */
  | ({ type: 'stored'; client?: string } & ServiceNews)
  /** Of such a service: what the server takes itself for, told when it changes. */
  | ({ type: 'role' } & ServerRole)
  /** The server threw a key of the run away because its memory was full (a keyspace event). */
  | { type: 'evicted'; key: string }
  /** The observer's own channel: while it is down (dead or stopped server) commands may be missed. */
  | { type: 'watch'; watching: boolean; reason?: string };

export type CommandObservation = Extract<Observation, { type: 'command' }>;

export type RareObservation = Exclude<Observation, CommandObservation>;

/** All observations of a run. Commands, of which a long run has millions, are read when they are asked for. */
export interface Observations {
  /** How many there are: the lines of `observations.jsonl`. */
  readonly length: number;
  /** The observation on line `i`, from 0; undefined if there is no such line. */
  line(i: number): Observation | undefined;
  /** All but commands, each with its line, in order. */
  readonly rare: readonly (readonly [line: number, RareObservation])[];
  readonly commandCount: number;
  /** Commands read by the harness within the bounds (both included), each with its line, in order. */
  commands(fromNs: number, untilNs: number): Iterable<readonly [line: number, CommandObservation]>;
}

/**
 * Notes in a `CommandLog` when each command of an ioredis client was written to a socket and what became of it, whether
 * the client talks to one server or to a Cluster (which may send one command to several nodes in turn).
 *
 * It changes one thing that a lock can see: a command that never left the process, or of which all that was heard is
 * that nodes sent it elsewhere, is rejected with a `NeverSentError`, so that a lock can tell "certainly not done" from
 * "cannot tell".
 */
import type { Command } from 'ioredis';
import { type CommandLog, type CommandRecord, isReplyError, stateAfter } from './command-log.js';

/** Rejection of a command that never left this process, or reached no server that took it: certainly not executed. */
export class NeverSentError extends Error {
  override readonly name = 'NeverSentError';
}

export interface Stamping {
  log: CommandLog;
  nowNs(): number;
  /** Which server the commands go to, in the log. */
  node: string;
}

/** A Cluster node's answer that the command belongs elsewhere: it did not carry it out, and the client goes on there. */
export function isRedirection(error: Error): boolean {
  return isReplyError(error) && /^(MOVED|ASK) /.test(error.message);
}

export class CommandWatch {
  /** The promise tells a command from itself when a pipeline sends it again: then it has a new one. */
  readonly #watched = new WeakMap<Command, { record: CommandRecord; promise: Promise<unknown> }>();
  /** Unanswered commands by socket. Not a field of ours to clean: it goes with the socket. */
  readonly #unanswered = new WeakMap<object, Set<CommandRecord>>();

  constructor(readonly stamping: Stamping) {}

  /** From now on the command is in the log. `mayQueue`: its client keeps it while offline, and sends it later. */
  watch(command: Command, mayQueue: boolean): void {
    const known = this.#watched.get(command);
    // ioredis sends a command again through the same door when it leaves its offline queue.
    if (known && known.promise === command.promise) return;
    const record = known?.record ?? this.#newRecord(command, mayQueue);
    this.#watched.set(command, { record, promise: command.promise });
    const { reject } = command;
    command.reject = (error) => {
      const never = record.state === 'unsent' && !isReplyError(error);
      reject.call(command, never ? new NeverSentError(`not sent: ${error.message}`, { cause: error }) : error);
    };
  }

  #newRecord(command: Command, mayQueue: boolean): CommandRecord {
    const record: CommandRecord = {
      node: this.stamping.node,
      name: command.name.toUpperCase(),
      args: command.args.map(String),
      state: mayQueue ? 'queued' : 'unsent',
    };
    this.stamping.log.add(record);
    // ioredis calls toWritable at the moment it writes the command, and only then: exact even if it queued before.
    const { toWritable } = command;
    command.toWritable = (socket) => {
      const bytes = toWritable.call(command, socket);
      record.sentNs = this.stamping.nowNs();
      if (record.state !== 'cut-off') record.state = 'in-flight';
      this.#unansweredOn(socket).add(record);
      this.#hear(command, record, socket);
      return bytes;
    };
    return record;
  }

  /**
   * Takes a server's answer before a Cluster client does, which sends a redirected command on by itself: also one that
   * timed out long ago and is not waited for.
   */
  #hear(command: Command, record: CommandRecord, socket: object): void {
    const { resolve, reject } = command;
    const heard = (state: CommandRecord['state']) => {
      command.resolve = resolve;
      command.reject = reject;
      this.#unanswered.get(socket)?.delete(record);
      if (record.state === 'in-flight') record.state = state;
    };
    command.resolve = (result) => {
      heard('answered');
      resolve.call(command, result);
    };
    command.reject = (error) => {
      // Anything else (a time-out, a closed connection) is no answer: one may still come.
      if (isReplyError(error)) {
        heard(isRedirection(error) ? 'unsent' : stateAfter(error));
        if (isRedirection(error)) record.sentNs = undefined;
        if (command.isSettled) return;
      }
      reject.call(command, error);
    };
  }

  #unansweredOn(socket: object): Set<CommandRecord> {
    const known = this.#unanswered.get(socket);
    if (known) return known;
    const unanswered = new Set<CommandRecord>();
    this.#unanswered.set(socket, unanswered);
    // Runs in the same event as ioredis's own handler, which rejects the commands, and so before any code of the lock
    // sees the rejection.
    (socket as NodeJS.EventEmitter).once('close', () => {
      for (const record of unanswered) record.state = 'cut-off';
      unanswered.clear();
    });
    return unanswered;
  }
}

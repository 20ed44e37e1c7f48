/**
 * The ioredis client that locks are given: an ordinary one that in addition notes in a `CommandLog` when each command
 * was written to its socket and what became of it. Duplicates of it (`redis.duplicate()`) do the same.
 *
 * It changes one thing that a lock can see: a command that never left the process is rejected with a `NeverSentError`,
 * so that a lock can tell "certainly not done" from "cannot tell".
 */
import { Command, Redis, type RedisOptions } from 'ioredis';
import type { CommandLog, CommandRecord } from './command-log.js';

/** Rejection of a command that never left this process: certainly not executed. */
export class NeverSentError extends Error {
  override readonly name = 'NeverSentError';
}

export interface Stamping {
  log: CommandLog;
  nowNs(): number;
  /** Which server the commands go to, in the log. */
  node: string;
}

type SendCommand = Redis['sendCommand'];

export class StampedRedis extends Redis {
  readonly #stamping: Stamping;
  readonly #records = new WeakMap<Command, CommandRecord>();
  /** Unanswered commands by socket. Not a field of ours to clean: it goes with the socket. */
  readonly #unanswered = new WeakMap<object, Set<CommandRecord>>();

  constructor(options: RedisOptions, stamping: Stamping) {
    super({ ...options, replyMapping: 'legacy' });
    this.#stamping = stamping;
  }

  override sendCommand(...[command, stream]: Parameters<SendCommand>): ReturnType<SendCommand> {
    // ioredis's own commands of a new connection are nobody's operation. It sends a command again through here when it
    // leaves its offline queue (a duplicate may have one), so that a known command must not be wrapped again.
    const ofHandshake = this.status === 'connect' && Command.checkFlag('HANDSHAKE_COMMANDS', command.name);
    if (!ofHandshake && !this.#records.has(command)) this.#watch(command);
    return super.sendCommand(command, stream);
  }

  override duplicate(override?: Partial<RedisOptions>): ReturnType<Redis['duplicate']> {
    return new StampedRedis({ ...this.options, ...override }, this.#stamping) as ReturnType<Redis['duplicate']>;
  }

  #watch(command: Command): void {
    const { log, nowNs, node } = this.#stamping;
    const record: CommandRecord = {
      node,
      name: command.name.toUpperCase(),
      args: command.args.map(String),
      state: this.options.enableOfflineQueue ? 'queued' : 'unsent',
    };
    this.#records.set(command, record);
    log.add(record);

    // ioredis calls toWritable at the moment it writes the command, and only then: exact even if it queued before.
    const { toWritable, resolve, reject } = command;
    let socketOf: object | undefined;
    command.toWritable = (socket) => {
      const bytes = toWritable.call(command, socket);
      record.sentNs = nowNs();
      if (record.state !== 'cut-off') record.state = 'in-flight';
      socketOf = socket;
      this.#unansweredOn(socket).add(record);
      return bytes;
    };
    const answered = () => {
      if (record.state === 'in-flight') record.state = 'answered';
      if (socketOf) this.#unanswered.get(socketOf)?.delete(record);
    };
    // Also called for an answer that comes after the command timed out, where the promise ignores it.
    command.resolve = (result) => {
      answered();
      resolve(result);
    };
    command.reject = (error) => {
      if (error.name === 'ReplyError') answered();
      reject(record.state === 'unsent' ? new NeverSentError(`not sent: ${error.message}`, { cause: error }) : error);
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

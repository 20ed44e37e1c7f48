/**
 * What became of every Redis command that an operation of the lock sent: the ground on which the client process says
 * `fail` (certain) or `info` (cannot tell), and where the lease of a grant begins.
 *
 * It knows nothing of Redis clients; `stamping.ts` fills it. It attributes a command to the operation in whose code it is made;
 * one that is made elsewhere (by a timer, in the code of an operation that is over) to every operation that runs just then.
 * With one operation at a time that is exact but for background renewals, and there it errs towards `info`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * - `unsent`: rejected inside this process, so no server saw it; or only nodes that sent it elsewhere (a Cluster's MOVED);
 * - `queued`: the same so far, but of a client with an offline queue (a lock may make one), which can still send it;
 * - `in-flight`: written to a socket, no answer yet (a command given up on after a time-out stays in flight);
 * - `refused`: the server answered that it cannot carry out such a command now (`CLUSTERDOWN`, `READONLY`, ...);
 * - `answered`: the server answered, be it with another error;
 * - `cut-off`: its connection closed before an answer came. It stays so even if somebody sends it again: the first copy
 *   may have been executed.
 */
export type CommandState = 'unsent' | 'queued' | 'in-flight' | 'refused' | 'answered' | 'cut-off';

export interface CommandRecord {
  /** Which server it went to. */
  readonly node: string;
  /** Upper case. */
  name: string;
  args: readonly string[];
  /** Raw nanoseconds of the last time that it left; undefined while it has not. */
  sentNs?: number;
  state: CommandState;
}

/**
 * Answers of a server that did nothing of the command, nor of a script: these are asked before the first write, and do
 * not change within a script.
 */
const REFUSALS = new Set(
  'MOVED ASK TRYAGAIN CLUSTERDOWN CROSSSLOT READONLY NOREPLICAS MASTERDOWN LOADING MISCONF OOM NOAUTH NOPERM'.split(
    ' ',
  ),
);

/** ioredis's error for an answer that is one. */
export interface ReplyError extends Error {
  name: 'ReplyError';
}

/** The server's answer was an error. Told by its name: a pipeline of ioredis makes copies that are no `Error`. */
export function isReplyError(error: unknown): error is ReplyError {
  return (error as Error | undefined)?.name === 'ReplyError';
}

/** `READONLY` of "READONLY You can't write against a read only replica." */
export function errorCode(error: Error): string {
  return error.message.split(' ', 1)[0]!;
}

/** What a command is after the server answered it with this error. */
export function stateAfter(error: Error): CommandState {
  return REFUSALS.has(errorCode(error)) ? 'refused' : 'answered';
}

/** The commands of one operation. */
export type OpCommands = readonly CommandRecord[];

/**
 * In whose code we are; one for all logs, each of which knows its own operations. Every storage that was ever used makes each promise
 * of the process a little dearer, and a hunt plays thousands of clients in one.
 */
const within = new AsyncLocalStorage<OpCommands>();

export class CommandLog {
  readonly #running = new Set<CommandRecord[]>();

  /** Calls the code of an operation that was begun. */
  within<T>(commands: OpCommands, call: () => T): T {
    return within.run(commands, call);
  }

  /** From now on commands count as this operation's, until `end`. */
  begin(): OpCommands {
    const commands: CommandRecord[] = [];
    this.#running.add(commands);
    return commands;
  }

  end(commands: OpCommands): void {
    this.#running.delete(commands as CommandRecord[]);
  }

  /** A command was made; whether it leaves shows in its state later. */
  add(record: CommandRecord): void {
    const own = within.getStore() as CommandRecord[] | undefined;
    if (own && this.#running.has(own)) own.push(record);
    else for (const commands of this.#running) commands.push(record);
  }
}

/** Commands were tried and not one of them left the process: whatever the operation wanted certainly did not happen. */
export function noneLeft(commands: OpCommands): boolean {
  return commands.length > 0 && commands.every((command) => command.state === 'unsent');
}

/** As above, or refused by the servers before they did anything: nothing that the operation wanted happened. */
export function noneDone(commands: OpCommands): boolean {
  return commands.length > 0 && commands.every(({ state }) => state === 'unsent' || state === 'refused');
}

/** A connection closed while a command of the operation was unanswered on it. */
export function spansReconnect(commands: OpCommands): boolean {
  return commands.some((command) => command.state === 'cut-off');
}

/** Cannot have granted anything: reads, and commands that name no lock. */
const GRANTS_NOTHING = new Set(
  (
    'GET MGET STRLEN GETRANGE EXISTS TYPE TTL PTTL EXPIRETIME PEXPIRETIME KEYS SCAN HGET HMGET HGETALL HEXISTS HLEN HKEYS ' +
    'HVALS LRANGE LINDEX LLEN LPOS SISMEMBER SMEMBERS SCARD ZSCORE ZRANGE ZRANGEBYSCORE ZRANK ZCARD ZCOUNT EVAL_RO ' +
    'EVALSHA_RO FCALL_RO WAIT WAITAOF SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE SCRIPT ' +
    'FUNCTION PING TIME INFO ROLE HELLO AUTH SELECT CLIENT CONFIG WATCH UNWATCH'
  ).split(' '),
);

/**
 * When the attempt that was granted left this process, as far as the commands show; undefined if none could grant.
 *
 * For each server the last write that names the key (exactly; else as part of an argument; else the last write at all),
 * because earlier ones were refused tries; over the servers the earliest of these. The earlier of two candidates is
 * the safe side: a lease that is counted from too early ends too early, so that an overlap may be called a stale
 * holder where exclusion was broken, but a lock that did not break exclusion is not accused of it. A lock that knows better
 * (it sends further writes for the key after the grant, or grants on a part of its servers) sets `grantSentNs`.
 */
export function grantSentNs(commands: OpCommands, key: string): number | undefined {
  const writes = commands.filter((command) => command.sentNs !== undefined && !GRANTS_NOTHING.has(command.name));
  const candidates =
    nonEmpty(writes.filter((command) => command.args.includes(key))) ??
    nonEmpty(writes.filter((command) => command.args.some((arg) => arg.includes(key)))) ??
    writes;
  const lastByNode = new Map<string, number>();
  for (const command of candidates) {
    lastByNode.set(command.node, Math.max(command.sentNs!, lastByNode.get(command.node) ?? 0));
  }
  return lastByNode.size === 0 ? undefined : Math.min(...lastByNode.values());
}

function nonEmpty<T>(items: T[]): T[] | undefined {
  return items.length > 0 ? items : undefined;
}

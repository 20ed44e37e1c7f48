/**
 * What the clients of node-redis that a lock is given do beside their work: their commands are in a `CommandLog`, none is sent again or
 * late, each is bounded in time, and a connection that is silent is given up.
 *
 * All that a lock sends goes through three methods of one class, on one server as in a Cluster. They are replaced once in a package; a
 * client whose options do not carry `GUARDED` is left alone, as those are that a lock makes itself.
 *
 * A command is written shortly after it is stamped. So its stamp errs to the safe side (see `grantSentNs`), and one that was not written
 * yet when its connection was lost counts as cut off, though it never left.
 */
import { after } from '../../runtimes/process-time.js';
import { type CommandRecord, errorCode, stateAfter } from '../command-log.js';
import { isRedirection, NeverSentError, type Stamping } from '../stamping.js';
import type { Batched, CommandPart, NodeRedisPackage, RawClient, SendTo } from './package.js';

/** The option by which a client is known. Those that a client makes of itself inherit it. */
export const GUARDED = Symbol('guarded');

export interface Guarding {
  /** What the server is told of who connects. */
  name: string;
  stamping: Stamping;
  commandTimeoutMs: number;
  /** A demoted primary is left, so that another can be found in its place. */
  leavesReadOnly?: true;
  /** At least so long between two connections, milliseconds: for clients whose library waits for nothing. */
  paceMs?: number;
  /** A connection was given up; a new one is not begun yet. */
  onGivenUp?: () => void;
  /** Called with every client when it connects for the first time. */
  onClient?: (client: RawClient) => void;
}

/** Of a Cluster's client itself, beside what the lock asked for: they neither grant nor put anything in doubt. */
const ITS_OWN = new Set(['CLUSTER', 'ASKING']);

/** What was certainly not written: node-redis takes it out of its queue, or never put it in. */
const NOT_WRITTEN = new Set(['ClientClosedError', 'ClientOfflineError', 'AbortError', 'TimeoutError']);

export function timedOut(): Error {
  return new Error('Command timed out');
}

const guarded = new WeakSet<object>();

/** Has every client of the package whose options carry `GUARDED` do what is said above. */
export function guardClients({ createClient }: Pick<NodeRedisPackage, 'createClient'>): void {
  let prototype: object = createClient({});
  while (!Object.hasOwn(prototype, 'sendCommand')) prototype = Object.getPrototypeOf(prototype) as object;
  if (guarded.has(prototype)) return;
  guarded.add(prototype);
  const methods = prototype as RawClient;
  const { connect, sendCommand, _executeMulti, _executePipeline } = methods;
  methods.connect = function (this: RawClient) {
    const paced = guardOf(this)?.pace();
    return paced ? paced.then(() => connect.call(this)) : connect.call(this);
  };
  methods.sendCommand = function (this: RawClient, args, options) {
    const send = () => sendCommand.call(this, args, options);
    return guardOf(this)?.follow([args], send) ?? send();
  };
  methods._executeMulti = function (this: RawClient, commands, ...rest) {
    const send = () => _executeMulti.call(this, commands, ...rest);
    return guardOf(this)?.follow(argsOf(commands), send) ?? send();
  };
  methods._executePipeline = function (this: RawClient, commands, ...rest) {
    const send = () => _executePipeline.call(this, commands, ...rest);
    return guardOf(this)?.follow(argsOf(commands), send) ?? send();
  };
}

function argsOf(commands: readonly Batched[]): (readonly CommandPart[])[] {
  return commands.map(({ args }) => args);
}

const guards = new WeakMap<RawClient, Guard>();
/** When a client that is paced may connect, by what its clients share. */
const connectsNs = new WeakMap<Guarding, number>();

/** `client` may be one that inherits from another, as `client.withCommandOptions()` gives. */
function guardOf(client: RawClient): Guard | undefined {
  const self = (client as { _self?: RawClient })._self ?? client;
  const known = guards.get(self);
  if (known) return known;
  const guarding = (self.options as { [GUARDED]?: Guarding } | undefined)?.[GUARDED];
  if (!guarding) return undefined;
  const guard = new Guard(self, guarding);
  guards.set(self, guard);
  guarding.onClient?.(self);
  return guard;
}

class Guard {
  /** When a server's last answer came. */
  #heardNs = Number.NEGATIVE_INFINITY;
  #stopWaiting = () => {};

  constructor(
    private readonly client: RawClient,
    private readonly guarding: Guarding,
  ) {
    const stop = () => this.#stopWaiting();
    // A server that is stopped takes a connection, and answers nothing of what begins it. Whoever uses the client hears the errors.
    client.on('connect', () => {
      stop();
      this.#stopWaiting = after(guarding.commandTimeoutMs, () => this.#giveUp());
    });
    for (const event of ['ready', 'error', 'end']) client.on(event, stop);
  }

  /** Undefined: it may connect at once. */
  pace(): Promise<void> | undefined {
    const { paceMs, stamping } = this.guarding;
    if (paceMs === undefined) return undefined;
    const nowNs = stamping.nowNs();
    const atNs = Math.max(nowNs, (connectsNs.get(this.guarding) ?? 0) + paceMs * 1e6);
    connectsNs.set(this.guarding, atNs);
    if (atNs === nowNs) return undefined;
    return new Promise((resolve) => void after((atNs - nowNs) / 1e6, resolve));
  }

  /** `send`: sends commands together, and resolves with their answers. */
  follow(commands: readonly (readonly CommandPart[])[], send: () => Promise<unknown>): Promise<unknown> {
    const { stamping, commandTimeoutMs } = this.guarding;
    const records = commands.map((args) => this.#newRecord(args));
    // Where there is a queue for what is asked while offline, transactions and pipelines go into it whatever the settings are.
    if (!this.client.isReady) return Promise.reject(new NeverSentError('not sent: the client is not connected'));
    const sentNs = stamping.nowNs();
    for (const record of records) Object.assign(record, { sentNs, state: 'in-flight' });
    return new Promise((resolve, reject) => {
      const inTime = after(commandTimeoutMs, () => {
        reject(timedOut());
        if (this.#heardNs < sentNs) this.#giveUp();
      });
      send().then(
        (value) => {
          inTime();
          this.#heard(records, 'answered');
          resolve(value);
        },
        (error: Error) => {
          inTime();
          reject(this.#failed(records, error));
        },
      );
    });
  }

  #newRecord([name, ...args]: readonly CommandPart[]): CommandRecord {
    const { node, log } = this.guarding.stamping;
    const record: CommandRecord = { node, name: String(name).toUpperCase(), args: args.map(String), state: 'unsent' };
    if (!ITS_OWN.has(record.name)) log.add(record);
    return record;
  }

  #heard(records: readonly CommandRecord[], state: CommandRecord['state']): void {
    this.#heardNs = this.guarding.stamping.nowNs();
    for (const record of records) record.state = state;
  }

  /** Notes what it means, and returns what the lock is to see. */
  #failed(records: readonly CommandRecord[], error: Error): Error {
    const kinds = kindsOf(error);
    if (kinds.has('ErrorReply')) {
      // As ioredis calls it, so that a lock can tell it by one name.
      error.name = 'ReplyError';
      return this.#refused(records, error);
    }
    if (kinds.has('WatchError')) this.#heard(records, 'answered');
    // Something that cannot be sent at all: the lock's mistake, and no server's.
    else if (error instanceof TypeError) for (const record of records) record.state = 'refused';
    else if ([...NOT_WRITTEN].some((kind) => kinds.has(kind))) {
      for (const record of records) Object.assign(record, { state: 'unsent', sentNs: undefined });
      return new NeverSentError(`not sent: ${error.message}`, { cause: error });
    } else for (const record of records) record.state = 'cut-off';
    return error;
  }

  #refused(records: readonly CommandRecord[], error: Error): Error {
    if (isRedirection(error)) {
      this.#heard(records, 'unsent');
      for (const record of records) record.sentNs = undefined;
      return error;
    }
    // Of several, others may have been carried out.
    this.#heard(records, records.length === 1 ? stateAfter(error) : 'answered');
    if (this.guarding.leavesReadOnly && errorCode(error) === 'READONLY') this.#giveUp();
    return error;
  }

  /** Leaves the connection and begins another, unless this client was to have one only. */
  #giveUp(): void {
    const { client } = this;
    if (!client.isOpen) return;
    const wasReady = client.isReady;
    client.destroy();
    this.guarding.onGivenUp?.();
    if (client.options.socket?.reconnectStrategy === false) return;
    const again = () => {
      if (!client.isOpen) client.connect().catch(() => {}); // 'error' tells
    };
    // One that is still connecting first has to notice that it was given up.
    if (wasReady) again();
    else after(0, again);
  }
}

/** The names of an error's class and of those that it extends. */
function kindsOf(error: Error): Set<string> {
  const kinds = new Set<string>();
  for (let one: unknown = error; one !== null && one !== undefined; one = Object.getPrototypeOf(one))
    kinds.add((one as object).constructor?.name ?? '');
  return kinds;
}

/** Puts into the log that a client of several servers was asked: what it sends to one of them is in the log beside that. */
export function noteAsked({ stamping: { log, node } }: Guarding): void {
  log.add({ node, name: '', args: [], state: 'unsent' });
}

/**
 * Has a client of several servers carry out one command of the lock: it may look for the right server as often as it likes, in the
 * time of one command in all, and what may have been done it does not send again. `onFailure`: with the client that failed; none, where no
 * server was found to be asked.
 */
export function carriedOutOnce(
  guarding: Guarding,
  sendTo: SendTo,
  carryOut: (sendTo: SendTo) => Promise<unknown>,
  onFailure: (error: Error, client?: RawClient) => void,
): Promise<unknown> {
  noteAsked(guarding);
  let mayBeDone: Error | true | undefined;
  let isOver = false;
  let wasTried = false;
  const once: SendTo = async (client, ...rest) => {
    if (isOver) throw new NeverSentError('not sent: given up before');
    if (mayBeDone) throw mayBeDone === true ? timedOut() : mayBeDone;
    wasTried = true;
    mayBeDone = true;
    try {
      return await sendTo(client, ...rest);
    } catch (thrown) {
      const error = thrown as Error;
      mayBeDone = error instanceof NeverSentError || isRedirection(error) ? undefined : error;
      onFailure(error, client);
      throw error;
    }
  };
  const ofWhatIs = (error: Error) =>
    mayBeDone || error instanceof NeverSentError
      ? error
      : new NeverSentError(`not sent: ${error.message}`, { cause: error });
  return new Promise((resolve, reject) => {
    const inTime = after(guarding.commandTimeoutMs, () => {
      isOver = true;
      reject(ofWhatIs(timedOut()));
    });
    carryOut(once)
      .finally(inTime)
      .then(resolve, (error: Error) => {
        if (!wasTried) onFailure(error);
        reject(ofWhatIs(error));
      });
  });
}

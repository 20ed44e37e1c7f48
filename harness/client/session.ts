/**
 * The client's side of the protocol (`docs/protocol.md`): takes requests, calls the lock, answers, passes on notices.
 *
 * It stamps as close to the lock's own code as it can. `ended` of an acquire is taken when the lock's promise resolves
 * and `began` of a release right before the lock is called, so that a process stopped in between shows as a long hold.
 * Reading lines, ending the process and reaching Redis are the caller's. It is long because all requests of a session share its holds
 * and its lock.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { asBug } from '../record/facts/bug.js';
import type { LockClient, LockDefinition, LockHold, TopologyAccess } from '../vocabulary/lock.js';
import type {
  AcquireValue,
  ClientOptions,
  ExtendValue,
  HandshakeValue,
  Notice,
  Request,
  Response,
} from '../vocabulary/protocol.js';
import type { Endpoint, TopologyDescription } from '../vocabulary/topology.js';
import { type CommandLog, grantSentNs, type OpCommands } from './command-log.js';
import { BadLockError } from './load-lock.js';
import { type CallOutcome, callOutcome, firstLine, type Settled } from './outcome.js';
import { elsewhereInWords, isServedHere, refusedHere } from './refused-elsewhere.js';
import type { ResourceConnection } from './resource-connection.js';
import { bugThrown, handshakeReason, notConnected, unknownHold, whatIsWrongWith } from './session-reasons.js';
import type { LockNotices } from './topology-access.js';

/** What a session needs of the process around it. */
export interface SessionPorts {
  nowNs(): number;
  wallMs(): number;
  /** Calls `then` after `ms` unless the result was called first. */
  after(ms: number, then: () => void): () => void;
  /** Stops this process until somebody continues it; where it is not one of the kernel's, resolves then. */
  stopHere(): void | Promise<void>;
  /** Resolves once the line is in the pipe. */
  write(line: Response | Notice): Promise<void>;
  log: CommandLog;
  loadLock(): Promise<LockDefinition>;
  /** Where in the author's sources it was thrown; undefined: that is not known. */
  thrownAt(thrown: unknown): string | undefined;
  /** Where a connection of this process was refused though no server of the run is there, if it was; absent: that is not watched. */
  refusedElsewhere?(): string | undefined;
  access(topology: TopologyDescription, options: ClientOptions, notices: LockNotices): TopologyAccess;
  /** A connection to what the lock protects. */
  resource(at: Endpoint, timeoutMs: number): ResourceConnection;
}

interface HeldLock {
  readonly id: number;
  readonly key: string;
  readonly hold: LockHold;
}

/** An operation that runs. */
interface Running {
  /** The acquire to which it belongs. */
  readonly holdId: number | undefined;
  /** The step at which it is to stop this process. */
  stopAt: string | undefined;
}

/** An acquire that its caller may give up. */
interface Cancellable {
  readonly gaveUp: AbortController;
  /** Resolves when the caller has been told long enough ago that nobody waits any more. */
  readonly overdue: Promise<void>;
  cancel(): void;
}

type Answer = CallOutcome<object | undefined> & { began?: number; ended?: number };

/** In whose code we are; one for all sessions, as in `command-log.ts`. */
const runsWithin = new AsyncLocalStorage<Running>();

/** A lock that goes on without the connection that was refused has answered by then. */
const ELSEWHERE_MS = 1_000;

export class Session {
  readonly #ports: SessionPorts;
  #connected: { client: LockClient; options: ClientOptions } | undefined;
  #resource: ResourceConnection | undefined;
  #initialised = false;
  /** A server of the topology is at this process's own host: a connection that is refused there says nothing. */
  #isServedHere = false;
  /** Some acquire returned: the lock reaches its servers. */
  #hasAnswered = false;
  readonly #held = new Map<number, HeldLock>();
  readonly #idOfHold = new WeakMap<LockHold, number>();
  /** Renewals of holds whose grant has not been answered yet: the harness does not know those. */
  readonly #early = new WeakMap<LockHold, { sentNs: number; leaseMs: number }[]>();
  /** Operations that run; a step belongs to the one whose code it is in, or to the only one. */
  readonly #running = new Set<Running>();
  readonly #acquiring = new Map<number, Cancellable>();

  constructor(ports: SessionPorts) {
    this.#ports = ports;
  }

  /** Carries out one request and answers it. Rejects only if the answer cannot be written. */
  async handle(request: Request): Promise<void> {
    let answer: Answer;
    try {
      answer = await this.#carryOut(request);
    } catch (error) {
      // Not the lock's doing (that is judged below), so nothing is known of what happened.
      answer = { type: 'info', reason: `client: ${firstLine(error)}` };
    }
    await this.#ports.write({ id: request.id, ...answer } as Response);
    if (request.op === 'acquire') this.#listen(request.id);
  }

  #carryOut(request: Request): Promise<Answer> | Answer {
    switch (request.op) {
      case 'init':
        return this.#init(request);
      case 'acquire':
        return this.#acquire(request);
      case 'extend':
        return this.#extend(request);
      case 'release':
        return this.#release(request);
      case 'cancel':
        return this.#cancel(request);
      case 'read':
      case 'write':
        return this.#access(request);
      case 'clock':
        return this.#clock();
      default:
        return { type: 'fail', reason: `unsupported: operation "${(request as { op?: unknown }).op}"` };
    }
  }

  async #init({ topology, options }: Extract<Request, { op: 'init' }>): Promise<Answer> {
    if (this.#initialised) return { type: 'fail', reason: 'init came twice' };
    this.#initialised = true;
    this.#isServedHere = isServedHere(topology);
    const { access, loadLock } = this.#ports;
    try {
      const lock = await loadLock();
      if (lock.topologies && !lock.topologies.includes(topology.kind)) {
        throw new BadLockError(
          `${lock.name} makes no sense on ${topology.kind}, only on ${lock.topologies.join(', ')}`,
        );
      }
      const notices = { step: (name: string) => this.#step(name), renewed: this.#renewed.bind(this) };
      const client = await this.#unlessElsewhere(lock.connect(access(topology, options, notices)));
      if (typeof client?.acquire !== 'function') {
        throw new BadLockError(`${lock.name}: connect() returned no object with a function \`acquire\``);
      }
      this.#connected = { client, options };
      if (options.resource) this.#resource = this.#ports.resource(options.resource, options.commandTimeoutMs);
      const features = [...new Set([...(lock.features ?? []), 'clock', 'resource', 'stop-at', 'callers', 'cancel'])];
      const value: HandshakeValue = { lock: lock.name, features };
      if (lock.topologies) value.topologies = [...lock.topologies];
      if (lock.model) value.model = lock.model;
      if (lock.lease) value.lease = lock.lease;
      if (lock.deadlines) value.deadlines = lock.deadlines;
      if (lock.keys) value.keys = [...lock.keys];
      return { type: 'ok', value };
    } catch (error) {
      const elsewhere = this.#connectsElsewhere(error);
      if (elsewhere !== undefined)
        return { type: 'fail', reason: handshakeReason(new BadLockError(elsewhere), undefined) };
      return { type: 'fail', reason: handshakeReason(error, this.#ports.thrownAt(error)) };
    }
  }

  /** What to say of a connection that was refused where no server of the run is; undefined: that was not it, or some acquire returned. */
  #connectsElsewhere(threw: unknown): string | undefined {
    const place = this.#isServedHere || this.#hasAnswered ? undefined : refusedHere(threw);
    return place === undefined ? undefined : elsewhereInWords(place);
  }

  async #acquire(request: Extract<Request, { op: 'acquire' }>): Promise<Answer> {
    if (!this.#connected) return notConnected;
    const { id, key, leaseMs, waitMs, mode, stopAt, caller } = request;
    const { client, options } = this.#connected;
    const trying = this.#cancellable(options.commandTimeoutMs);
    this.#acquiring.set(id, trying);
    const { gaveUp } = trying;
    // Twice the bound of a command: the try that runs when the wait is over, and its undoing.
    const inTime = this.#ports.after(waitMs + 2 * options.commandTimeoutMs, () => gaveUp.abort());
    const asked = { leaseMs, waitMs, ...(mode && { mode }), ...(caller !== undefined && { caller }) };
    const call = () => {
      const granted = client.acquire(key, { ...asked, signal: gaveUp.signal });
      const first = this.#hasAnswered ? granted : this.#unlessElsewhere(granted);
      // What a lock grants that was given up goes to nobody, as it does where its caller waits for something else by then.
      return Promise.race([first, trying.overdue.then(() => Promise.reject(new Error('cancelled')))]);
    };
    const { settled, commands, began, ended } = await this.#run(id, call, stopAt);
    inTime();
    this.#acquiring.delete(id);
    const outcome = callOutcome<LockHold | null, LockHold>(settled, commands, (hold) =>
      hold === null ? 'held' : undefined,
    );
    this.#hasAnswered ||= 'returned' in settled;
    if (outcome.type !== 'ok') return { ...outcome, began, ended };

    const hold = outcome.value;
    const wrong = whatIsWrongWith(hold);
    if (wrong) return { type: 'info', reason: asBug(`acquire ${wrong}`), began, ended };
    this.#held.set(id, { id, key, hold });
    const value: AcquireValue = {};
    if (hold.token !== undefined) value.token = hold.token;
    if (hold.validForMs !== undefined) value.validForMs = hold.validForMs;
    const grantSent = hold.grantSentNs ?? grantSentNs(commands, key);
    if (grantSent !== undefined) value.grantSent = grantSent;
    return { type: 'ok', value, began, ended };
  }

  async #extend({ hold: holdId, leaseMs, stopAt }: Extract<Request, { op: 'extend' }>): Promise<Answer> {
    const held = this.#held.get(holdId);
    if (!held) return unknownHold(holdId);
    const { hold, key } = held;
    if (!hold.extend) return { type: 'fail', reason: 'unsupported: this hold has no extend()' };
    const call = () => hold.extend!(leaseMs);
    const { settled, commands, began, ended } = await this.#run(holdId, call, stopAt);
    type Extended = { validForMs?: number };
    const outcome = callOutcome<Extended | null, Extended>(settled, commands, (r) =>
      r === null ? 'not-owner' : undefined,
    );
    if (outcome.type !== 'ok') return { ...outcome, began, ended };
    const value: ExtendValue = {};
    // A lock may well return nothing to say "extended".
    if (outcome.value?.validForMs !== undefined) value.validForMs = outcome.value.validForMs;
    const sent = grantSentNs(commands, key);
    if (sent !== undefined) value.sent = sent;
    return { type: 'ok', value, began, ended };
  }

  async #release({ hold: holdId, stopAt }: Extract<Request, { op: 'release' }>): Promise<Answer> {
    const held = this.#held.get(holdId);
    if (!held) return unknownHold(holdId);
    const call = () => held.hold.release();
    const { settled, commands, began, ended } = await this.#run(holdId, call, stopAt);
    const outcome = callOutcome<void | boolean, void | true>(settled, commands, (r) =>
      r === false ? 'not-owner' : undefined,
    );
    const over = outcome.type === 'ok' || (outcome.type === 'fail' && outcome.reason === 'not-owner');
    if (over) this.#held.delete(holdId);
    return outcome.type === 'ok' ? { type: 'ok', value: undefined, began, ended } : { ...outcome, began, ended };
  }

  /** With stamps: they are the record that it ran. */
  #clock(): Answer {
    const began = this.#ports.nowNs();
    return { type: 'ok', value: { wallMs: this.#ports.wallMs() }, began, ended: this.#ports.nowNs() };
  }

  /** Whoever waited for that acquire waits no more. */
  #cancel({ acquire }: Extract<Request, { op: 'cancel' }>): Answer {
    const trying = this.#acquiring.get(acquire);
    if (!trying) return { type: 'fail', reason: `answered: acquire ${acquire} is not on its way` };
    trying.cancel();
    return { type: 'ok', value: undefined };
  }

  /** As `promise`, or rejects where that is not settled in a while and a connection was refused where no server of the run is. */
  #unlessElsewhere<T>(promise: Promise<T>): Promise<T> {
    const { after, refusedElsewhere } = this.#ports;
    if (!refusedElsewhere || this.#isServedHere) return promise;
    return new Promise((resolve, reject) => {
      const look = () => {
        const place = refusedElsewhere();
        if (place === undefined) cancel = after(ELSEWHERE_MS, look);
        else reject(new BadLockError(elsewhereInWords(place)));
      };
      let cancel = after(ELSEWHERE_MS, look);
      Promise.resolve(promise)
        .then(resolve, reject)
        .finally(() => cancel());
    });
  }

  #cancellable(commandTimeoutMs: number): Cancellable {
    const gaveUp = new AbortController();
    let told = () => {};
    const overdue = new Promise<void>((resolve) => {
      told = resolve;
    });
    return {
      gaveUp,
      overdue,
      cancel: () => {
        gaveUp.abort();
        // The command that runs, and the undoing of what it did.
        this.#ports.after(2 * commandTimeoutMs, told);
      },
    };
  }

  /** Reads or writes what the lock protects. The lock has no part in it but its fencing token. */
  async #access(request: Extract<Request, { op: 'read' | 'write' }>): Promise<Answer> {
    const held = this.#held.get(request.hold);
    if (!held) return unknownHold(request.hold);
    if (!this.#resource) return { type: 'fail', reason: 'unsupported: init named no resource' };
    const { nowNs } = this.#ports;
    const { key, hold } = held;
    const began = nowNs();
    const answer = await this.#resource.ask({
      op: request.op,
      key,
      ...('value' in request && { value: request.value }),
      ...(hold.token !== undefined && { token: hold.token }),
    });
    return { ...answer, began, ended: nowNs() };
  }

  /** Calls the lock's code with its commands logged and stamps taken right before and right after. */
  async #run<T>(
    holdId: number | undefined,
    call: () => Promise<T>,
    stopAt: string | undefined,
  ): Promise<{ settled: Settled<T>; commands: OpCommands; began: number; ended: number }> {
    const { log, nowNs } = this.#ports;
    const commands = log.begin();
    const running: Running = { holdId, stopAt };
    this.#running.add(running);
    let settled: Settled<T>;
    let ended: number;
    const began = nowNs();
    try {
      const returned = await runsWithin.run(running, () => log.within(commands, call));
      ended = nowNs();
      settled = { returned };
    } catch (threw) {
      ended = nowNs();
      settled = { threw, bug: bugThrown(threw, this.#ports.thrownAt) ?? this.#connectsElsewhere(threw) };
    } finally {
      log.end(commands);
      this.#running.delete(running);
    }
    return { settled, commands, began, ended };
  }

  /** From now on the hold's own news go out: after its grant was answered, so that the harness knows the hold. */
  #listen(id: number): void {
    const held = this.#held.get(id);
    if (!held) return;
    this.#idOfHold.set(held.hold, id);
    for (const { sentNs, leaseMs } of this.#early.get(held.hold) ?? [])
      this.#notify({ type: 'renewed', hold: id, at: sentNs, leaseMs });
    this.#early.delete(held.hold);
    const { lost } = held.hold;
    if (!lost) return;
    const tell = () => {
      const notice: Notice = { type: 'lost', hold: id, at: this.#ports.nowNs() };
      // An AbortController that is aborted without a reason gives a DOMException that says nothing.
      if (lost.reason !== undefined && lost.reason?.name !== 'AbortError') notice.reason = firstLine(lost.reason);
      this.#notify(notice);
    };
    if (lost.aborted) tell();
    // Also when it is released: a lock that calls that a loss says something false, and the harness is to hear it.
    lost.addEventListener('abort', tell, { once: true });
  }

  #renewed(hold: LockHold, sentNs: number, leaseMs: number): void {
    const id = this.#idOfHold.get(hold);
    // `#listen` sends those that came before the hold was answered.
    if (id === undefined) this.#early.set(hold, [...(this.#early.get(hold) ?? []), { sentNs, leaseMs }]);
    else this.#notify({ type: 'renewed', hold: id, at: sentNs, leaseMs });
  }

  async #step(name: string): Promise<void> {
    const notice: Notice = { type: 'step', name, at: this.#ports.nowNs() };
    const [only] = this.#running;
    const within = runsWithin.getStore();
    const inside = within && this.#running.has(within) ? within : this.#running.size === 1 ? only : undefined;
    if (inside?.holdId !== undefined) notice.hold = inside.holdId;
    await this.#ports.write(notice);
    if (inside === undefined || name !== inside.stopAt) return;
    // Once: it is not expected to stand there again when the lock comes by in its next try.
    inside.stopAt = undefined;
    await this.#ports.stopHere();
  }

  #notify(notice: Notice): void {
    void this.#ports.write(notice);
  }
}

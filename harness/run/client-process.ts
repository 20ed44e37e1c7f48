/**
 * One lock client process as the harness sees it: JSON lines over its standard input and output.
 *
 * Promises that every request ends in exactly one completion, whatever the program prints, ignores or dies of; and that
 * no line of it can grow the harness. It records nothing and decides nothing about holds: that is the scheduler's.
 */

import { type Conformed, conform } from '../record/schemas/conform.js';
import { shown } from '../record/schemas/foreign-text.js';
import {
  acquireValueSchema,
  clockValueSchema,
  extendValueSchema,
  helloSchema,
  NOTICE_TYPES,
  noticeSchema,
  PROTOCOL_VERSION,
  readValueSchema,
  responseSchema,
  startingSchema,
  writeValueSchema,
} from '../record/schemas/protocol.js';
import type { Completion, OpName } from '../vocabulary/history.js';
import type { Host, HostProcess, ProcessExit } from '../vocabulary/host.js';
import type { ClientOptions, HandshakeValue, Notice, Request, Response, Starting } from '../vocabulary/protocol.js';
import type { Clock } from '../vocabulary/time.js';
import type { TopologyDescription } from '../vocabulary/topology.js';

/** A line longer than this is garbage, and not worth the memory. */
export const LONGEST_LINE_BYTES = 64 * 1024;

/** Unasked lines a second that a client may print; its notices go into the history, which must not fill the disk. */
const LINES_A_SECOND = 1_000;
/** What a client may have saved up, so that a harness that stood still does not take what it missed for a flood. */
const LINES_SAVED = 5_000;

/** How much one client, or those that follow each other in one place, may still print. */
export class LineAllowance {
  private lines = LINES_SAVED;
  private atNs: number;

  constructor(private readonly clock: Clock) {
    this.atNs = clock.nowNs();
  }

  /** Takes one line off; false: that was more than anybody needs. */
  take(): boolean {
    if (this.lines < 1) this.refill();
    return --this.lines >= 0;
  }

  private refill(): void {
    const now = this.clock.nowNs();
    this.lines = Math.min(LINES_SAVED, Math.max(0, this.lines) + ((now - this.atNs) / 1e9) * LINES_A_SECOND);
    this.atNs = now;
  }
}

/** `unanswered`: the program did not say it; it is gone, late or not to be trusted. */
export type Reply = { type: 'ok' | 'fail' | 'info'; unanswered?: true } & Omit<Completion, 'value'> & {
    value?: unknown;
  };

/** The program did not shake hands as the protocol says; the message names what it said. */
export class HandshakeError extends Error {
  override name = 'HandshakeError';
  /** The host on which the program ended by itself; absent: it did not. */
  diedOn?: string;
}

export interface ClientProcessOptions {
  name: string;
  host: Host;
  argv: readonly string[];
  clock: Clock;
  /** Raw CLOCK_MONOTONIC nanoseconds of the run's epoch, subtracted from the client's stamps. */
  epochNs: number;
  allowance: LineAllowance;
  onNotice(notice: Notice): void;
  /** Garbage on standard output: the process is not to be trusted any more. */
  onGarbage(line: string): void;
  onExit(exit: ProcessExit): void;
}

export type RequestBody = Request extends infer R ? (R extends { id: number } ? Omit<R, 'id'> : never) : never;

const FIRST_REQUEST_ID = 1;
/** The longest that a program may ask for, to start. */
export const LONGEST_START_MS = 120_000;

export class ClientProcess {
  readonly name: string;
  readonly host: Host;
  readonly process: HostProcess;
  features: readonly string[] = [];
  gone = false;
  /** Of a process that ended by itself. */
  private ownStatus: number | undefined;
  private readonly pending = new Map<number, (reply: Reply) => void>();
  private nextId = FIRST_REQUEST_ID;
  private rest: Buffer = Buffer.alloc(0);
  private garbage: string | undefined;
  /** How long the program may take to answer `init`. */
  private startMs = 0;
  /** Hears that it takes longer; after the handshake that is no news. */
  private starting: (said: Starting) => void = () => {};

  constructor(private readonly options: ClientProcessOptions) {
    this.name = options.name;
    this.host = options.host;
    this.process = options.host.spawn(options.argv, { alone: true });
    this.process.stdout.on('data', (chunk: Buffer) => this.read(chunk));
    void this.process.exited.then((exit) => {
      this.gone = true;
      this.ownStatus = exit.code ?? undefined;
      this.abandon(`client exited (${exit.signal ?? exit.code})`);
      options.onExit(exit);
    });
  }

  /** `init`: tells the program where Redis is; resolves with what it says of itself, rejects with HandshakeError. */
  async shakeHands(topology: TopologyDescription, options: ClientOptions, timeoutMs: number): Promise<HandshakeValue> {
    const init = { op: 'init', protocol: PROTOCOL_VERSION, topology, options } as const;
    const reply = await this.onceStarted(this.exchange(0, init), timeoutMs);
    if (this.garbage !== undefined)
      throw new HandshakeError(`the lock client's first line is not protocol: ${this.garbage}`);
    if (!reply)
      throw new HandshakeError(
        `the lock client did not answer init within ${this.startMs} ms; if it takes long to start, let it say so first ({"type":"starting","withinMs":60000}), or give --starts-within 60s`,
      );
    if (reply.type !== 'ok' && this.ownStatus !== undefined) {
      const died = `your lock's program ended before it was ready, with exit status ${this.ownStatus}`;
      throw Object.assign(new HandshakeError(died), { diedOn: this.host.name });
    }
    if (reply.type !== 'ok') throw new HandshakeError(`the lock client could not start: ${reply.reason ?? reply.type}`);
    const { value: hello, problem } = conform(helloSchema, reply);
    if (problem !== undefined) {
      const said = shown(reply.value);
      throw new HandshakeError(`the lock client's answer to init is not as the protocol says (${problem}): ${said}`);
    }
    this.features = hello.value.features;
    return hello.value;
  }

  get brokeProtocol(): boolean {
    return this.garbage !== undefined;
  }

  /** The id that the next request will carry: an invoke is recorded under it before the line is sent. */
  reserveId(): number {
    return this.nextId++;
  }

  /** Sends a request; resolves with its completion (`info` when the process dies or babbles first). */
  exchange(id: number, body: RequestBody): Promise<Reply> {
    return new Promise((resolve) => {
      if (this.gone || this.garbage !== undefined)
        return resolve({ type: 'info', unanswered: true, reason: 'client is gone' });
      this.pending.set(id, resolve);
      this.process.stdin.write(`${JSON.stringify({ id, ...body })}\n`);
    });
  }

  /** Whether a request was sent whose answer has not been read yet. */
  awaits(id: number): boolean {
    return this.pending.has(id);
  }

  /** The program's own wall clock, or undefined where it cannot tell in time. */
  async wallMs(): Promise<number | undefined> {
    if (!this.features.includes('clock')) return undefined;
    const reply = await this.withTimeout(this.exchange(this.reserveId(), { op: 'clock' }), 2_000);
    return conform(clockValueSchema, reply?.value).value?.wallMs;
  }

  private async withTimeout(reply: Promise<Reply>, timeoutMs: number): Promise<Reply | undefined> {
    const done = new AbortController();
    const timeout = this.options.clock.sleep(timeoutMs, done.signal).then(() => undefined);
    try {
      return await Promise.race([reply, timeout]);
    } finally {
      done.abort();
    }
  }

  /** The answer to `init`: within that time, or within what the program asks for meanwhile. Undefined: it did not come. */
  private async onceStarted(reply: Promise<Reply>, timeoutMs: number): Promise<Reply | undefined> {
    const { clock } = this.options;
    const beganNs = clock.nowNs();
    const answered = new AbortController();
    void reply.then(() => answered.abort());
    this.startMs = timeoutMs;
    this.starting = ({ withinMs }) => {
      const untilMs = (clock.nowNs() - beganNs) / 1e6 + Math.min(withinMs, LONGEST_START_MS);
      this.startMs = Math.max(this.startMs, Math.ceil(untilMs));
    };
    try {
      for (;;) {
        const leftMs = this.startMs - (clock.nowNs() - beganNs) / 1e6;
        if (leftMs <= 0) return undefined;
        const done = await Promise.race([reply, clock.sleep(leftMs, answered.signal).then(() => undefined)]);
        if (done || answered.signal.aborted) return await reply;
      }
    } finally {
      this.starting = () => {};
    }
  }

  private read(chunk: Buffer): void {
    if (this.garbage !== undefined) return;
    let data = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10)) {
      this.line(data.subarray(0, end).toString('utf8'));
      if (this.garbage !== undefined) return;
      data = data.subarray(end + 1);
    }
    this.rest = data;
    if (data.length > LONGEST_LINE_BYTES) this.distrust(`a line of more than ${LONGEST_LINE_BYTES} bytes`);
  }

  private line(line: string): void {
    if (line.trim() === '') {
      this.unasked(line);
      return;
    }
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.distrust(shown(line));
      return;
    }
    // Not `conform`: of nearly every line it would put into words why it is no such notice.
    const { data: starting } = startingSchema.safeParse(message);
    if (starting) {
      if (this.unasked(line)) this.starting(starting);
      return;
    }
    if (!NOTICE_TYPES.includes((message as { type?: unknown } | null)?.type)) {
      this.completion(message, line);
      return;
    }
    const { value: notice, problem } = conform(noticeSchema, message);
    if (problem !== undefined) this.distrust(`${shown(line)} (${problem})`);
    else if (this.unasked(line)) this.options.onNotice(notice);
  }

  /** Whether it may still say something unsolicited; an answer is never too much, however fast the lock is. */
  private unasked(line: string): boolean {
    const may = this.options.allowance.take();
    if (!may) this.distrust(`more than ${LINES_A_SECOND} unasked lines a second, the last of them ${shown(line)}`);
    return may;
  }

  private completion(message: unknown, line: string): void {
    const { value: response, problem } = conform(responseSchema, message);
    if (problem !== undefined) {
      this.distrust(`${shown(line)} (${problem})`);
      return;
    }
    const resolve = this.pending.get(response.id);
    if (!resolve) {
      this.distrust(`${shown(line)} (no request ${response.id} waits for an answer)`);
      return;
    }
    this.pending.delete(response.id);
    resolve(replyOf(response, this.options.epochNs));
  }

  /** What the program said breaks the protocol: nothing more of it is heard. */
  distrust(line: string): void {
    this.garbage = line;
    this.rest = Buffer.alloc(0);
    this.abandon(`protocol: ${line}`);
    this.options.onGarbage(line);
  }

  private abandon(reason: string): void {
    for (const resolve of this.pending.values()) resolve({ type: 'info', unanswered: true, reason });
    this.pending.clear();
  }
}

/** Stamps as the history has them, counted from the run's epoch. */
function replyOf(response: Response, epochNs: number): Reply {
  const { type, began, ended } = response;
  return {
    type,
    ...(began !== undefined && { beganNs: began - epochNs }),
    ...(ended !== undefined && { endedNs: ended - epochNs }),
    ...(response.type === 'ok' ? { value: response.value } : { reason: shown(response.reason) }),
  };
}

/** What of an `ok`'s value belongs into the history, or what in it is not as the protocol says. */
export function valueFields(op: OpName, value: unknown, epochNs: number): Conformed<Completion> {
  const given = value ?? {};
  switch (op) {
    case 'acquire':
      return mapped(conform(acquireValueSchema, given), ({ grantSent, ...fields }) => ({
        ...fields,
        ...(grantSent !== undefined && { grantSentNs: grantSent - epochNs }),
      }));
    case 'extend':
      return mapped(conform(extendValueSchema, given), ({ sent, ...fields }) => ({
        ...fields,
        ...(sent !== undefined && { sentNs: sent - epochNs }),
      }));
    case 'read':
      return conform(readValueSchema, given);
    case 'write':
      return conform(writeValueSchema, given);
    case 'clock':
      return conform(clockValueSchema, given);
    default:
      return { value: {} };
  }
}

function mapped<From, To>(conformed: Conformed<From>, map: (value: From) => To): Conformed<To> {
  return conformed.problem === undefined ? { value: map(conformed.value as From) } : conformed;
}

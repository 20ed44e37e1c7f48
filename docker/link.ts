/**
 * The harness's end of the channel to one host's agent. When the channel breaks, the container is gone: every process
 * that ran there has ended, and every pending call is rejected with that. So it is when what comes on it is no frame, which a
 * program that is root in its container can see to: the container is ended.
 */
import { Duplex, PassThrough, type Readable, Writable } from 'node:stream';
import type { HostProcess, ProcessExit } from '../harness/vocabulary/host.js';
import { FrameError, FrameReader, frame, KIND, type Kind, objectIn } from './agent/frames.js';
import type { AgentReply, Call, ProcessState, Spawned } from './agent/messages.js';
import type { Container } from './engine.js';

/** Beyond what the call itself may take: only an engine that hangs takes so long. */
const ANSWER_TIMEOUT_MS = 15_000;
const COULD_NOT_START = 127;

type Heard = (kind: Kind, payload: Buffer) => void;

export class Link {
  private readonly heard = new Map<number, Heard>();
  private readonly waiting = new Map<number, (answer: AgentReply) => void>();
  private nextId = 1;
  private why: string | undefined;

  /** Starts a container whose main process is the agent; `onLog` gets what it and its processes complain of. */
  static async start(name: string, container: Container, onLog: (chunk: Buffer) => void): Promise<Link> {
    // Before it starts: what the agent says first must not be missed.
    const attached = (await container.attach({
      stream: true,
      hijack: true,
      stdin: true,
      stdout: true,
      stderr: true,
    })) as Duplex;
    const output = new PassThrough();
    const complaints = new PassThrough();
    container.modem.demuxStream(attached, output, complaints);
    for (const event of ['end', 'close', 'error'] as const) attached.on(event, () => output.end());
    complaints.on('data', onLog);
    const link = new Link(name, attached, output, onLog);
    await container.start();
    return link;
  }

  /** `output` is the agent's standard output alone; `onLog` gets what processes say on standard error. */
  constructor(
    private readonly name: string,
    private readonly input: Writable,
    output: Readable,
    private readonly onLog: (chunk: Buffer, process: number) => void,
  ) {
    const reader = new FrameReader((kind, id, payload) => this.hear(kind, id, payload));
    output.on('data', (chunk: Buffer) => this.listen(reader, chunk));
    input.on('error', () => this.broken('its channel broke'));
    for (const event of ['end', 'close'] as const) output.on(event, () => this.broken('it has ended'));
  }

  /** Whether its container has ended. */
  get isGone(): boolean {
    return this.why !== undefined;
  }

  /** Rejects with what the agent says went wrong, or when the container is gone. */
  call<T>(call: Call, timeoutMs = 0): Promise<T> {
    return this.callAs<T>(this.nextId++, call, timeoutMs);
  }

  spawn(call: Extract<Call, { do: 'spawn' }>): HostProcess {
    const id = this.nextId++;
    return new AgentProcess(this, id, call, (heard) => this.heard.set(id, heard));
  }

  async dial(path: string): Promise<Duplex> {
    const id = this.nextId++;
    const socket = new Duplex({
      read() {},
      write: (chunk, _encoding, done) => this.send(KIND.data, id, chunk, done),
      final: (done) => this.send(KIND.end, id, undefined, done),
      destroy: (error, done) => {
        if (this.heard.delete(id)) this.send(KIND.end, id);
        done(error);
      },
    });
    this.heard.set(id, (kind, payload) => {
      if (kind === KIND.data) socket.push(payload);
      if (kind !== KIND.end) return;
      this.heard.delete(id);
      socket.push(null);
      socket.end();
    });
    try {
      await this.callAs(id, { do: 'dial', path }, 0);
    } catch (error) {
      this.heard.delete(id);
      throw error;
    }
    return socket;
  }

  /** Ends the agent, and everything in its container. */
  close(): void {
    this.input.end();
  }

  callAs<T>(id: number, call: Call, timeoutMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const tooLong = setTimeout(
        () => settle({ error: 'its container does not answer' }),
        timeoutMs + ANSWER_TIMEOUT_MS,
      );
      const settle = (answer: AgentReply) => {
        clearTimeout(tooLong);
        this.waiting.delete(id);
        if ('error' in answer) reject(new Error(`on ${this.name}: ${words(call)}${answer.error}`));
        else resolve(answer.value as T);
      };
      if (this.why !== undefined) return settle({ error: this.why });
      this.waiting.set(id, settle);
      this.send(KIND.message, id, JSON.stringify(call));
    });
  }

  send(kind: Kind, id: number, payload?: Buffer | string, done: (error?: Error | null) => void = () => {}): void {
    // Nothing written to a socket whose peer has answered and gone is an error there, for which the answer is thrown away.
    const isNothing = kind === KIND.data && payload?.length === 0;
    if (this.why !== undefined || isNothing) done();
    else this.input.write(frame(kind, id, payload), (error) => done(error));
  }

  private listen(reader: FrameReader, chunk: Buffer): void {
    if (this.why !== undefined) return;
    try {
      reader.push(chunk);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.broken(`its agent sent ${error.message}`);
      this.close();
    }
  }

  private hear(kind: Kind, id: number, payload: Buffer): void {
    if (kind === KIND.message) this.waiting.get(id)?.(replyIn(payload));
    else if (kind === KIND.log) this.onLog(payload, id);
    else this.heard.get(id)?.(kind, payload);
    if (kind === KIND.exit) this.heard.delete(id);
  }

  private broken(why: string): void {
    if (this.why !== undefined) return;
    this.why = `its container is gone: ${why}`;
    for (const settle of [...this.waiting.values()]) settle({ error: this.why });
    for (const [id, heard] of [...this.heard]) {
      this.heard.delete(id);
      heard(KIND.exit, Buffer.from(JSON.stringify({ code: null, signal: 'SIGKILL' })));
      heard(KIND.end, Buffer.alloc(0));
    }
  }
}

function replyIn(payload: Buffer): AgentReply {
  const reply = objectIn(payload);
  if (!('value' in reply) && !('error' in reply)) throw new FrameError('a message that answers nothing');
  return reply as AgentReply;
}

function exitIn(payload: Buffer): ProcessExit {
  const { code, signal } = objectIn(payload) as Partial<ProcessExit>;
  const isExit = (code === null || typeof code === 'number') && (signal === null || typeof signal === 'string');
  if (!isExit) throw new FrameError('the end of a process without its status');
  return { code, signal };
}

function words(call: Call): string {
  if (call.do === 'exec') return `${call.argv.join(' ')}: `;
  return call.do === 'dial' ? `${call.path}: ` : '';
}

class AgentProcess implements HostProcess {
  /** -1 until the agent has told it, which is before anything that the process says. */
  pid = -1;
  readonly stdin: Writable;
  readonly stdout = new PassThrough();
  readonly exited: Promise<ProcessExit>;
  private ended = false;
  private readonly isFamily: boolean;

  constructor(
    private readonly link: Link,
    private readonly id: number,
    call: Extract<Call, { do: 'spawn' }>,
    listen: (heard: Heard) => void,
  ) {
    this.isFamily = call.family;
    this.stdin = new Writable({
      write: (chunk, _encoding, done) => link.send(KIND.data, id, chunk, done),
      final: (done) => link.send(KIND.end, id, undefined, done),
    });
    this.exited = new Promise((resolve) => {
      const end = (exit: ProcessExit) => {
        if (this.ended) return;
        this.ended = true;
        this.stdout.end();
        resolve(exit);
      };
      listen((kind, payload) => {
        if (kind === KIND.data) this.stdout.write(payload);
        if (kind === KIND.exit) end(exitIn(payload));
      });
      link.callAs<Spawned>(id, call, 0).then(
        ({ pid }) => {
          this.pid = pid;
        },
        () => end({ code: COULD_NOT_START, signal: null }),
      );
    });
  }

  signal(signal: NodeJS.Signals): void {
    // A signal that does not arrive shows when the state is asked for.
    this.link.call({ do: 'signal', process: this.id, signal }).catch(() => {});
  }

  async state(): Promise<ProcessState> {
    if (this.ended && !this.isFamily) return 'dead';
    try {
      return await this.link.call<ProcessState>({ do: 'state', process: this.id });
    } catch (error) {
      if (this.ended) return 'dead'; // its container went meanwhile
      throw error;
    }
  }
}

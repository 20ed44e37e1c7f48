/** One lock client process, driven line by line as the harness drives it. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { clientProgram } from '../../harness/client/program.js';
import type { ClientOptions, LockMode, Notice, Request, Response } from '../../harness/vocabulary/protocol.js';
import type { TopologyDescription } from '../../harness/vocabulary/topology.js';

export const projectFolder = resolve(fileURLToPath(import.meta.url), '../../..');
export const clientMain = resolve(projectFolder, 'dist/harness/client/main.js');

type Body = Request extends infer R ? (R extends { id: number } ? Omit<R, 'id'> : never) : never;

/** A response together with when this process sent the request and read the answer, raw monotonic nanoseconds. */
// biome-ignore lint/suspicious/noExplicitAny: what a client answers is what the tests are to find out
export type Answer = Response & { sent: number; read: number; value?: any; reason?: string };

export class LockClientProcess implements AsyncDisposable {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly notices: Notice[] = [];
  readonly order: string[] = [];
  /** Everything on standard output, line by line. */
  readonly lines: string[] = [];
  stderr = '';
  #nextId = 0;
  readonly #died: Promise<never>;
  readonly #waiting = new Map<number, (response: Response) => void>();
  readonly #waitingForNotice: (() => void)[] = [];

  constructor(argv: readonly string[]) {
    this.process = spawn(argv[0]!, argv.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] });
    this.process.stdin.on('error', () => {});
    this.#died = once(this.process, 'exit').then(() => {
      throw new Error(`the client died: ${this.stderr}`);
    });
    this.#died.catch(() => {});
    this.process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    let rest = '';
    this.process.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) this.#read(line);
    });
  }

  /** The id that the next request will have. */
  get nextId(): number {
    return this.#nextId;
  }

  async request(body: Body): Promise<Answer> {
    const id = this.#nextId++;
    const answered = new Promise<Response>((resolve) => this.#waiting.set(id, resolve));
    const sent = nowNs();
    this.process.stdin.write(`${JSON.stringify({ id, ...body })}\n`);
    const response = await Promise.race([answered, this.#died]);
    return { ...response, sent, read: nowNs() };
  }

  init(topology: TopologyDescription, options: Partial<ClientOptions> = {}): Promise<Answer> {
    const all = { client: 'c1', leaseMs: 5_000, commandTimeoutMs: 1_000, seed: 1, ...options };
    return this.request({ op: 'init', topology, options: all });
  }

  acquire(key: string, leaseMs = 5_000, waitMs = 0, mode?: LockMode): Promise<Answer> {
    return this.request({ op: 'acquire', key, leaseMs, waitMs, ...(mode && { mode }) });
  }

  release(hold: number): Promise<Answer> {
    return this.request({ op: 'release', hold });
  }

  extend(hold: number, leaseMs: number): Promise<Answer> {
    return this.request({ op: 'extend', hold, leaseMs });
  }

  /** The first notice of this type, now or later. */
  async notice<T extends Notice['type']>(type: T): Promise<Extract<Notice, { type: T }>> {
    for (;;) {
      const found = this.notices.find((notice) => notice.type === type);
      if (found) return found as Extract<Notice, { type: T }>;
      await new Promise<void>((resolve) => this.#waitingForNotice.push(resolve));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await exited;
  }

  #read(line: string): void {
    this.lines.push(line);
    const message = JSON.parse(line) as Response | Notice;
    if (!('id' in message)) {
      this.order.push(message.type);
      this.notices.push(message);
      for (const wake of this.#waitingForNotice.splice(0)) wake();
      return;
    }
    this.order.push(`${message.id}`);
    this.#waiting.get(message.id)?.(message);
  }
}

/** Starts a client with a compiled built-in lock (`set-nx-px`, `broken/blind-del`) or any module by absolute path. */
export function startClient(lock: string): LockClientProcess {
  const module = lock.startsWith('/') ? lock : resolve(projectFolder, 'dist/lock-impl', `${lock}.js`);
  return new LockClientProcess(clientProgram([process.execPath, clientMain, module]));
}

/** A client that has shaken hands. */
export async function connectedClient(
  lock: string,
  topology: TopologyDescription,
  options: Partial<ClientOptions> = {},
): Promise<LockClientProcess> {
  const client = startClient(lock);
  const hello = await client.init(topology, options);
  if (hello.type !== 'ok') throw new Error(`handshake: ${hello.reason}`);
  return client;
}

export function nowNs(): number {
  return Number(process.hrtime.bigint());
}

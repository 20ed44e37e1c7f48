/**
 * A lock client's connection to what the lock protects. Nothing is sent twice: what was sent and not answered is unknown.
 */
import { connect, type Socket } from 'node:net';
import type { Access, AccessAnswer } from '../resource/messages.js';
import { LineSplitter } from '../runtimes/lines.js';
import { after } from '../runtimes/process-time.js';
import type { AccessValue } from '../vocabulary/protocol.js';
import type { Endpoint } from '../vocabulary/topology.js';

export type AccessOutcome =
  | { type: 'ok'; value: AccessValue }
  | { type: 'fail'; reason: string }
  | { type: 'info'; reason: string };

const LAST_LOOK_MS = 20;

type Settle = (outcome: AccessOutcome) => void;

export class ResourceConnection {
  readonly #pending = new Map<number, Settle>();
  #socket: Socket | undefined;
  #nextId = 1;

  /** Connects with the first access, and again after a connection was lost. */
  constructor(
    private readonly at: Endpoint,
    private readonly timeoutMs: number,
  ) {}

  /** Never rejects: `fail` is certain, `info` is not. */
  async ask(access: Omit<Access, 'id'>): Promise<AccessOutcome> {
    let socket: Socket;
    try {
      socket = await this.#connected();
    } catch (error) {
      return { type: 'fail', reason: `unreachable: ${(error as Error).message}` };
    }
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const giveUp = () => settle({ type: 'info', reason: 'timeout: the resource did not answer' });
      // A process that was stopped meanwhile has its timers run before it reads the answer that has long been there.
      let cancel = after(this.timeoutMs, () => {
        cancel = after(LAST_LOOK_MS, giveUp);
      });
      const settle: Settle = (outcome) => {
        cancel();
        this.#pending.delete(id);
        resolve(outcome);
      };
      this.#pending.set(id, settle);
      socket.write(`${JSON.stringify({ id, ...access })}\n`);
    });
  }

  async #connected(): Promise<Socket> {
    if (this.#socket) return this.#socket;
    const socket = connect(this.at.port, this.at.host);
    socket.setNoDelay(true);
    socket.setEncoding('utf8');
    const lines = new LineSplitter();
    socket.on('data', (chunk: string) => {
      for (const line of lines.push(chunk)) this.#answered(JSON.parse(line) as AccessAnswer);
    });
    await new Promise<void>((resolve, reject) => {
      const cancel = after(this.timeoutMs, () => socket.destroy(new Error('the connection was not made in time')));
      socket.once('connect', () => {
        cancel();
        resolve();
      });
      socket.on('error', reject); // after that `close` says all that there is to say
      socket.on('close', () => {
        cancel();
        reject(new Error('closed'));
        this.#lost(socket);
      });
    });
    this.#socket = socket;
    return socket;
  }

  #lost(socket: Socket): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    for (const settle of [...this.#pending.values()])
      settle({ type: 'info', reason: 'the connection to the resource was lost' });
  }

  #answered(answer: AccessAnswer): void {
    const settle = this.#pending.get(answer.id);
    if ('refused' in answer) settle?.({ type: 'fail', reason: answer.refused });
    else settle?.({ type: 'ok', value: { value: answer.value, version: answer.version } });
  }
}

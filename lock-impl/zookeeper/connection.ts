/**
 * One connection to one ZooKeeper server, until it ends: it is never mended. A request that is not answered in time ends it, as
 * whatever came after it would be in doubt as well.
 */
import { createConnection, type Socket } from 'node:net';
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Endpoint } from '../../harness/vocabulary/topology.js';
import {
  connectFrame,
  EVENT,
  type Frame,
  FrameSplitter,
  framed,
  PING,
  ping,
  readEvent,
  readHead,
  readWelcome,
  requestFrame,
  type SessionIdentity,
  type Welcome,
  type ZooQuestion,
} from './protocol.js';

/** The server answered that it did not do it, and why (`NO_NODE`, ...): certainly not done. */
export class ZooError extends Error {
  override name = 'ZooError';
  constructor(
    readonly code: number,
    where: string,
  ) {
    super(`${where}: error ${code}`);
  }
}

/** The connection ended before the answer: `isSent` says whether it may have been done. */
export class ConnectionLossError extends Error {
  override name = 'ConnectionLossError';
  constructor(
    message: string,
    readonly isSent: boolean,
  ) {
    super(message);
  }
}

interface Waiting {
  number: number;
  answered(head: ReturnType<typeof readHead>): void;
  lost(error: Error): void;
}

/** What a connection tells of besides answers. */
export interface ConnectionNews {
  /** A watch on this path is over. */
  changed(path: string): void;
  /** Something was answered: the last change that the server had made by then. */
  seen(zxid: bigint): void;
}

export class ZooConnection {
  private readonly over = new AbortController();
  /** Aborts when it has ended. */
  readonly ended = this.over.signal;
  private readonly waiting: Waiting[] = [];
  private number = 0;

  private constructor(
    private readonly access: TopologyAccess,
    private readonly node: Endpoint,
    private readonly socket: Socket,
    private readonly heard: ConnectionNews,
  ) {}

  /**
   * Connects, for a session that is known or a new one; `welcome.timeoutMs` 0: the session is over. Rejects with a
   * ConnectionLossError.
   */
  static async open(
    access: TopologyAccess,
    node: Endpoint,
    asked: { session: SessionIdentity; timeoutMs: number; seenZxid: bigint },
    heard: ConnectionNews,
  ): Promise<{ connection: ZooConnection; welcome: Welcome }> {
    const socket = createConnection({ host: node.host, port: node.port, noDelay: true });
    const connection = new ZooConnection(access, node, socket, heard);
    const splitter = new FrameSplitter();
    const welcomed = new Promise<Welcome>((resolve, reject) => {
      connection.ended.addEventListener('abort', () =>
        reject(new ConnectionLossError(String(connection.ended.reason), true)),
      );
      let isWelcomed = false;
      socket.on('data', (chunk) => {
        for (const frame of splitter.push(chunk)) {
          if (isWelcomed) connection.read(frame);
          else resolve(readWelcome(frame));
          isWelcomed = true;
        }
      });
    });
    socket.on('error', (error) => connection.end(error.message));
    socket.on('close', () => connection.end('the connection ended'));
    socket.write(framed(connectFrame(asked.session, asked.timeoutMs, asked.seenZxid)));
    const welcome = await connection.inTime(welcomed);
    return { connection, welcome };
  }

  /** Rejects with a ZooError where it was certainly not carried out, with a ConnectionLossError where nobody knows. */
  ask<Answer>(question: ZooQuestion<Answer>): Promise<Answer> {
    const { name } = this.node;
    if (this.ended.aborted) return Promise.reject(new ConnectionLossError(String(this.ended.reason), false));
    const number = question.type === ping.type ? PING : ++this.number;
    const answer = new Promise<Answer>((resolve, reject) => {
      this.waiting.push({
        number,
        answered({ error, rest }) {
          if (error === 0) resolve(question.read(rest));
          else reject(new ZooError(error, name));
        },
        lost: reject,
      });
      this.socket.write(framed(requestFrame(number, question)));
    });
    return this.inTime(answer);
  }

  end(why: string): void {
    if (this.ended.aborted) return;
    this.over.abort(`${this.node.name}: ${why}`);
    this.socket.destroy();
    for (const { lost } of this.waiting.splice(0)) lost(new ConnectionLossError(String(this.ended.reason), true));
  }

  private read(frame: Frame): void {
    const head = readHead(frame);
    if (head.number === EVENT) {
      this.heard.changed(readEvent(head.rest));
      return;
    }
    if (head.zxid > 0n) this.heard.seen(head.zxid);
    // Answers come in the order of questions, but those to pings, which overtake.
    const at = this.waiting.findIndex(({ number }) => number === head.number);
    const [one] = at < 0 ? [] : this.waiting.splice(at, 1);
    if (one) one.answered(head);
    else this.end(`an answer to what nobody asked (${head.number})`);
  }

  /** Bounded by the time that a command has. */
  private async inTime<T>(answer: Promise<T>): Promise<T> {
    const { commandTimeoutMs } = this.access.options;
    const answered = new AbortController();
    const late = this.access.sleep(commandTimeoutMs, answered.signal).then(() => {
      if (!answered.signal.aborted) this.end(`no answer within ${commandTimeoutMs} ms`);
    });
    try {
      return await answer;
    } finally {
      answered.abort();
      await late;
    }
  }
}

/**
 * Questions to one server in MongoDB's wire protocol (OP_MSG), over a stream that is already open: the client library makes its
 * connections itself, and could not go through the channel that no fault cuts.
 */
import type { Duplex } from 'node:stream';
import type { BSON, Document } from 'mongodb';
import { loadOptional } from '../../runtimes/optional-package.js';

const OP_MSG = 2013;
const HEADER_BYTES = 16;
/** Flags, and the kind of the only section. */
const BODY_BYTES = HEADER_BYTES + 5;

/** The server answered that it did not do it; the connection is as good as before. */
export class MongoAnswerError extends Error {
  override name = 'MongoAnswerError';

  constructor(
    message: string,
    readonly code: number | undefined,
  ) {
    super(message);
  }
}

/** One connection at a time: a question that fails or takes too long ends it. */
export class MongoAdmin {
  private connection: Promise<Wire> | undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly open: () => Promise<Duplex>,
    private readonly timeoutMs: number,
  ) {}

  /** The answer to a command, one after the other. Rejects with a MongoAnswerError where the answer is an error. */
  ask(command: Document, database = 'admin'): Promise<Document> {
    const answer = this.last.then(() => this.askNow({ ...command, $db: database }));
    this.last = answer.catch(() => {});
    return answer;
  }

  close(): void {
    const { connection } = this;
    this.connection = undefined;
    connection?.then((wire) => wire.end()).catch(() => {});
  }

  private async askNow(command: Document): Promise<Document> {
    this.connection ??= this.connect();
    const connection = this.connection;
    try {
      const wire = await connection;
      return await wire.ask(command, this.timeoutMs);
    } catch (error) {
      if (!(error instanceof MongoAnswerError) && this.connection === connection) this.close();
      throw error;
    }
  }

  private async connect(): Promise<Wire> {
    const { BSON } = await loadOptional('mongodb', () => import('mongodb'));
    return new Wire(await this.open(), BSON);
  }
}

class Wire {
  private received = Buffer.alloc(0);
  private asked = 0;
  private waiting: { resolve(answer: Document): void; reject(error: Error): void } | undefined;
  private isOver: Error | undefined;

  constructor(
    private readonly stream: Duplex,
    private readonly bson: typeof BSON,
  ) {
    stream.on('data', (chunk: Buffer) => this.data(chunk));
    stream.on('error', (error) => this.over(error));
    stream.on('close', () => this.over(new Error('the connection ended')));
  }

  async ask(command: Document, timeoutMs: number): Promise<Document> {
    if (this.isOver) throw this.isOver;
    const late = AbortSignal.timeout(timeoutMs);
    const tooLate = () => this.over(new Error(`no answer within ${timeoutMs} ms`));
    late.addEventListener('abort', tooLate);
    try {
      const answer = await new Promise<Document>((resolve, reject) => {
        this.waiting = { resolve, reject };
        this.stream.write(messageOf(++this.asked, this.bson.serialize(command)));
      });
      if (answer.ok === 1) return answer;
      throw new MongoAnswerError(String(answer.errmsg ?? 'it answers with an error'), answer.code);
    } finally {
      late.removeEventListener('abort', tooLate);
      this.waiting = undefined;
    }
  }

  end(): void {
    this.stream.destroy();
  }

  private data(chunk: Buffer): void {
    this.received = Buffer.concat([this.received, chunk]);
    if (this.received.length < HEADER_BYTES) return;
    const length = this.received.readInt32LE(0);
    if (this.received.length < length) return;
    const message = this.received.subarray(0, length);
    this.received = this.received.subarray(length);
    const isAnswer = message.readInt32LE(8) === this.asked && message.readInt32LE(12) === OP_MSG;
    try {
      if (!isAnswer) throw new Error('it answers what was not asked');
      this.waiting?.resolve(this.bson.deserialize(message.subarray(BODY_BYTES)));
    } catch (error) {
      this.over(error as Error);
    }
  }

  private over(error: Error): void {
    this.isOver ??= error;
    this.stream.destroy();
    this.waiting?.reject(this.isOver);
  }
}

function messageOf(id: number, body: Uint8Array): Buffer {
  const head = Buffer.alloc(BODY_BYTES);
  head.writeInt32LE(BODY_BYTES + body.length, 0);
  head.writeInt32LE(id, 4);
  head.writeInt32LE(OP_MSG, 12);
  return Buffer.concat([head, body]);
}

/** Questions to one PostgreSQL server, one connection at a time: a question that fails or takes too long ends its connection. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Client, ClientConfig } from 'pg';
import { loadOptional } from '../optional-package.js';

export const USER = 'lock_torture';
export const DATABASE = 'postgres';

export type PgRow = Record<string, unknown>;

export class PgAdmin {
  private client: Promise<Client> | undefined;
  private last: Promise<unknown> = Promise.resolve();

  /** `through`: a stream that is open already, or where to connect to. */
  constructor(
    private readonly through: (() => Promise<Duplex>) | { host: string; port: number; password: string },
    private readonly timeoutMs: number,
  ) {}

  /** One after the other. */
  ask(sql: string, values: unknown[] = []): Promise<PgRow[]> {
    const answer = this.last.then(() => this.askNow(sql, values));
    this.last = answer.catch(() => {});
    return answer;
  }

  private async askNow(sql: string, values: unknown[]): Promise<PgRow[]> {
    this.client ??= this.connect();
    const client = this.client;
    try {
      return (await (await client).query(sql, values)).rows as PgRow[];
    } catch (error) {
      // Of an error that the server answered with the connection is as good as before.
      if (!(error instanceof Error && 'severity' in error) && this.client === client) this.close();
      throw error;
    }
  }

  close(): void {
    const { client } = this;
    this.client = undefined;
    client?.then((one) => one.end()).catch(() => {});
  }

  private async connect(): Promise<Client> {
    const { through, timeoutMs } = this;
    const config: ClientConfig = {
      user: USER,
      database: DATABASE,
      application_name: 'lock-torture',
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      ...(typeof through === 'function' ? { stream: opened(await through()) } : through),
    };
    const { default: pg } = await loadOptional('pg', () => import('pg'));
    const client = new pg.Client(config);
    // Told by the question that meets it.
    client.on('error', () => {});
    client.on('end', () => {
      this.client = undefined;
    });
    await client.connect();
    return client;
  }
}

/** `pg` connects by itself: this one is. */
function opened(stream: Duplex): () => Duplex {
  const connect = () => {
    queueMicrotask(() => stream.emit('connect'));
    return stream;
  };
  const alike = stream instanceof Socket ? {} : { setNoDelay: () => {}, setKeepAlive: () => {}, ref() {}, unref() {} };
  return () => Object.assign(stream, { connect, ...alike });
}

/** Questions to one PostgreSQL server. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ClientConfig } from 'pg';
import { loadOptional } from '../../runtimes/optional-package.js';
import { type AdminConnection, SqlAdmin, type SqlRow } from '../sql-admin.js';

export const USER = 'lock_torture';
export const DATABASE = 'postgres';

export class PgAdmin extends SqlAdmin {
  /** `through`: a stream that is open already, or where to connect to. */
  constructor(through: (() => Promise<Duplex>) | { host: string; port: number; password: string }, timeoutMs: number) {
    super(
      () => connect(through, timeoutMs),
      (error) => error instanceof Error && 'severity' in error,
    );
  }
}

async function connect(
  through: (() => Promise<Duplex>) | { host: string; port: number; password: string },
  timeoutMs: number,
): Promise<AdminConnection> {
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
  const ended = new Promise<void>((resolve) => client.on('end', () => resolve()));
  await client.connect();
  return {
    ended,
    query: async (sql, values) => (await client.query(sql, [...values])).rows as SqlRow[],
    end: () => void client.end().catch(() => {}),
  };
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

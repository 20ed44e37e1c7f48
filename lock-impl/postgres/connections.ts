/**
 * Connections to PostgreSQL as locks use them: each bounded in time, none used again after anything went wrong with it. What makes
 * an answer doubtful is told apart from what was certainly not done.
 */
import type { Client } from 'pg';
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Endpoint } from '../../harness/vocabulary/topology.js';
import { refused } from '../define-lock.js';

type PgRow = Record<string, unknown>;

export interface PgConnection {
  /** The rows; rejects with a refusal where it was certainly not carried out, with another error where it may have been. */
  query(sql: string, values?: readonly unknown[], timeoutMs?: number): Promise<PgRow[]>;
  /** Aborts when the connection has ended. */
  readonly ended: AbortSignal;
  end(): void;
}

/** The client library, an optional peer of this package. A lock loads it before it is ready, for that takes time. */
export async function loadPg() {
  const { default: pg } = await import('pg').catch(() => {
    throw new Error('the package pg is needed and not installed: npm install pg');
  });
  return pg;
}

/** Connects to `where`: to the primary unless given. Rejects with a refusal. */
export async function connect(access: TopologyAccess, where?: Endpoint): Promise<PgConnection> {
  const { description, options } = access;
  if (description.kind !== 'postgres') throw new Error(`this lock is for PostgreSQL, not for ${description.kind}`);
  const { host, port } = where ?? description.primary!;
  const pg = await loadPg();
  const client = new pg.Client({
    host,
    port,
    user: description.user!,
    password: description.password!,
    database: 'postgres',
    // By it a record of the servers tells whose a session is.
    application_name: options.client,
    // Of several round trips, and a process that the server starts.
    connectionTimeoutMillis: 2 * options.commandTimeoutMs,
    keepAlive: true,
  });
  const ended = new AbortController();
  const end = (why: string) => ended.abort(why);
  client.on('error', (error) => end(error.message));
  client.on('end', () => end('the connection ended'));
  try {
    await client.connect();
  } catch (error) {
    destroy(client);
    throw refused(sqlState(error) ?? 'unreachable');
  }
  let last: Promise<unknown> = Promise.resolve();
  const query = async (sql: string, values: readonly unknown[], timeoutMs: number) => {
    if (ended.signal.aborted) throw refused('unreachable');
    try {
      const config = { text: sql, values: [...values], query_timeout: timeoutMs };
      return (await client.query(config)).rows as PgRow[];
    } catch (error) {
      const state = sqlState(error);
      // An answer that says "not done"; class 57 is a server that is going, which may have committed.
      if (state !== undefined && !state.startsWith('57')) throw refused(state);
      end(String(error));
      destroy(client);
      throw error;
    }
  };
  return {
    ended: ended.signal,
    end() {
      end('we ended it');
      destroy(client);
    },
    // One after the other: a renewal in the background must not get between a question and its answer.
    query(sql, values = [], timeoutMs = options.commandTimeoutMs) {
      const answer = last.then(() => query(sql, values, timeoutMs));
      last = answer.catch(() => {});
      return answer;
    },
  };
}

/** Keeps one connection, and makes another when it has ended. */
export async function keptConnection(access: TopologyAccess): Promise<() => Promise<PgConnection>> {
  await loadPg();
  let kept: PgConnection | undefined;
  return async () => {
    if (!kept || kept.ended.aborted) kept = await connect(access);
    return kept;
  };
}

/** What the server answered with instead of doing it; undefined: it did not answer. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'severity' in error && 'code' in error ? String(error.code) : undefined;
}

/** At once, and not after a word with a server that may not hear. */
function destroy(client: Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}

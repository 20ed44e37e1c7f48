/** Connections to PostgreSQL as locks use them. */
import type { Client } from 'pg';
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Endpoint } from '../../harness/vocabulary/topology.js';
import { LockNotUsableError } from '../not-usable-here.js';
import { addressed, type SqlConnection, sqlConnection } from '../sql-connection.js';

type PgRow = Record<string, unknown>;
export type PgConnection = SqlConnection<PgRow[]>;

export const POSTGRES_TOPOLOGIES = ['postgres', 'postgres-sync', 'postgres-single'];

/** The client library, which the project has if it uses this service. A lock loads it before it is ready, for that takes time. */
export async function loadPg() {
  const { default: pg } = await import('pg').catch(() => {
    throw new LockNotUsableError('the package pg is needed and not installed: npm install pg');
  });
  return pg;
}

/** Connects to `where`: to the primary unless given. Rejects with a refusal. */
export async function connectPostgres(access: TopologyAccess, where?: Endpoint): Promise<PgConnection> {
  const { host, port, user, password } = addressed(access, 'postgres', 'PostgreSQL', where);
  const pg = await loadPg();
  const client = new pg.Client({
    host,
    port,
    user,
    password,
    database: 'postgres',
    // By it a record of the servers tells whose a session is.
    application_name: access.options.client,
    // Of several round trips, and a process that the server starts.
    connectionTimeoutMillis: 2 * access.options.commandTimeoutMs,
    keepAlive: true,
  });
  const open = async (end: (why: string) => void) => {
    client.on('error', (error) => end(error.message));
    client.on('end', () => end('the connection ended'));
    await client.connect().catch((error: unknown) => {
      destroy(client);
      throw error;
    });
    return {
      async query(text: string, values: readonly unknown[], timeoutMs: number) {
        const config = { text, values: [...values], query_timeout: timeoutMs };
        return (await client.query(config)).rows as PgRow[];
      },
      destroy: () => destroy(client),
    };
  };
  return sqlConnection(access, open, notDone);
}

/** An answer that says "not done"; class 57 is a server that is going, which may have committed. */
function notDone(error: unknown): string | undefined {
  const state = sqlState(error);
  return state?.startsWith('57') ? undefined : state;
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

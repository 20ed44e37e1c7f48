/** Connections to MariaDB as locks use them. */
import type { ResultSetHeader } from 'mysql2';
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Endpoint } from '../../harness/vocabulary/topology.js';
import { LockNotUsableError } from '../not-usable-here.js';
import { addressed, type SqlConnection, sqlConnection } from '../sql-connection.js';

/** Rows; of a statement that returns none, what it did. */
type Answer = { rows: Record<string, unknown>[]; changed: number };
export type MariaConnection = SqlConnection<Answer>;

export const MARIADB_TOPOLOGIES = ['mariadb', 'mariadb-semi-sync', 'mariadb-single'];

/** What a server that is going answers with: shutdown, killed; it may have committed. */
const GOING = new Set(['ER_SERVER_SHUTDOWN', 'ER_CONNECTION_KILLED', 'ER_QUERY_INTERRUPTED']);

/** The client library, which the project has if it uses this service. A lock loads it before it is ready, for that takes time. */
export async function loadMysql() {
  const { default: mysql } = await import('mysql2').catch(() => {
    throw new LockNotUsableError('the package mysql2 is needed and not installed: npm install mysql2');
  });
  return mysql;
}

/** Connects to `where`: to the primary unless given. Rejects with a refusal. */
export async function connectMariadb(access: TopologyAccess, where?: Endpoint): Promise<MariaConnection> {
  const { host, port, user, password } = addressed(access, 'mariadb', 'MariaDB', where);
  const { createConnection } = await loadMysql();
  const open = async (end: (why: string) => void) => {
    const connection = createConnection({
      host,
      port,
      user,
      password,
      database: 'locks',
      // By it a record of the servers tells whose a session is.
      connectAttributes: { program_name: access.options.client },
      // Of several round trips.
      connectTimeout: 2 * access.options.commandTimeoutMs,
      enableKeepAlive: true,
    });
    let failed: (error: Error) => void = () => {};
    connection.on('error', (error) => {
      failed(error);
      end(error.message);
    });
    connection.on('end', () => end('the connection ended'));
    await new Promise<void>((resolve, reject) => {
      failed = reject;
      connection.connect((error) => (error ? reject(error) : resolve()));
    }).catch((error: unknown) => {
      connection.destroy();
      throw error;
    });
    return {
      query: (sql: string, values: readonly unknown[], timeout: number) =>
        new Promise<Answer>((resolve, reject) => {
          connection.query({ sql, timeout }, [...values], (error, result) => {
            if (error) return reject(error);
            if (Array.isArray(result)) return resolve({ rows: result as Record<string, unknown>[], changed: 0 });
            resolve({ rows: [], changed: (result as ResultSetHeader).affectedRows });
          });
        }),
      destroy: () => connection.destroy(),
    };
  };
  return sqlConnection(access, open, notDone);
}

/** The server's own name for its error; of the client library's own there is no `sqlState`. */
function notDone(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('sqlState' in error) || error.sqlState === undefined) return undefined;
  const { code } = error as Error & { code?: string };
  return code === undefined || GOING.has(code) ? undefined : code;
}

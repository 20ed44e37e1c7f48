/** Connections to MySQL and MariaDB as locks use them. */
import type { ResultSetHeader } from 'mysql2';
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Endpoint } from '../../harness/vocabulary/topology.js';
import { LockNotUsableError } from '../not-usable-here.js';
import { addressed, type SqlConnection, sqlConnection } from '../sql-connection.js';

/** Rows; of a statement that returns none, what it did. */
type Answer = { rows: Record<string, unknown>[]; changed: number };
export type MysqlConnection = SqlConnection<Answer>;

/** Which of the two servers a lock is for, and what they do differently. */
export interface MysqlService {
  service: 'mysql' | 'mariadb';
  title: string;
  topologies: readonly string[];
  /** Those on which there is more than one server. */
  replicated: readonly string[];
  /** The wait of GET_LOCK that is no longer than this, in the seconds that it takes. */
  waitS(waitMs: number): number;
  /** Takes owner, microseconds, key and token; a row that somebody else is about to change is not waited for. */
  takeRow: string;
}

/** What a lease of so many microseconds ends at. */
export const LEASE_END = 'UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND';

function deployed(service: MysqlService['service']) {
  const replicated = [service, `${service}-semi-sync`];
  return { service, replicated, topologies: [...replicated, `${service}-single`] };
}

export const ON_MARIADB: MysqlService = {
  ...deployed('mariadb'),
  title: 'MariaDB',
  waitS: (waitMs) => waitMs / 1_000,
  // Of this statement only: who gives back or prolongs waits for those who look in vain.
  takeRow: `
    SET STATEMENT innodb_lock_wait_timeout = 0 FOR
    UPDATE lock_rows SET token = token + 1, owner = ?, expires = ${LEASE_END}
    WHERE lock_key = ? AND token = ? AND expires < UTC_TIMESTAMP(6)`,
};

export const ON_MYSQL: MysqlService = {
  ...deployed('mysql'),
  title: 'MySQL',
  // It rounds to whole seconds, half a second up.
  waitS: (waitMs) => Math.floor(waitMs / 1_000),
  // Nothing is set for one statement here, and no wait for a row is shorter than a second.
  takeRow: `
    UPDATE lock_rows SET token = token + 1, owner = ?, expires = ${LEASE_END}
    WHERE lock_key = (SELECT lock_key FROM (
      SELECT lock_key FROM lock_rows WHERE lock_key = ? AND token = ? AND expires < UTC_TIMESTAMP(6) LIMIT 1 FOR UPDATE SKIP LOCKED
    ) AS free)`,
};

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
export async function connectMysql(
  access: TopologyAccess,
  { service, title }: MysqlService,
  where?: Endpoint,
): Promise<MysqlConnection> {
  const { host, port, user, password } = addressed(access, service, title, where);
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

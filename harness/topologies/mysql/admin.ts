/** Questions to one server of MySQL or MariaDB. */
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'mysql2';
import { loadOptional } from '../../runtimes/optional-package.js';
import { type AdminConnection, SqlAdmin, type SqlRow } from '../sql-admin.js';

/** Whom lock clients log in as. It may not write to a replica. */
export const LOCK_USER = 'lock_torture';
/** Whom replicas and their failover manager log in as. */
export const OPERATOR = 'lock_torture_operator';
export const LOCKS_DATABASE = 'locks';

/** `through`: a stream that is open already, as the server's own administrator; or where to connect to, as its operator. */
type Through = (() => Promise<Duplex>) | { host: string; port: number; password: string };

export class MysqlAdmin extends SqlAdmin {
  constructor(through: Through, timeoutMs: number) {
    super(
      () => connect(through, timeoutMs),
      // Numbers of the client library's own begin with its name for them: PROTOCOL_CONNECTION_LOST.
      (error) => error instanceof Error && 'sqlState' in error && error.sqlState !== undefined,
    );
  }
}

async function connect(through: Through, timeoutMs: number): Promise<AdminConnection> {
  const options: ConnectionOptions = {
    connectTimeout: timeoutMs,
    ...(typeof through === 'function' ? { user: 'root', stream: await through() } : { user: OPERATOR, ...through }),
  };
  const { createConnection } = await loadOptional('mysql2', () => import('mysql2'));
  const connection = createConnection(options);
  let fail: (error: Error) => void = () => {};
  const ended = new Promise<void>((resolve) => {
    connection.on('end', () => resolve());
    // Told by the question that meets it, too.
    connection.on('error', (error) => {
      fail(error);
      resolve();
    });
  });
  await new Promise<void>((resolve, reject) => {
    fail = reject;
    connection.connect((error) => (error ? reject(error) : resolve()));
  });
  return {
    ended,
    query: (sql, values) =>
      new Promise((resolve, reject) => {
        connection.query({ sql, timeout: timeoutMs }, [...values], (error, rows) =>
          error ? reject(error) : resolve(Array.isArray(rows) ? (rows as SqlRow[]) : []),
        );
      }),
    end: () => connection.destroy(),
  };
}

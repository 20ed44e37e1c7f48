/**
 * A row of MySQL or MariaDB for each lock: read, without locking it, and if its expiry is past taken by an UPDATE, if it is still what was
 * read. A row that somebody else is about to change is not waited for then, and tried again. The
 * time of a statement is that of its beginning, which is the safe side: a row that was past its expiry then is so when it is taken.
 *
 * The token is what was read and one more: an UPDATE tells of no value that it wrote, and LAST_INSERT_ID not where a trigger inserts.
 */
import type { LockDefinition } from '../../harness/vocabulary/lock.js';
import { type BlindRowStore, type RowLock, readThenWriteLock, rowLock } from '../row-lock.js';
import { isRefusedAs, kept } from '../sql-connection.js';
import { connectMysql, LEASE_END, loadMysql, type MysqlConnection, type MysqlService } from './connections.js';

const MAKE = 'INSERT IGNORE INTO lock_rows (lock_key) VALUES (?)';
const LOOK = 'SELECT token, expires < UTC_TIMESTAMP(6) AS is_free FROM lock_rows WHERE lock_key = ?';
const PROLONG = `UPDATE lock_rows SET expires = ${LEASE_END} WHERE lock_key = ? AND owner = ? AND expires > UTC_TIMESTAMP(6)`;
const GIVE_BACK = "UPDATE lock_rows SET owner = '', expires = '1970-01-01' WHERE lock_key = ? AND owner = ?";
const IS_TAKEN = 'SELECT 1 FROM lock_rows WHERE lock_key = ? AND expires > UTC_TIMESTAMP(6)';
const OVERWRITE = `
  INSERT INTO lock_rows (lock_key, owner, token, expires) VALUES (?, ?, 1, ${LEASE_END})
  ON DUPLICATE KEY UPDATE owner = VALUES(owner), token = token + 1, expires = VALUES(expires)`;
/** The error of a row that somebody else is about to change. */
const LOCKED = 'ER_LOCK_WAIT_TIMEOUT';

/** A row of the database for each lock (`rowLock`). */
export function mysqlRow(on: MysqlService): LockDefinition {
  return rowLock({ name: `${on.service}-row`, ...rowsOf(on) });
}

/** The same in two statements: a SELECT ("is it free?"), then an UPDATE that does not ask again. */
export function mysqlReadThenWrite(on: MysqlService): LockDefinition {
  return readThenWriteLock({ name: `${on.service}-row-read-then-write`, ...rowsOf(on) });
}

function rowsOf(on: MysqlService): Omit<RowLock<BlindRowStore>, 'name'> {
  return {
    topologies: on.topologies,
    async open(access) {
      await loadMysql();
      const connection = kept(() => connectMysql(access, on));
      return async () => rows(await connection(), on.takeRow);
    },
  };
}

function rows(mysql: MysqlConnection, takeRow: string): BlindRowStore {
  const microseconds = (ms: number) => Math.round(ms * 1_000);
  const changes = async (sql: string, values: unknown[]) => (await mysql.query(sql, values)).changed > 0;
  return {
    make: async (key) => void (await mysql.query(MAKE, [key])),
    async take(key, owner, leaseMs) {
      const [row] = (await mysql.query(LOOK, [key])).rows;
      if (Number(row?.is_free) !== 1) return undefined;
      const token = Number(row!.token);
      try {
        return (await changes(takeRow, [owner, microseconds(leaseMs), key, token])) ? token + 1 : undefined;
      } catch (error) {
        if (isRefusedAs(error, LOCKED)) return undefined;
        throw error;
      }
    },
    prolong: (key, owner, leaseMs) => changes(PROLONG, [microseconds(leaseMs), key, owner]),
    giveBack: (key, owner) => changes(GIVE_BACK, [key, owner]),
    isTaken: async (key) => (await mysql.query(IS_TAKEN, [key])).rows.length > 0,
    overwrite: async (key, owner, leaseMs) => void (await mysql.query(OVERWRITE, [key, owner, microseconds(leaseMs)])),
  };
}

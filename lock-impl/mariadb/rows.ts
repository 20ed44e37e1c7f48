/**
 * A row of MariaDB for each lock: read, without locking it, and if its expiry is past taken by an UPDATE, if it is still what was
 * read. A row that somebody else is about to change is not waited for then (`innodb_lock_wait_timeout` of 0) and tried again. The
 * time of a statement is that of its beginning, which is the safe side: a row that was past its expiry then is so when it is taken.
 *
 * The token is what was read and one more: an UPDATE tells of no value that it wrote, and LAST_INSERT_ID not where a trigger inserts.
 */
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { BlindRowStore } from '../row-lock.js';
import { isRefusedAs, kept } from '../sql-connection.js';
import { connectMariadb, loadMysql, type MariaConnection } from './connections.js';

const LEASE = 'UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND';
const MAKE = 'INSERT IGNORE INTO lock_rows (lock_key) VALUES (?)';
const LOOK = 'SELECT token, expires < UTC_TIMESTAMP(6) AS is_free FROM lock_rows WHERE lock_key = ?';
// Of this statement only: who gives back or prolongs waits for those who look in vain.
const TAKE = `
  SET STATEMENT innodb_lock_wait_timeout = 0 FOR
  UPDATE lock_rows SET token = token + 1, owner = ?, expires = ${LEASE}
  WHERE lock_key = ? AND token = ? AND expires < UTC_TIMESTAMP(6)`;
const PROLONG = `UPDATE lock_rows SET expires = ${LEASE} WHERE lock_key = ? AND owner = ? AND expires > UTC_TIMESTAMP(6)`;
const GIVE_BACK = "UPDATE lock_rows SET owner = '', expires = '1970-01-01' WHERE lock_key = ? AND owner = ?";
const IS_TAKEN = 'SELECT 1 FROM lock_rows WHERE lock_key = ? AND expires > UTC_TIMESTAMP(6)';
const OVERWRITE = `
  INSERT INTO lock_rows (lock_key, owner, token, expires) VALUES (?, ?, 1, ${LEASE})
  ON DUPLICATE KEY UPDATE owner = VALUES(owner), token = token + 1, expires = VALUES(expires)`;
/** The error of a row that somebody else is about to change. */
const LOCKED = 'ER_LOCK_WAIT_TIMEOUT';

export async function openMariadbRows(access: TopologyAccess): Promise<() => Promise<BlindRowStore>> {
  await loadMysql();
  const connection = kept(() => connectMariadb(access));
  return async () => rows(await connection());
}

function rows(maria: MariaConnection): BlindRowStore {
  const microseconds = (ms: number) => Math.round(ms * 1_000);
  const changes = async (sql: string, values: unknown[]) => (await maria.query(sql, values)).changed > 0;
  return {
    make: async (key) => void (await maria.query(MAKE, [key])),
    async take(key, owner, leaseMs) {
      const [row] = (await maria.query(LOOK, [key])).rows;
      if (Number(row?.is_free) !== 1) return undefined;
      const token = Number(row!.token);
      try {
        return (await changes(TAKE, [owner, microseconds(leaseMs), key, token])) ? token + 1 : undefined;
      } catch (error) {
        if (isRefusedAs(error, LOCKED)) return undefined;
        throw error;
      }
    },
    prolong: (key, owner, leaseMs) => changes(PROLONG, [microseconds(leaseMs), key, owner]),
    giveBack: (key, owner) => changes(GIVE_BACK, [key, owner]),
    isTaken: async (key) => (await maria.query(IS_TAKEN, [key])).rows.length > 0,
    overwrite: async (key, owner, leaseMs) => void (await maria.query(OVERWRITE, [key, owner, microseconds(leaseMs)])),
  };
}

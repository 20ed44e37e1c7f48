/**
 * A row of MariaDB for each lock, taken by an UPDATE of the row if its expiry is past. A row that somebody else is about to change
 * is not waited for (`innodb_lock_wait_timeout` of 0) and tried again. The time of a statement is that of its beginning, which is
 * the safe side: a row that was past its expiry then is so when it is taken.
 */
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { BlindRowStore } from '../row-lock.js';
import { isRefusal, kept } from '../sql-connection.js';
import { connect, loadMysql, type MariaConnection } from './connections.js';

const LEASE = 'UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND';
const MAKE = 'INSERT IGNORE INTO lock_rows (lock_key) VALUES (?)';
const TAKE = `
  UPDATE lock_rows SET token = LAST_INSERT_ID(token + 1), owner = ?, expires = ${LEASE}
  WHERE lock_key = ? AND expires < UTC_TIMESTAMP(6)`;
const PROLONG = `UPDATE lock_rows SET expires = ${LEASE} WHERE lock_key = ? AND owner = ? AND expires > UTC_TIMESTAMP(6)`;
const GIVE_BACK = "UPDATE lock_rows SET owner = '', expires = '1970-01-01' WHERE lock_key = ? AND owner = ?";
const IS_TAKEN = 'SELECT 1 FROM lock_rows WHERE lock_key = ? AND expires > UTC_TIMESTAMP(6)';
const OVERWRITE = `
  INSERT INTO lock_rows (lock_key, owner, token, expires) VALUES (?, ?, 1, ${LEASE})
  ON DUPLICATE KEY UPDATE owner = VALUES(owner), token = token + 1, expires = VALUES(expires)`;
const NO_WAITING = 'SET innodb_lock_wait_timeout = 0';
/** The error of a row that somebody else is about to change. */
const LOCKED = 'ER_LOCK_WAIT_TIMEOUT';

export async function openRows(access: TopologyAccess): Promise<() => Promise<BlindRowStore>> {
  await loadMysql();
  const connection = kept(async () => {
    const maria = await connect(access);
    await maria.query(NO_WAITING);
    return maria;
  });
  return async () => rows(await connection());
}

function rows(maria: MariaConnection): BlindRowStore {
  const microseconds = (ms: number) => Math.round(ms * 1_000);
  const changes = async (sql: string, values: unknown[]) => (await maria.query(sql, values)).changed > 0;
  return {
    make: async (key) => void (await maria.query(MAKE, [key])),
    async take(key, owner, leaseMs) {
      try {
        const { changed, lastId } = await maria.query(TAKE, [owner, microseconds(leaseMs), key]);
        return changed > 0 ? lastId : undefined;
      } catch (error) {
        if (isRefusal(error, LOCKED)) return undefined;
        throw error;
      }
    },
    prolong: (key, owner, leaseMs) => changes(PROLONG, [microseconds(leaseMs), key, owner]),
    giveBack: (key, owner) => changes(GIVE_BACK, [key, owner]),
    isTaken: async (key) => (await maria.query(IS_TAKEN, [key])).rows.length > 0,
    overwrite: async (key, owner, leaseMs) => void (await maria.query(OVERWRITE, [key, owner, microseconds(leaseMs)])),
  };
}

/** `markLock` on MySQL and MariaDB: an INSERT of a row with a unique key, and a DELETE. */
import type { LockDefinition } from '../../harness/vocabulary/lock.js';
import { type MarkStore, markLock } from '../mark-lock.js';
import { isRefusedAs, kept } from '../sql-connection.js';
import { connectMysql, loadMysql, type MysqlConnection, type MysqlService } from './connections.js';

const TAKE = "INSERT INTO lock_rows (lock_key, owner, expires) VALUES (?, ?, '9999-12-31')";
const GIVE_BACK = 'DELETE FROM lock_rows WHERE lock_key = ? AND owner = ?';
/** The error of a unique key that is there. */
const THERE = 'ER_DUP_ENTRY';

export function insertLock(on: MysqlService): LockDefinition {
  return markLock({
    name: `${on.service}-insert`,
    topologies: on.topologies,
    async open(access) {
      await loadMysql();
      const connection = kept(() => connectMysql(access, on));
      return async () => marks(await connection());
    },
  });
}

function marks(mysql: MysqlConnection): MarkStore {
  return {
    make: (key, owner) =>
      mysql.query(TAKE, [key, owner]).then(
        () => true,
        (error: unknown) => {
          if (isRefusedAs(error, THERE)) return false;
          throw error;
        },
      ),
    remove: async (key, owner) => (await mysql.query(GIVE_BACK, [key, owner])).changed > 0,
  };
}

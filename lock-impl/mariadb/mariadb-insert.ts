/**
 * INSERT a row with a unique key to take, DELETE it to give back, and nothing else: the lock of articles that begin with the database
 * that is there already. A second row of the same key is refused, so one client has it.
 *
 * It promises mutual exclusion as long as the server keeps what it committed. Nothing ends a hold but its holder: one that dies leaves
 * the row, and the lock is taken until somebody deletes that by hand.
 */
import { tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';
import { isRefusedAs, kept } from '../sql-connection.js';
import { connectMariadb, loadMysql, MARIADB_TOPOLOGIES } from './connections.js';

const TAKE = "INSERT INTO lock_rows (lock_key, owner, expires) VALUES (?, ?, '9999-12-31')";
const GIVE_BACK = 'DELETE FROM lock_rows WHERE lock_key = ? AND owner = ?';
/** The error of a unique key that is there. */
const THERE = 'ER_DUP_ENTRY';

export default defineLock({
  name: 'mariadb-insert',
  topologies: MARIADB_TOPOLOGIES,
  lease: 'none',
  async connect(access) {
    await loadMysql();
    const connection = kept(() => connectMariadb(access));
    return {
      acquire: (key, options) =>
        tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, async () => {
          const owner = access.ownerValue();
          const maria = await connection();
          const sentNs = access.nowNs();
          try {
            await maria.query(TAKE, [key, owner]);
          } catch (error) {
            if (isRefusedAs(error, THERE)) return { refusedBecause: 'held' };
            throw error;
          }
          const release = async () => (await (await connection()).query(GIVE_BACK, [key, owner])).changed > 0;
          return { hold: { release, grantSentNs: sentNs } };
        }),
    };
  },
});

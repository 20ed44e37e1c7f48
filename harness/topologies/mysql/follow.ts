/**
 * What a server of MySQL or MariaDB has stored for each key: every change of the lock table, which triggers write down; and locks of GET_LOCK
 * with the name of whose session it is, which are asked for again and again: who had one for less than that is not seen.
 *
 * The log of the table is of all servers, each entry with the number of who wrote it; sessions' locks are of a server's own process.
 */
import { type Following, followDatabase } from '../follow-database.js';
import { LOCKS_DATABASE, type MysqlAdmin } from './admin.js';

const KEYS = "JSON_TABLE(?, '$[*]' COLUMNS (lock_key varchar(190) COLLATE utf8mb4_bin PATH '$')) AS k";

const SESSIONS = `
  SELECT k.lock_key, IS_USED_LOCK(k.lock_key) AS id, (
    SELECT a.ATTR_VALUE FROM performance_schema.session_connect_attrs a
    WHERE a.PROCESSLIST_ID = IS_USED_LOCK(k.lock_key) AND a.ATTR_NAME = 'program_name'
  ) AS program
  FROM ${KEYS}`;

const CHANGES = `
  SELECT l.id, l.lock_key, l.owner, l.token, l.kept_ms, l.left_ms, l.server FROM ${LOCKS_DATABASE}.lock_log l JOIN ${KEYS} ON k.lock_key = l.lock_key
  WHERE l.id > ? ORDER BY l.id`;

/** How long a key is stored on this server yet, in milliseconds; `id`: of whose session a lock of it is. */
export const MYSQL_LEFT_MS = `
  SELECT IS_USED_LOCK(?) AS id, (
    SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expires) / 1000 FROM ${LOCKS_DATABASE}.lock_rows
    WHERE lock_key = ? AND owner <> ''
  ) AS left_ms`;

/** Asks once with every call. */
export function followMysqlLocks(admin: MysqlAdmin, following: Following): () => Promise<void> {
  const wanted = JSON.stringify(following.keys);
  return followDatabase(
    {
      async changes(position) {
        const rows = await admin.ask(CHANGES, [wanted, position]);
        return rows.map(({ id, lock_key, owner, token, kept_ms, left_ms, server }) => ({
          position: Number(id),
          key: String(lock_key),
          owner: String(owner),
          log: `rows of server ${server}`,
          term: Number(server),
          token,
          keptMs: kept_ms,
          leftMs: left_ms,
        }));
      },
      async sessions() {
        const rows = await admin.ask(SESSIONS, [wanted]);
        return rows.map(({ lock_key, id, program }) => ({
          key: String(lock_key),
          session: id === null ? undefined : `${program ?? 'session'}:${id}`,
        }));
      },
    },
    following,
  );
}

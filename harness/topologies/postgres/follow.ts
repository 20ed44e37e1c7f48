/**
 * What a PostgreSQL server has stored for each key: every change of the lock table, which a trigger writes down; and advisory locks
 * of the key's hash with the name of whose session it is, which are asked for again and again: who had one for less than that is not
 * seen.
 *
 * The log of the table is of all servers of a timeline; advisory locks are of a server's own process.
 */
import { type Following, followDatabase } from '../follow-database.js';
import type { PgAdmin } from './admin.js';

/** As the locks hash a key. */
const HASH = 'hashtextextended(key, 0)';

const SESSIONS = `
  WITH keys AS (SELECT unnest($1::text[]) AS key), held AS (
    SELECT l.classid::bigint << 32 | l.objid::bigint AS hash, min(a.application_name || ':' || a.pid) AS session
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 GROUP BY 1
  )
  SELECT keys.key, held.session FROM keys LEFT JOIN held ON held.hash = ${HASH}`;

const CHANGES =
  'SELECT id, key, owner, token, kept_ms, left_ms, timeline FROM lock_log WHERE id > $1 AND key = ANY ($2::text[]) ORDER BY id';

/** How long a key is stored on this server yet. */
export const LEFT_MS = `
  SELECT (SELECT extract(epoch FROM expires - clock_timestamp()) * 1000 FROM lock_rows
      WHERE lock_rows.key = k.key AND owner <> '' AND expires < 'infinity') AS left_ms,
    EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted
      AND (classid::bigint << 32 | objid::bigint) = hashtextextended(k.key, 0)) AS is_locked
  FROM (SELECT $1::text AS key) k`;

/** Asks once with every call. */
export function followPostgresLocks(admin: PgAdmin, following: Following): () => Promise<void> {
  const { keys } = following;
  return followDatabase(
    {
      async changes(position) {
        const rows = await admin.ask(CHANGES, [position, keys]);
        return rows.map(({ id, key, owner, token, kept_ms, left_ms, timeline }) => ({
          position: Number(id),
          key: String(key),
          owner: String(owner),
          log: `rows, timeline ${timeline}`,
          term: Number(timeline),
          token,
          keptMs: kept_ms,
          leftMs: left_ms,
        }));
      },
      async sessions() {
        const rows = await admin.ask(SESSIONS, [keys]);
        return rows.map(({ key, session }) => ({
          key: String(key),
          session: session === null ? undefined : String(session),
        }));
      },
    },
    following,
  );
}
